// Delays a crash of this process for a short time, so that another thread can act. These functions must not be called
// from a handler.
#pragma once

// Installs handlers for crash signals, in front of the existing ones. Call it once. Returns 0, or an error number.
int locsearch_crash_install(void);

// Makes a crash of the calling thread wait for `locsearch_crash_release`, at most this many milliseconds. 0: crashes of
// this thread do not wait. Signals from other processes never wait.
void locsearch_crash_hold(int milliseconds);

// Waits until a crash is delayed.
void locsearch_crash_wait(void);

// Ends the delay of a crash.
void locsearch_crash_release(void);
