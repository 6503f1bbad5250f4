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
            self.retryAfter = retryAfter
            self.remaining = remaining
            self.expectedAttempt = expectedAttempt
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
