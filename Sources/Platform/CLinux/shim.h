// Calls that Swift's overlay of the C library leaves out, most of them Linux's.
#pragma once
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>

static inline bool locsearch_is_ignored(int signal) {
    struct sigaction action;
    return sigaction(signal, NULL, &action) == 0 && action.sa_handler == SIG_IGN;
}

#ifdef __linux__
#include <elf.h>
#include <spawn.h>
#include <stdint.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>

// The calling thread's name, for `top -H` and profilers: 15 characters, more are cut off.
static inline void locsearch_name_thread(const char *name) { prctl(PR_SET_NAME, name, 0, 0, 0); }

// Declared here: glibc (2.34 and newer) has it, and its <spawn.h> hides it unless GNU's extensions are asked for. Has a
// program that is started begin without the descriptors from a number on.
extern int posix_spawn_file_actions_addclosefrom_np(posix_spawn_file_actions_t *, int);

// Declared here: glibc's <link.h> hides it unless GNU's extensions are asked for. The beginning of what it hands out is
// part of the ABI.
struct locsearch_object {
    uintptr_t base;
    const char *name;
    const Elf64_Phdr *headers;
    Elf64_Half count;
};
extern int dl_iterate_phdr(int (*)(struct locsearch_object *, size_t, void *), void *);

static int locsearch_give_back_segments(struct locsearch_object *object, size_t size, void *context) {
    const uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
    for (Elf64_Half index = 0; index < object->count; index++) {
        const Elf64_Phdr *header = &object->headers[index];
        // What was written, relocations for one, exists in memory alone.
        if (header->p_type != PT_LOAD || (header->p_flags & PF_W) != 0) continue;
        const uintptr_t start = object->base + header->p_vaddr;
        const uintptr_t first = start & ~(page - 1);
        madvise((void *)first, start + header->p_filesz - first, MADV_DONTNEED);
    }
    return 0;
}

// Unmaps the code and constants of the program and its libraries from memory; what is needed again is mapped again by
// the first access, from the kernel's cache of the files.
static inline void locsearch_give_back_code(void) { dl_iterate_phdr(locsearch_give_back_segments, NULL); }
#endif
