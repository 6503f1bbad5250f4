public import Basics

/// Decides whether and when another attempt follows a failed one. A plain value without clock or state.
public struct RetryPolicy: Sendable, Hashable {
    /// The total number of attempts, at least 1. The default of three is that of gRPC's and AWS's clients.
    public var maxAttempts = 3
    public var backoff = Backoff()

    public init() {}

    /// The facts about a failed attempt.
    public struct Failure: Sendable, Hashable {
        /// The number of attempts made, 1 or more.
        public var attempt: Int
        /// True if another attempt can succeed.
        public var allowsAttempt: Bool
        /// The wait that the provider requested, which is the minimum.
        public var retryAfter: Duration?
        /// The time until the deadline.
        public var remaining: Duration
        /// The usual duration of an attempt (`ConcurrencyLimit.expectedLatency`); zero if unknown.
        public var expectedAttempt: Duration

        public init(
            attempt: Int, allowsAttempt: Bool, retryAfter: Duration? = nil, remaining: Duration,
            expectedAttempt: Duration = .zero
        ) {
            self.attempt = attempt
            self.allowsAttempt = allowsAttempt
            (self.retryAfter, self.remaining, self.expectedAttempt) = (retryAfter, remaining, expectedAttempt)
        }
    }

    public enum Decision: Sendable, Hashable {
        case retry(after: Duration)
        case giveUp(Reason)
    }

    public enum Reason: String, Sendable, Hashable, CaseIterable {
        /// Another attempt would fail too.
        case notRetryable = "not-retryable"
        /// `maxAttempts` were made.
        case attemptsSpent = "attempts-spent"
        /// A wait and an attempt do not fit into the rest of the deadline.
        case noTime = "no-time"
        /// Too many recent retries, see `RetryBudget`.
        case budgetSpent = "budget-spent"
    }

    /// Decides what follows a failed attempt. The budget is charged only if all other conditions allow a retry.
    public func decide(
        after failure: Failure, budget: inout RetryBudget, at now: Instant,
        using random: inout some RandomNumberGenerator
    ) -> Decision {
        guard failure.allowsAttempt else { return .giveUp(.notRetryable) }
        guard failure.attempt < maxAttempts else { return .giveUp(.attemptsSpent) }
        // The longest possible wait. An attempt that would begin at the deadline is never made.
        let room = failure.remaining - max(failure.expectedAttempt, .milliseconds(1))
        let delay = backoff.delay(
            after: failure.attempt, floor: failure.retryAfter, longest: room, using: &random)
        guard room >= .zero, delay <= room else { return .giveUp(.noTime) }
        guard budget.withdraw(at: now) else { return .giveUp(.budgetSpent) }
        return .retry(after: delay)
    }
}

/// The wait between attempts: exponential with full jitter (between nothing and a ceiling that doubles). The jitter keeps
/// workers that failed together from retrying together (Brooker, "Exponential Backoff And Jitter", AWS 2015).
public struct Backoff: Sendable, Hashable {
    /// The ceiling of the first wait, which doubles with each attempt. AWS's and Google's clients begin between 50 ms and 1
    /// s; a deadline of 5 s leaves room for several waits of this size.
    public var base: Duration = .milliseconds(100)
    /// The ceiling of any wait: two of them fit into the default deadline of 5 s.
    public var cap: Duration = .seconds(2)

    public init() {}

    /// Returns the longest possible `delay` without a floor.
    /// - Parameter attempt: the number of attempts made, 1 or more.
    public func ceiling(after attempt: Int) -> Duration { min(cap, base * (1 << min(max(attempt, 1) - 1, 20))) }

    /// - Parameter floor: the provider's `Retry-After`, which is the minimum of the wait. Workers with the same floor retry
    ///   spread over `base`, not all at once.
    /// - Parameter longest: the available time; the jitter stays below it, but a longer floor is kept.
    public func delay(
        after attempt: Int, floor: Duration? = nil, longest: Duration = .seconds(3600),
        using random: inout some RandomNumberGenerator
    ) -> Duration {
        let floor = max(floor ?? .zero, .zero)
        let spread = floor > .zero ? base : ceiling(after: attempt)
        return floor + max(.zero, min(spread, longest - floor)) * Double.random(in: 0..<1, using: &random)
    }
}
