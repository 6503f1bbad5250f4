package import Basics

/// Replaces a loop's thread and the system's clocks in a simulation. It calls `EventLoop.takeTurn`.
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
