// The Swift runtime asks these variables before it hands a job to an executor of its own. They are part of its binary
// interface (ConcurrencyHooks in swiftlang/swift), and functions that are called by way of them have Swift's convention.
#define _GNU_SOURCE
#include "task_hooks.h"

#include <dlfcn.h>
#if defined(__linux__)
#include <elf.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#endif
#include <execinfo.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SWIFT __attribute__((swiftcall))

typedef SWIFT void enqueue_original(void *job);
typedef SWIFT void enqueue_delayed_original(unsigned long long delay, void *job);
typedef SWIFT void enqueue_deadline_original(
    long long seconds, long long nanoseconds, long long leeway_seconds, long long leeway_nanoseconds, int clock, void *job);

typedef SWIFT void enqueue_hook(void *job, enqueue_original *original);
typedef SWIFT void enqueue_delayed_hook(unsigned long long delay, void *job, enqueue_delayed_original *original);
typedef SWIFT void enqueue_deadline_hook(
    long long seconds, long long nanoseconds, long long leeway_seconds, long long leeway_nanoseconds, int clock, void *job,
    enqueue_deadline_original *original);

extern enqueue_hook *swift_task_enqueueGlobal_hook;
extern enqueue_delayed_hook *swift_task_enqueueGlobalWithDelay_hook;
extern enqueue_deadline_hook *swift_task_enqueueGlobalWithDeadline_hook;
extern enqueue_hook *swift_task_enqueueMainExecutor_hook;

extern char *swift_demangle(const char *name, size_t length, char *output, size_t *output_size, uint32_t flags);

static _Thread_local locsearch_escape_handler escape_handler;
static _Thread_local void *escape_context;

static SWIFT void on_global(void *job, enqueue_original *original) {
    if (escape_handler) escape_handler(escape_context, "the global executor", job);
    else original(job);
}

static SWIFT void on_main(void *job, enqueue_original *original) {
    if (escape_handler) escape_handler(escape_context, "the main executor", job);
    else original(job);
}

static SWIFT void on_delayed(unsigned long long delay, void *job, enqueue_delayed_original *original) {
    if (escape_handler) escape_handler(escape_context, "the global executor, after a delay", job);
    else original(delay, job);
}

static SWIFT void on_deadline(
    long long seconds, long long nanoseconds, long long leeway_seconds, long long leeway_nanoseconds, int clock, void *job,
    enqueue_deadline_original *original) {
    if (escape_handler) escape_handler(escape_context, "the global executor, at a deadline", job);
    else original(seconds, nanoseconds, leeway_seconds, leeway_nanoseconds, clock, job);
}

static void install(void) {
    swift_task_enqueueGlobal_hook = on_global;
    swift_task_enqueueGlobalWithDelay_hook = on_delayed;
    swift_task_enqueueGlobalWithDeadline_hook = on_deadline;
    swift_task_enqueueMainExecutor_hook = on_main;
}

// From Swift 6.2 on, sleeping tasks and those of the main actor reach libdispatch without asking a hook. The runtime calls these
// two by way of the dynamic linker, which finds those of the program first.

#define DISPATCH_MAIN_QUEUE_NAME "_dispatch_main_q"

static int is_called_by_the_runtime(const void *caller) {
    Dl_info info;
    return dladdr(caller, &info) && info.dli_fname && strstr(info.dli_fname, "libswift_Concurrency");
}

void dispatch_async_f(void *queue, void *context, void (*function)(void *)) {
    if (escape_handler && is_called_by_the_runtime(__builtin_return_address(0))) {
        int is_main = queue == dlsym(RTLD_DEFAULT, DISPATCH_MAIN_QUEUE_NAME);
        escape_handler(escape_context, is_main ? "the main executor" : "the global executor", context);
        return;
    }
    static void (*original)(void *, void *, void (*)(void *));
    if (!original) original = (void (*)(void *, void *, void (*)(void *)))dlsym(RTLD_NEXT, "dispatch_async_f");
    original(queue, context, function);
}

void dispatch_after_f(uint64_t time, void *queue, void *context, void (*function)(void *)) {
    if (escape_handler && is_called_by_the_runtime(__builtin_return_address(0))) {
        escape_handler(escape_context, "the global executor, after a delay", context);
        return;
    }
    static void (*original)(uint64_t, void *, void *, void (*)(void *));
    if (!original) original = (void (*)(uint64_t, void *, void *, void (*)(void *)))dlsym(RTLD_NEXT, "dispatch_after_f");
    original(time, queue, context, function);
}

void locsearch_watch_escapes(locsearch_escape_handler handler, void *context) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, install);
    escape_handler = handler;
    escape_context = context;
}

#if defined(__linux__)
/// Finds the function that an address is in by the symbols of its file, which the dynamic linker does not know of programs.
/// The file stays mapped, because what is found points into it.
static const char *function_name(const char *file, size_t offset) {
    int descriptor = open(file, O_RDONLY | O_CLOEXEC);
    struct stat status;
    if (descriptor < 0) return NULL;
    void *start = fstat(descriptor, &status) == 0
        ? mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_PRIVATE, descriptor, 0) : MAP_FAILED;
    close(descriptor);
    if (start == MAP_FAILED) return NULL;

    const char *bytes = start;
    const Elf64_Ehdr *header = start;
    if (memcmp(header->e_ident, ELFMAG, SELFMAG) != 0 || header->e_ident[EI_CLASS] != ELFCLASS64) return NULL;
    const Elf64_Shdr *sections = (const Elf64_Shdr *)(bytes + header->e_shoff);
    for (int i = 0; i < header->e_shnum; i += 1) {
        if (sections[i].sh_type != SHT_SYMTAB) continue;
        const Elf64_Sym *symbols = (const Elf64_Sym *)(bytes + sections[i].sh_offset);
        const char *names = bytes + sections[sections[i].sh_link].sh_offset;
        for (size_t s = 0; s < sections[i].sh_size / sizeof *symbols; s += 1) {
            if (ELF64_ST_TYPE(symbols[s].st_info) != STT_FUNC) continue;
            if (offset - symbols[s].st_value < symbols[s].st_size) return names + symbols[s].st_name;
        }
    }
    return NULL;
}
#else
static const char *function_name(const char *file, size_t offset) { return NULL; }
#endif

/// Writes the name of the function that an address is in, or the address's place in its file.
static void describe_address(const void *address, char *text, size_t size) {
    Dl_info info;
    memset(&info, 0, sizeof info);
    dladdr(address, &info);
    const char *file = info.dli_fname ? info.dli_fname : "?";
    size_t offset = (size_t)((const char *)address - (const char *)info.dli_fbase);
    const char *symbol = info.dli_sname ? info.dli_sname : function_name(file, offset);
    if (symbol) {
        char *name = swift_demangle(symbol, strlen(symbol), NULL, NULL, 0);
        snprintf(text, size, "%s", name ? name : symbol);
        free(name);
        return;
    }

    const char *slash = strrchr(file, '/');
    snprintf(text, size, "%s+0x%zx", slash ? slash + 1 : file, offset);
}

void locsearch_describe_job(const void *job, char *text, size_t size) {
    // Object header, two words of the scheduler, flags and id, voucher, reserved: then the function to run.
    const void *function = *(void *const *)((const char *)job + 7 * sizeof(void *));
    describe_address(function, text, size);
}

void locsearch_describe_callers(char *text, size_t size) {
    void *frames[48];
    int count = backtrace(frames, 48);
    size_t used = 0;
    text[0] = 0;
    for (int i = 1; i < count && used + 3 < size; i += 1) {
        char line[512];
        Dl_info info;
        if (dladdr(frames[i], &info) && info.dli_fname && strstr(info.dli_fname, "libswift")) continue;
        describe_address(frames[i], line, sizeof line);
        // The caller of the loop's turn tells nothing about the job.
        if (strstr(line, "runSynchronously(isolatedTo") || strstr(line, "(runJobs in") || strstr(line, "EventLoop.takeTurn") || strstr(line, "Simulation.take")) break;
        if (strstr(line, "EscapeWatch") || strstr(line, "locsearch_") || strstr(line, "dispatch_") == line) continue;
        if (strncmp(line, "on_", 3) == 0) continue;
        int written = snprintf(text + used, size - used, "  %s\n", line);
        if (written < 0 || (size_t)written >= size - used) break;
        used += (size_t)written;
    }
}
