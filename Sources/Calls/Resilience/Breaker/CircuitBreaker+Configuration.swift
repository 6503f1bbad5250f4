extension CircuitBreaker {
    /// The conditions under which a breaker opens and closes. Where nothing else is said the defaults are those of
    /// resilience4j's `CircuitBreakerConfig`, made quicker for calls that a person waits for.
    public struct Configuration: Sendable, Hashable {
        /// `breaker.enabled`: when off, every call is permitted, whatever came of the ones before.
        public var isEnabled = true
        /// `breaker.failureRate`: part of the calls in the window that failed, above 0 to 1.
        public var failureRate = 0.5
        /// `breaker.slowCallRate`: part of the calls in the window that were slow, above 0 to 1. Higher than the rate of
        /// failures: a slow answer is an answer, and the concurrency limit acts on latency first.
        public var slowCallRate = 0.8
        /// `breaker.slowCallDuration`: from when on the caller should call an answer slow. Four fifths of the default
        /// deadline.
        public var slowCallDuration: Duration = .seconds(4)
        /// `breaker.window`: calls older than this are forgotten. By time, not by count, so that failures of an hour ago
        /// do not open it. Long enough for two deadlines of calls that hang.
        public var window: Duration = .seconds(10)
        /// `breaker.minimumCalls`: with fewer in the window it stays closed. At a failure rate of 10 % and 20 calls the
        /// chance of 10 failures is 1 in 140,000.
        public var minimumCalls = 20
        /// `breaker.openDuration`: the first time open; doubles with each opening until probes succeed. The default
        /// deadline: what was in flight when it opened is over by then.
        public var openDuration: Duration = .seconds(5)
        /// Doubling ends here, as in resilience4j's and Polly's examples; a longer `openDuration` stands as it is. A trip
        /// has a duration of its own.
        public var longestOpenDuration: Duration = .seconds(60)
        /// Calls let through when half-open, whose results decide: three cost little and outvote one stray failure.
        public var probes = 3

        public init() {}
    }
}
