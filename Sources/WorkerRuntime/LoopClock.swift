public import Basics
public import EventLoop
public import Resilience

/// A loop's clock, for what its actors own. A task that sleeps by it stays on the loop, and costs a timer.
public struct LoopClock: MonotonicClock {
    private let loop: EventLoop
    #if DEFECTS
        /// How far the wall clock was ahead when this clock was made.
        private let wallLead: Duration
    #endif

    public init(_ loop: EventLoop) {
        self.loop = loop
        #if DEFECTS
            wallLead = loop.wallLead
        #endif
    }

    public var now: Instant {
        #if DEFECTS
            if isPutBack(.wallClockForLimits) { return loop.now + (loop.wallLead - wallLead) }
        #endif
        return loop.now
    }
    public var minimumResolution: Duration { .milliseconds(1) }

    public func sleep(until deadline: Instant, tolerance: Duration?) async throws {
        try await withTaskExecutorPreference(loop) { try await loop.sleep(for: now.duration(to: deadline)) }
    }
}

#if DEFECTS
    extension EventLoop {
        /// How far the wall clock is ahead of the clock that is never set. Only its changes mean something.
        fileprivate var wallLead: Duration { .milliseconds(wallNow.milliseconds) - .nanoseconds(now.nanoseconds) }
    }
#endif
