import Observability
import LibC

/// Ends the process immediately. Waiting log lines get 100 ms to be written.
func exitNow(_ code: Int32) -> Never {
    LineOutput.standardError.flush(within: .milliseconds(100))
    _exit(code)
}

/// Writes the waiting log lines, for up to one second.
func flushLog() { LineOutput.standardError.flush(within: .seconds(1)) }

/// Ends the process once its log is written.
///
/// C's exit handlers do not run. Threads of librdkafka, libdispatch and SwiftNIO may still be running, for example to
/// destroy a client or to handle a signal. The handlers would free what those threads use.
func endProcess(_ code: Int32) -> Never {
    flushLog()
    _exit(code)
}

/// Ignores SIGPIPE, so that a write to a closed connection fails with an error instead of ending the process.
func ignoreBrokenPipes() { _ = signal(SIGPIPE, SIG_IGN) }
