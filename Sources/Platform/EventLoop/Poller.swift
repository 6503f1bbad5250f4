package import Basics

/// A set of events that a file descriptor is ready for, or is watched for.
public struct Readiness: OptionSet, Sendable, Hashable {
    /// One bit for each of the three events below.
    public let rawValue: UInt8

    /// Makes a set from its bits.
    public init(rawValue: UInt8) { self.rawValue = rawValue }

    /// Data, or the end of the stream, can be read.
    public static let read = Readiness(rawValue: 1)
    /// Data can be written.
    public static let write = Readiness(rawValue: 2)
    /// The peer has closed the connection, or the descriptor has an error. Always reported, even if it was not watched
    /// for.
    public static let failed = Readiness(rawValue: 4)
}

/// The kernel's call that waits for file descriptors, or its replacement in a simulation. Used on the loop's thread
/// only, except for `wake()`.
package protocol Poller: Sendable {
    /// Watches a descriptor, which every later `wait` reports while it is ready. An empty `interest` ends the watch.
    func watch(_ fileDescriptor: Int32, for interest: Readiness)

    /// Blocks the thread until a descriptor is ready, `wake()` is called or the time has passed.
    /// - Parameters:
    ///   - milliseconds: 0 returns at once, -1 waits without limit.
    ///   - report: Called for each ready descriptor, except the one that `wake()` uses.
    func wait(milliseconds: Int32, report: (Int32, Readiness) -> Void)

    /// Ends the current `wait`, or the next one if there is none. Safe to call from any thread.
    func wake()
}

/// Replaces a loop's thread and the system's clocks in a simulation. It calls `EventLoop.runIteration`.
package protocol LoopDriver: AnyObject, Poller {
    /// The current time of the loop's clock.
    var now: Instant { get }
    /// The current time of the loop's wall clock.
    var wallNow: WallTime { get }
    /// The loop's next random number.
    func randomNumber() -> UInt64
    /// The rank of a timer that is set now, among timers due at the same instant.
    var timerRank: UInt16 { get }
}

/// A loop's random number generator: the system's, or a simulation's.
public struct LoopRandom: RandomNumberGenerator, Sendable {
    private let driver: (any LoopDriver)?

    init(_ driver: (any LoopDriver)?) { self.driver = driver }

    public func next() -> UInt64 {
        if let driver { return driver.randomNumber() }
        var system = SystemRandomNumberGenerator()
        return system.next()
    }
}
