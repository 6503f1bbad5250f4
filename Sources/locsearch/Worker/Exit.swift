import Observability

#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

/// Ends the process without cleaning up. Log lines that wait have a moment to get out.
func exitNow(_ code: Int32) -> Never {
    LineOutput.standardError.flush(within: .milliseconds(100))
    _exit(code)
}

/// Has the last log lines written before the process ends, for as long as a reader may sensibly take.
func flushLog() { LineOutput.standardError.flush(within: .seconds(1)) }

/// Writes to a connection that its peer has closed are errors, not the end of the process.
func ignoreBrokenPipes() { _ = signal(SIGPIPE, SIG_IGN) }

/// So that whoever reads our output through a pipe sees the line now.
func fflushStandardOutput() { _ = fflush(nil) }
