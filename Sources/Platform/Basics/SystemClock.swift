import LibC

/// The clocks of the system. No other code reads them.
public struct SystemClock: MonotonicClock {
    public init() {}

    /// The current time of a clock that continues while the system sleeps, like `ContinuousClock`.
    public var now: Instant { Self.now }
    public var minimumResolution: Duration { .nanoseconds(1) }

    public func sleep(until deadline: Instant, tolerance: Duration?) async throws {
        try await Task.sleep(for: now.duration(to: deadline), tolerance: tolerance)
    }

    /// The same time, for code without an injected clock.
    public static var now: Instant {
        var time = timespec()
        #if canImport(Darwin)
            unsafe clock_gettime(CLOCK_MONOTONIC_RAW, &time)
        #else
            unsafe clock_gettime(CLOCK_BOOTTIME, &time)
        #endif
        // bounded: the clock begins at the system's start, and its nanoseconds are less than a second.
        return Instant(nanoseconds: Int64(time.tv_sec) &* 1_000_000_000 &+ Int64(time.tv_nsec))
    }

    public static var wallTime: WallTime {
        var time = timespec()
        unsafe clock_gettime(CLOCK_REALTIME, &time)
        let whole = Int64(time.tv_sec).saturatingMultiplied(by: 1000)
        return WallTime(milliseconds: whole.saturatingAdding(Int64(time.tv_nsec) / 1_000_000))
    }
}

extension Instant {
    /// The current time.
    public static var now: Instant { SystemClock.now }
}

extension WallTime {
    /// Returns the current time of the system's clock.
    public static func now() -> WallTime { SystemClock.wallTime }
}
