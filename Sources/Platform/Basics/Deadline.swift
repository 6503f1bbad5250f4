/// The one time budget of a request: queueing, waiting for a limiter, attempts, back-off and reading the body all
/// spend it.
public struct Deadline: Sendable, Hashable, Comparable {
    public let instant: Instant

    public init(_ instant: Instant) { self.instant = instant }

    /// Returns the time that is left; zero or negative once the deadline has passed.
    public func remaining(at now: Instant) -> Duration { now.duration(to: instant) }

    public func hasPassed(at now: Instant) -> Bool { now >= instant }

    public static func < (a: Deadline, b: Deadline) -> Bool { a.instant < b.instant }
}
