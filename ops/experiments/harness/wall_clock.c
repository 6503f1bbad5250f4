// Moves the wall clock of one process by CLOCK_AHEAD_S seconds, 86,400 or more: see wall_clock.py.
//
// libfaketime does not suit: it does not know cnd_timedwait(), with which librdkafka waits, so that a wait of a millisecond
// takes as long as the clock is ahead. Both kinds of timed waits take deadlines of the moved clock and of the true one here.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <threads.h>
#include <time.h>
#include <unistd.h>

static time_t ahead(void) {
    static time_t seconds = -1;
    if (seconds < 0) {
        const char *text = getenv("CLOCK_AHEAD_S");
        seconds = text ? atol(text) : 0;
    }
    return seconds;
}

int clock_gettime(clockid_t clock, struct timespec *now) {
    int failed = syscall(SYS_clock_gettime, clock, now);
    if (!failed && (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE)) now->tv_sec += ahead();
    return failed;
}

int gettimeofday(struct timeval *restrict now, void *restrict zone) {
    struct timespec precise;
    (void)zone;
    clock_gettime(CLOCK_REALTIME, &precise);
    *now = (struct timeval){.tv_sec = precise.tv_sec, .tv_usec = precise.tv_nsec / 1000};
    return 0;
}

time_t time(time_t *result) {
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    if (result) *result = now.tv_sec;
    return now.tv_sec;
}

/// Returns a deadline by the true clock.
static struct timespec true_deadline(const struct timespec *deadline) {
    struct timespec own = *deadline, now;
    syscall(SYS_clock_gettime, CLOCK_REALTIME, &now);
    // No wait takes half a day, so this deadline is by the moved clock. Those of a monotonic clock are far lower.
    if (own.tv_sec - now.tv_sec > ahead() / 2) own.tv_sec -= ahead();
    return own;
}

int pthread_cond_timedwait(pthread_cond_t *restrict condition, pthread_mutex_t *restrict mutex,
                           const struct timespec *restrict deadline) {
    static int (*original)(pthread_cond_t *, pthread_mutex_t *, const struct timespec *);
    // An older version has the same name, and a condition of another layout.
    if (!original) original = dlvsym(RTLD_NEXT, "pthread_cond_timedwait", "GLIBC_2.3.2");
    if (!original) original = dlsym(RTLD_NEXT, "pthread_cond_timedwait");

    struct timespec own = true_deadline(deadline);
    return original(condition, mutex, &own);
}

int cnd_timedwait(cnd_t *restrict condition, mtx_t *restrict mutex, const struct timespec *restrict deadline) {
    static int (*original)(cnd_t *, mtx_t *, const struct timespec *);
    if (!original) original = dlsym(RTLD_NEXT, "cnd_timedwait");

    struct timespec own = true_deadline(deadline);
    return original(condition, mutex, &own);
}
