#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

/// The system refused what a loop needs to start: file descriptors or a thread. Raise the process's limits.
public struct EventLoopError: Error, Hashable, CustomStringConvertible {
    public let operation: String
    /// `errno` of the failed call.
    public let code: Int32

    public var description: String {
        "cannot start an event loop: \(operation) failed, \(unsafe String(cString: strerror(code)))"
            + "; check the limits on open files and threads (ulimit -n, ulimit -u)"
    }
}
