import Observability
import LibC

/// Ends the process at once, in the middle of whatever it does. Log lines that wait have a moment to get out.
func exitNow(_ code: Int32) -> Never {
    LineOutput.standardError.flush(within: .milliseconds(100))
    _exit(code)
}

/// Has the log lines that wait written, for as long as a reader may sensibly take.
func flushLog() { LineOutput.standardError.flush(within: .seconds(1)) }

/// Ends the process once its log is written.
///
/// C's exit handlers do not run. Threads of librdkafka, libdispatch and SwiftNIO may still be at work, on a client that is
/// being destroyed or a signal that is noticed no more, and those handlers take down what such threads use.
func endProcess(_ code: Int32) -> Never {
    flushLog()
    _exit(code)
}

/// Writes to a connection that its peer has closed are errors, not the end of the process.
func ignoreBrokenPipes() { _ = signal(SIGPIPE, SIG_IGN) }
