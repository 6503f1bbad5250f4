package import Basics

/// A simulation's stand-in for a loop's thread and the system's clocks. It calls `EventLoop.takeTurn`.
package protocol LoopDriver: AnyObject, Poller {
    /// The time that the loop's clock shows.
    var now: Instant { get }
    /// The time that the loop's wall clock shows.
    var wallNow: WallTime { get }
    /// The next of the loop's random numbers.
    func randomNumber() -> UInt64
    /// The rank of a timer that is set now, among those that are due at the same instant.
    var timerRank: UInt16 { get }
}

/// The random numbers of a loop: the system's, or those of a simulation.
public struct LoopRandom: RandomNumberGenerator, Sendable {
    private let driver: (any LoopDriver)?

    init(_ driver: (any LoopDriver)?) { self.driver = driver }

    public func next() -> UInt64 {
        if let driver { return driver.randomNumber() }
        var system = SystemRandomNumberGenerator()
        return system.next()
    }
}
