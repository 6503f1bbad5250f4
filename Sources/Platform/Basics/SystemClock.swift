import LibC

/// The clocks of the system: the one place where they are read.
public struct SystemClock: MonotonicClock {
    public init() {}

    /// The time that goes on while the system sleeps, as `ContinuousClock` has it.
    public var now: Instant { Self.now }
    public var minimumResolution: Duration { .nanoseconds(1) }

    public func sleep(until deadline: Instant, tolerance: Duration?) async throws {
        try await Task.sleep(for: now.duration(to: deadline), tolerance: tolerance)
    }

    /// The same, where no clock is handed on.
    public static var now: Instant {
        var time = timespec()
        #if canImport(Darwin)
            unsafe clock_gettime(CLOCK_MONOTONIC_RAW, &time)
        #else
            unsafe clock_gettime(CLOCK_BOOTTIME, &time)
        #endif
        // bounded: the clock begins with the system's start, and its nanoseconds are fewer than a second's.
        return Instant(nanoseconds: Int64(time.tv_sec) &* 1_000_000_000 &+ Int64(time.tv_nsec))
    }

    /// The wall-clock time.
    public static var wallTime: WallTime {
        var time = timespec()
        unsafe clock_gettime(CLOCK_REALTIME, &time)
        let whole = Int64(time.tv_sec).saturatingMultiplied(by: 1000)
        return WallTime(milliseconds: whole.saturatingAdding(Int64(time.tv_nsec) / 1_000_000))
    }
}

extension Instant {
    /// The time at present.
    public static var now: Instant { SystemClock.now }
}

extension WallTime {
    /// Returns the time that the system's clock shows.
    public static func now() -> WallTime { SystemClock.wallTime }
}
