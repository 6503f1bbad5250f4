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

        package init(from: State, to: State, reason: Reason? = nil, openFor: Duration? = nil) {
            (self.from, self.to, self.reason, self.openFor) = (from, to, reason, openFor)
        }
    }
}
