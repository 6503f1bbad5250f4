/// The deadline of a request. It covers queueing, waiting for a limiter, attempts, back-off and reading the body.
public struct Deadline: Sendable, Hashable, Comparable {
    public let instant: Instant

    public init(_ instant: Instant) { self.instant = instant }

    /// Returns the remaining time; zero or negative once the deadline has passed.
    public func remaining(at now: Instant) -> Duration { now.duration(to: instant) }

    public func hasPassed(at now: Instant) -> Bool { now >= instant }

    public static func < (a: Deadline, b: Deadline) -> Bool { a.instant < b.instant }
}
