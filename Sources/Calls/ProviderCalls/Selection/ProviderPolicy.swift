public import Basics
public import LocationSearch
public import QuotaSharing
public import Resilience

/// The rules for calls to one provider: `providers.<name>.*`.
public struct ProviderPolicy: Sendable, Hashable {
    /// `whenOpen`: the consequence of an open breaker for requests that no other provider can serve.
    public enum WhenOpen: String, Sendable, Hashable, CaseIterable {
        /// They fail at once, with the code that tells why the breaker is open: for requests with a person waiting.
        case fail
        /// They wait until the provider may be asked again, be it failing, its key refused, its quota used up or a pause
        /// asked for. The wait is not taken from their deadline, and ends with their lifetime. Each keeps its part of `worker.concurrency`, so that no more records are
        /// taken than that: batch work.
        case hold
    }

    public var retry = RetryPolicy()
    /// `attemptTimeout`: how much of a request's time one call may spend.
    public var attemptTimeout = AttemptTimer.Rule.adaptive
    public var budget = RetryBudget.Configuration()
    /// The API key's limit; `nil` where none is known.
    public var rateLimit: RateLimit?
    public var share = FleetShare.byPartitions
    public var breaker = CircuitBreaker.Configuration()
    public var whenOpen = WhenOpen.fail
    public var concurrency: ConcurrencyLimit.Configuration
    public var sharesIdenticalCalls = true
    /// How requests that wait for the rate limit, or for the concurrency limit, divide it by class and tenant.
    public var fairness = FairTerms()

    /// True where workers tell each other what they need of the key's limit.
    public var sharesByDemand: Bool { rateLimit != nil && share == .byDemand }

    /// - Parameter concurrency: the most calls under way at once, at least 1: this loop's part of `worker.concurrency`.
    public init(concurrency: Int) {
        self.concurrency = ConcurrencyLimit.Configuration(maximum: concurrency)
    }
}

/// The state of a provider on one loop, for `/status` and metrics. Counters only grow.
public struct ProviderStatus: Sendable, Hashable {
    public var provider: ProviderID
    public var breaker: CircuitBreaker.State
    /// The reason why the provider is not asked as usual; `nil` while the breaker is closed.
    public var breakerReason: CircuitBreaker.Reason?
    /// The time until the breaker lets a call through again; `nil` unless it is open.
    public var openFor: Duration?
    public var breakerCounts: CircuitBreaker.Statistics
    /// Calls per second that this loop may make at present; `nil`: no limit.
    public var allowedPerSecond: Double?
    /// The time until the pause is over that the provider asked for (`Retry-After`); `nil` when it asked for none.
    public var pausedFor: Duration?
    public var rateLimiter: RateBucket.Statistics
    /// True where the fleet shares the rate, so that a further worker brings none of its own.
    public var sharesRate: Bool
    public var concurrency: ConcurrencyLimit.Statistics
    public var retries: RetryBudget.Statistics
    /// The number of attempts made, each of which may cost money.
    public var calls: Int
    /// The number of requests that were served by another request's call.
    public var shared: Int
    /// The number of requests that wait for an open breaker now: `whenOpen=hold`.
    public var held: Int
    /// The day's budget as the fleet knows it; `nil` for a provider without one.
    public var budget: BudgetStatus?

    /// True where a further worker could ask the provider for more than is asked now. `false` while the breaker is not closed,
    /// while a pause that the provider asked for lasts, and while calls wait for tokens of a rate that all share.
    public var isAskable: Bool {
        breaker == .closed && pausedFor == nil && (rateLimiter.waiting == 0 || !sharesRate)
    }
}
