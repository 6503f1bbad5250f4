/// A set of things that a file descriptor is ready for, or is to be watched for.
public struct Readiness: OptionSet, Sendable, Hashable {
    /// One bit for each of the three below.
    public let rawValue: UInt8

    /// Makes a set from its bits.
    public init(rawValue: UInt8) { self.rawValue = rawValue }

    /// There is something to read, or the end of the stream.
    public static let read = Readiness(rawValue: 1)
    /// There is room to write.
    public static let write = Readiness(rawValue: 2)
    /// The peer has hung up, or the descriptor has an error. Always reported, whatever was asked for.
    public static let failed = Readiness(rawValue: 4)
}

/// The kernel's call that waits for file descriptors, so that the loop is the same on epoll (Linux) and on poll (anywhere
/// else). Used on the loop's thread only, `wake()` aside.
package protocol Poller: Sendable {
    /// Watches a descriptor, which every later `wait` reports while it is ready. An empty `interest` ends the watch.
    func watch(_ fileDescriptor: Int32, for interest: Readiness)

    /// Holds the thread until something is ready, `wake()` is called or the time is up.
    /// - Parameters:
    ///   - milliseconds: 0 returns at once, -1 waits without end.
    ///   - report: called for each ready descriptor; never for the one that `wake()` uses.
    func wait(milliseconds: Int32, report: (Int32, Readiness) -> Void)

    /// Ends the `wait` that is under way, or the next one if there is none. Safe to call from any thread.
    func wake()
}
