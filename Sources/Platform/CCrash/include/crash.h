// Holds up a crash of this process for a moment, so that another thread can still act. Nothing here may be called from a handler.
#pragma once

// Installs handlers for the signals of a crash, in front of those that are there. To be called once.
// Returns 0, or an error number.
int locsearch_crash_install(void);

// Has a crash of the calling thread, and of no other, wait at most so long for `locsearch_crash_release`.
// 0: crashes of this thread do not wait. Signals that another process has sent never do.
void locsearch_crash_hold(int milliseconds);

// Waits until a crash is held up.
void locsearch_crash_wait(void);

// Lets the crash that is held up go on.
void locsearch_crash_release(void);
