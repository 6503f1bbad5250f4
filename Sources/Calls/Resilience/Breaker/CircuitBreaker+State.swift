// What is shown of a breaker: in logs, metrics and `/status`.
extension CircuitBreaker {
    /// A provider's state.
    public enum State: String, Sendable, Hashable, CaseIterable {
        case closed, open
        case halfOpen = "half-open"
        /// The provider answers, and asked not to be called for a while.
        case paused
    }

    /// Why a breaker opened, or a pause began.
    public enum Reason: String, Sendable, Hashable, CaseIterable {
        case failureRate = "failure-rate"
        case slowCallRate = "slow-call-rate"
        case probesFailed = "probes-failed"
        /// The provider refused the API key.
        case keyRefused = "key-refused"
        /// The API key's quota, of a day as a rule, is used up.
        case quotaUsedUp = "quota-used-up"
        /// The budget of calls that the settings give a day is used up.
        case budgetUsedUp = "budget-used-up"
        /// The provider said that it is asked too often, and when to ask again.
        case providerRateLimit = "provider-rate-limit"
        /// The provider said that it is not available, and when to ask again.
        case providerUnavailable = "provider-unavailable"
        /// A person has ordered that the provider is not asked: `locsearch controls`.
        case pausedByOrder = "paused-by-order"

        /// True where a person must act, or a day must begin anew, before the provider can be called again.
        public var concernsKey: Bool { self == .keyRefused || self == .quotaUsedUp || self == .budgetUsedUp }
    }

    /// One change of state: one line in the log.
    public struct Transition: Sendable, Hashable {
        public var from: State
        public var to: State
        /// The cause of an opening or a pause; `nil` for other changes.
        public var reason: Reason?
        /// The time for which it stays open or paused; `nil` for other changes.
        public var openFor: Duration?

        package init(from: State, to: State, reason: Reason? = nil, openFor: Duration? = nil) {
            (self.from, self.to, self.reason, self.openFor) = (from, to, reason, openFor)
        }
    }
}
