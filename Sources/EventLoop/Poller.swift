/// What a file descriptor is ready for, or is to be watched for.
public struct Readiness: OptionSet, Sendable, Hashable {
    public let rawValue: UInt8
    public init(rawValue: UInt8) { self.rawValue = rawValue }
    public static let read = Readiness(rawValue: 1)
    public static let write = Readiness(rawValue: 2)
    /// Hang-up or error. Always reported, whatever was asked for.
    public static let failed = Readiness(rawValue: 4)
}

/// The kernel's readiness call. Loop thread only, but for `wake()`.
/// One small protocol, so that the loop is the same on epoll (Linux) and on poll (anywhere else).
protocol Poller: Sendable {
    /// Level-triggered. An empty `interest` ends the watch.
    func watch(_ fileDescriptor: Int32, for interest: Readiness)

    /// Holds the thread until something is ready, `wake()` is called or the time is up.
    /// - Parameter milliseconds: 0 returns at once, -1 waits without end.
    /// - Parameter report: called for each ready descriptor; never for the one that `wake()` uses.
    func wait(milliseconds: Int32, report: (Int32, Readiness) -> Void)

    /// Ends a `wait` under way, or the next one. Safe to call from any thread.
    func wake()
}
