// The parts of a breaker that appear in logs, metrics and `/status`.
extension CircuitBreaker {
    /// A provider's state.
    public enum State: String, Sendable, Hashable, CaseIterable {
        case closed, open
        case halfOpen = "half-open"
        /// The provider answers, and requested a pause.
        case paused
    }

    /// Why a breaker opened, or a pause began.
    public enum Reason: String, Sendable, Hashable, CaseIterable {
        case failureRate = "failure-rate"
        case slowCallRate = "slow-call-rate"
        case probesFailed = "probes-failed"
        /// The provider refused the API key.
        case keyRefused = "key-refused"
        /// The API key's quota, usually that of a day, is used up.
        case quotaUsedUp = "quota-used-up"
        /// The daily call budget from the settings is used up.
        case budgetUsedUp = "budget-used-up"
        /// The provider reported too many requests, and when to retry.
        case providerRateLimit = "provider-rate-limit"
        /// The provider reported that it is unavailable, and when to retry.
        case providerUnavailable = "provider-unavailable"
        /// An operator has paused the provider: `locsearch controls`.
        case pausedByOrder = "paused-by-order"

        /// True if an operator must act, or a new day must begin, before the provider can be called again.
        public var concernsKey: Bool { self == .keyRefused || self == .quotaUsedUp || self == .budgetUsedUp }
    }

    /// One change of state: one line in the log.
    public struct Transition: Sendable, Hashable {
        public var from: State
        public var to: State
        /// The cause of an opening or a pause; `nil` for other changes.
        public var reason: Reason?
        /// The duration of the open or paused state; `nil` for other changes.
        public var openFor: Duration?
    }

    /// The refusal of a call.
    public struct Rejection: Error, Hashable, Sendable {
        /// The time after which a retry may succeed; more than zero.
        public let retryAfter: Duration
        /// Why the breaker is not closed.
        public let reason: Reason?
    }
}

extension CircuitBreaker {
    /// The conditions under which a breaker opens and closes. Unless stated otherwise, the defaults are those of
    /// resilience4j's `CircuitBreakerConfig`, made quicker for calls that a person waits for.
    public struct Configuration: Sendable, Hashable {
        /// `breaker.enabled`: if off, every call is permitted, whatever the results of earlier ones.
        public var isEnabled = true
        /// `breaker.failureRate`: the share of failed calls in the window that opens the breaker, above 0 to 1.
        public var failureRate = 0.5
        /// `breaker.slowCallRate`: the share of slow calls in the window that opens the breaker, above 0 to 1. Higher than
        /// the failure rate: a slow answer is still an answer, and the concurrency limit acts on latency first.
        public var slowCallRate = 0.8
        /// `breaker.slowCallDuration`: the duration from which an answer counts as slow. Four fifths of the default deadline.
        public var slowCallDuration: Duration = .seconds(4)
        /// `breaker.window`: older calls do not count. By time, not by count, so that failures of an hour ago do not open
        /// the breaker. Long enough for two deadlines of hanging calls.
        public var window: Duration = .seconds(10)
        /// `breaker.minimumCalls`: with fewer calls in the window, the breaker stays closed. At a failure rate of 10 %, the
        /// chance of 10 failures in 20 calls is 1 in 140,000.
        public var minimumCalls = 20
        /// `breaker.openDuration`: the first open time; it doubles with each opening until probes succeed. The default
        /// deadline, so that the calls in flight at the opening have ended.
        public var openDuration: Duration = .seconds(5)
        /// The limit of the doubling, as in resilience4j's and Polly's examples. A longer `openDuration` is used unchanged.
        /// A trip has its own duration.
        public var longestOpenDuration: Duration = .seconds(60)
        /// The number of calls admitted while half-open, whose results decide. Three cost little and outvote one stray failure.
        public var probes = 3

        public init() {}
    }
}

extension CircuitBreaker.Outcome {
    var counts: CallCounts {
        switch self {
        case .success: CallCounts(calls: 1)
        case .failure: CallCounts(calls: 1, failures: 1)
        case .slow: CallCounts(calls: 1, slow: 1)
        case .ignored, .trip: .zero
        }
    }
}
