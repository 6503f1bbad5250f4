public import Basics
public import EventLoop
public import Resilience

/// A loop's own timers, for what its actors own.
public struct LoopTimekeeper: Timekeeper, Sendable {
    private let loop: EventLoop

    public init(_ loop: EventLoop) { self.loop = loop }

    public var now: Instant { loop.now }

    public func schedule(at due: Instant, _ action: @escaping () -> Void) {
        loop.schedule(at: due, action: action)
    }
}
