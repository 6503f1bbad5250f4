package import Basics
package import EventLoop

/// The clock of a loop, for its actors. A task that sleeps by this clock stays on the loop and uses one timer.
package struct LoopClock: MonotonicClock {
    private let loop: EventLoop

    package init(_ loop: EventLoop) { self.loop = loop }

    package var now: Instant { loop.now }
    package var minimumResolution: Duration { .milliseconds(1) }

    package func sleep(until deadline: Instant, tolerance: Duration?) async throws {
        try await withTaskExecutorPreference(loop) { try await loop.sleep(for: loop.now.duration(to: deadline)) }
    }
}

/// The timers of a loop, for its actors.
package struct LoopTimekeeper: Timekeeper, Sendable {
    private let loop: EventLoop

    package init(_ loop: EventLoop) { self.loop = loop }

    package var now: Instant { loop.now }

    package func schedule(at due: Instant, action: @escaping () -> Void) -> ScheduledAction {
        let timer = loop.schedule(at: due, action: action)
        return ScheduledAction { [loop] in loop.cancel(timer) }
    }
}
