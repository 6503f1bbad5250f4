public import Basics
public import EventLoop
public import Resilience

/// A loop's own timers, for what its actors own.
public struct LoopTimekeeper: Timekeeper, Sendable {
    private let loop: EventLoop
    private let clock: LoopClock

    public init(_ loop: EventLoop) {
        self.loop = loop
        clock = LoopClock(loop)
    }

    public var now: Instant { clock.now }

    public func schedule(at due: Instant, _ action: @escaping () -> Void) {
        let due = isPutBack(.wallClockForLimits) ? loop.now + now.duration(to: due) : due
        loop.schedule(at: due, action: action)
    }
}
