public import Basics
public import EventLoop

/// The clock of a loop, for its actors. A task that sleeps by this clock stays on the loop and uses one timer.
public struct LoopClock: MonotonicClock {
    private let loop: EventLoop

    public init(_ loop: EventLoop) { self.loop = loop }

    public var now: Instant { loop.now }
    public var minimumResolution: Duration { .milliseconds(1) }

    public func sleep(until deadline: Instant, tolerance: Duration?) async throws {
        try await withTaskExecutorPreference(loop) { try await loop.sleep(for: loop.now.duration(to: deadline)) }
    }
}

/// The timers of a loop, for its actors.
public struct LoopTimekeeper: Timekeeper, Sendable {
    private let loop: EventLoop

    public init(_ loop: EventLoop) { self.loop = loop }

    public var now: Instant { loop.now }

    public func schedule(at due: Instant, action: @escaping () -> Void) -> ScheduledAction {
        let timer = loop.schedule(at: due, action: action)
        return ScheduledAction { [loop] in loop.cancel(timer) }
    }
}
