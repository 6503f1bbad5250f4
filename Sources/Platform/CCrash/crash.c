#include "crash.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

// The signals of a crash. SIGSEGV may be a stack overflow, so the handler needs its own stack.
static const int signals[] = {SIGSEGV, SIGBUS, SIGILL, SIGTRAP, SIGFPE, SIGABRT};
enum { count = sizeof signals / sizeof *signals, stack_size = 64 * 1024 };

static struct sigaction former[count];
// Pipes, because a handler may only read, write and poll.
static int begun[2] = {-1, -1}, ended[2] = {-1, -1};
static _Thread_local volatile sig_atomic_t held;
static _Thread_local void *own_stack;

static void handle(int signal, siginfo_t *info, void *context) {
    (void)context;
    const int error = errno;
    const int is_sent = info->si_code <= 0;
    const int is_foreign = is_sent && info->si_pid != getpid();
    const int milliseconds = held;

    if (milliseconds > 0 && !is_foreign) {
        held = 0;
        if (write(begun[1], "!", 1) == 1) {
            struct pollfd answer = {.fd = ended[0], .events = POLLIN};
            while (poll(&answer, 1, milliseconds) < 0 && errno == EINTR) {}
        }
    }

    for (int index = 0; index < count; index++) {
        if (signals[index] == signal) sigaction(signal, &former[index], NULL);
    }
    errno = error;
    // A crashed instruction runs again, and crashes for the former handler. A signal sent by a call must be raised
    // again.
    if (is_sent) raise(signal);
}

int locsearch_crash_install(void) {
    if (pipe(begun) != 0 || pipe(ended) != 0) return errno;

    struct sigaction action = {.sa_sigaction = handle, .sa_flags = SA_SIGINFO | SA_ONSTACK};
    sigemptyset(&action.sa_mask);
    for (int index = 0; index < count; index++) {
        if (sigaction(signals[index], &action, &former[index]) != 0) return errno;
    }
    return 0;
}

void locsearch_crash_hold(int milliseconds) {
    if (milliseconds > 0 && own_stack == NULL) {
        stack_t present;
        if (sigaltstack(NULL, &present) == 0 && (present.ss_flags & SS_DISABLE) != 0) {
            own_stack = malloc(stack_size);
            const stack_t stack = {.ss_sp = own_stack, .ss_size = stack_size};
            if (own_stack != NULL) sigaltstack(&stack, NULL);
        }
    }
    held = milliseconds;
}

void locsearch_crash_wait(void) {
    char byte;
    while (read(begun[0], &byte, 1) < 0 && errno == EINTR) {}
}

void locsearch_crash_release(void) {
    const ssize_t written = write(ended[1], "!", 1);
    (void)written;
}
