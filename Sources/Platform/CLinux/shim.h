// Calls that Swift's overlay of the C library lacks.
#pragma once
#include <elf.h>
#include <signal.h>
#include <spawn.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>

static inline bool locsearch_is_ignored(int signal) {
    struct sigaction action;
    return sigaction(signal, NULL, &action) == 0 && action.sa_handler == SIG_IGN;
}

// Sets the calling thread's name, shown by `top -H` and profilers: at most 15 characters, the rest is cut off.
static inline void locsearch_name_thread(const char *name) { prctl(PR_SET_NAME, name, 0, 0, 0); }

// Declared here, because <spawn.h> of glibc (2.34 and newer) declares it only with GNU extensions. It closes all
// descriptors from a number on in the started program.
extern int posix_spawn_file_actions_addclosefrom_np(posix_spawn_file_actions_t *, int);

// Declared here, because glibc's <link.h> declares it only with GNU extensions. The first members of the passed
// structure are part of the ABI.
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
        // Written pages, such as relocations, exist only in memory.
        if (header->p_type != PT_LOAD || (header->p_flags & PF_W) != 0) continue;
        const uintptr_t start = object->base + header->p_vaddr;
        const uintptr_t first = start & ~(page - 1);
        madvise((void *)first, start + header->p_filesz - first, MADV_DONTNEED);
    }
    return 0;
}

// Releases the memory of the code and constants of the program and its libraries. The next access maps them again from
// the kernel's file cache.
static inline void locsearch_give_back_code(void) { dl_iterate_phdr(locsearch_give_back_segments, NULL); }
