/// The one time budget of a request: queueing, waiting for a limiter, attempts, back-off and reading the body all
/// spend it.
package struct Deadline: Sendable, Hashable, Comparable {
    package let instant: ContinuousClock.Instant

    package init(_ instant: ContinuousClock.Instant) { self.instant = instant }

    /// What is left; zero or negative once it has passed.
    package func remaining(at now: ContinuousClock.Instant) -> Duration { now.duration(to: instant) }

    package func hasPassed(at now: ContinuousClock.Instant) -> Bool { now >= instant }

    package static func < (a: Deadline, b: Deadline) -> Bool { a.instant < b.instant }
}
