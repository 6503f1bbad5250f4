#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

/// The system refused what a loop needs to start: file descriptors or a thread. Raise the process's limits.
package struct EventLoopError: Error, Hashable, CustomStringConvertible {
    package let operation: String
    /// `errno` of the failed call.
    package let code: Int32

    package var description: String {
        "cannot start an event loop: \(operation) failed, \(unsafe String(cString: strerror(code)))"
            + "; check the limits on open files and threads (ulimit -n, ulimit -u)"
    }
}
