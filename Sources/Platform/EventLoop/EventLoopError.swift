import LibC

/// Says that the system refused what a loop needs to start, file descriptors or a thread. Raise the process's limits.
public struct EventLoopError: Error, Hashable, CustomStringConvertible {
    /// The system call that failed.
    public let operation: String
    /// `errno` of the failed call.
    public let code: Int32

    /// One line for a person, with the limits to look at.
    public var description: String {
        "cannot start an event loop: \(operation) failed, \(unsafe String(cString: strerror(code)))"
            + "; check the limits on open files and threads (ulimit -n, ulimit -u)"
    }
}
