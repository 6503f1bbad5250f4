/// A point in time on a monotonic clock, for deadlines, pauses and measurements.
///
/// It counts nanoseconds from an arbitrary zero, so instants of two clocks, or of two processes, cannot be compared.
/// Unlike `ContinuousClock.Instant`, its size is known to the compiler, which keeps values that contain it in registers
/// and frames (see docs/internals/performance.md, "Instructions").
@frozen public struct Instant: InstantProtocol, Hashable, Sendable {
    /// The nanoseconds since the clock's zero.
    public let nanoseconds: Int64

    /// Makes the instant at this many nanoseconds after the clock's zero.
    @inlinable
    public init(nanoseconds: Int64) { self.nanoseconds = nanoseconds }

    /// Returns the instant that is `duration` later, limited to the range of `Int64` (292 years from the clock's zero).
    @inlinable
    public func advanced(by duration: Duration) -> Instant {
        Instant(nanoseconds: nanoseconds.saturatingAdding(duration.wholeNanoseconds))
    }

    /// Returns the time from this instant to `other`; negative if `other` is earlier.
    @inlinable
    public func duration(to other: Instant) -> Duration {
        .nanoseconds(other.nanoseconds.saturatingSubtracting(nanoseconds))
    }

    @inlinable
    public static func < (left: Instant, right: Instant) -> Bool { left.nanoseconds < right.nanoseconds }

    @inlinable
    public static func + (instant: Instant, duration: Duration) -> Instant { instant.advanced(by: duration) }

    @inlinable
    public static func - (instant: Instant, duration: Duration) -> Instant {
        Instant(nanoseconds: instant.nanoseconds.saturatingSubtracting(duration.wholeNanoseconds))
    }

    @inlinable
    public static func - (end: Instant, start: Instant) -> Duration { start.duration(to: end) }

    @inlinable
    public static func += (instant: inout Instant, duration: Duration) { instant = instant + duration }

    @inlinable
    public static func -= (instant: inout Instant, duration: Duration) { instant = instant - duration }
}

/// The deadline of a request. It covers queueing, waiting for a limiter, attempts, back-off and reading the body.
public struct Deadline: Sendable, Hashable, Comparable {
    public let instant: Instant

    public init(_ instant: Instant) { self.instant = instant }

    /// Returns the remaining time; zero or negative once the deadline has passed.
    public func remaining(at now: Instant) -> Duration { now.duration(to: instant) }

    public func hasPassed(at now: Instant) -> Bool { now >= instant }

    public static func < (a: Deadline, b: Deadline) -> Bool { a.instant < b.instant }
}
