import LibC

/// Thrown when the system has no file descriptor or thread left for a loop. Raise the limits of the process.
public struct EventLoopError: Error, Hashable, CustomStringConvertible {
    /// The system call that failed.
    public let operation: String
    /// `errno` of the failed call.
    public let code: Int32

    /// One line for operators, with the limits to check.
    public var description: String {
        "cannot start an event loop: \(operation) failed, \(unsafe String(cString: strerror(code)))"
            + "; check the limits on open files and threads (ulimit -n, ulimit -u)"
    }
}
