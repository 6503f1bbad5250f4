public import Basics
public import EventLoop

/// A loop's clock, for what its actors own. A task that sleeps by it stays on the loop, and costs a timer.
public struct LoopClock: MonotonicClock {
    private let loop: EventLoop

    public init(_ loop: EventLoop) { self.loop = loop }

    public var now: Instant { loop.now }
    public var minimumResolution: Duration { .milliseconds(1) }

    public func sleep(until deadline: Instant, tolerance: Duration?) async throws {
        try await withTaskExecutorPreference(loop) { try await loop.sleep(for: loop.now.duration(to: deadline)) }
    }
}

/// A loop's own timers, for what its actors own.
public struct LoopTimekeeper: Timekeeper, Sendable {
    private let loop: EventLoop

    public init(_ loop: EventLoop) { self.loop = loop }

    public var now: Instant { loop.now }

    public func schedule(at due: Instant, action: @escaping () -> Void) -> ScheduledAction {
        let timer = loop.schedule(at: due, action: action)
        return ScheduledAction { [loop] in loop.cancel(timer) }
    }
}
