#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

/// Ends the process without cleaning up.
func exitNow(_ code: Int32) -> Never { _exit(code) }

/// Writes to a connection that its peer has closed are errors, not the end of the process.
func ignoreBrokenPipes() { _ = signal(SIGPIPE, SIG_IGN) }

/// So that whoever reads our output through a pipe sees the line now.
func fflushStandardOutput() { _ = fflush(nil) }
