/// A point on a clock that only ever goes forward: for deadlines, pauses and what is measured.
///
/// It is a count of nanoseconds whose zero means nothing by itself, so instants of two clocks, or of two processes, cannot
/// be compared. The compiler knows the size of an `Instant`, which it does not of `ContinuousClock.Instant`: what holds one
/// is kept in registers and in frames (see docs/internals/performance.md, "Instructions").
@frozen public struct Instant: InstantProtocol, Hashable, Sendable {
    /// The nanoseconds since the clock's zero.
    public let nanoseconds: Int64

    /// Makes the instant that many nanoseconds after the clock's zero.
    @inlinable
    public init(nanoseconds: Int64) { self.nanoseconds = nanoseconds }

    /// Returns the instant that is `duration` later. A result beyond `Int64`, 292 years from the clock's zero, is the nearest
    /// instant that is not.
    @inlinable
    public func advanced(by duration: Duration) -> Instant {
        Instant(nanoseconds: nanoseconds.saturatingAdding(duration.wholeNanoseconds))
    }

    /// Returns the time from this instant to `other`; negative when `other` is the earlier one.
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
