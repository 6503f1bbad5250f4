public import Basics
public import LocationSearch
public import QuotaSharing
public import Resilience

/// The rules for calls to one provider: `providers.<name>.*`.
public struct ProviderPolicy: Sendable, Hashable {
    /// `whenOpen`: the effect of an open breaker on requests without an alternative provider.
    public enum WhenOpen: String, Sendable, Hashable, CaseIterable {
        /// They fail immediately, with a code for the reason of the opening. For requests with a person waiting.
        case fail
        /// They wait until the provider may be called again, whether it is failing, refused the key, used up the quota or
        /// requested a pause. The wait does not count against their deadline, and ends at the latest start of their
        /// calls. Each keeps its in-flight permit, which bounds the number of records taken. For batch work.
        case hold
    }

    public var retry = RetryPolicy()
    /// The rule for the part of a request's time that one call may use.
    public var attemptTimeout = AttemptTimer.Rule.adaptive
    public var budget = RetryBudget.Configuration()
    /// The API key's limit; `nil` if none is known.
    public var rateLimit: RateLimit?
    /// The API key's limits of single methods, in addition.
    public var methodLimits: [ProviderMethod: RateLimit] = [:]
    public var share = FleetShare.byPartitions
    public var breaker = CircuitBreaker.Configuration()
    public var whenOpen = WhenOpen.fail
    public var concurrency: ConcurrencyLimit.Configuration
    public var sharesIdenticalCalls = true
    /// How waiting requests share the rate limit and the concurrency limit, by class and tenant.
    public var fairness = FairTerms()

    public var hasRateLimit: Bool { rateLimit != nil || !methodLimits.isEmpty }

    /// True if workers publish their demand for the key's limits to each other.
    public var sharesByDemand: Bool { hasRateLimit && share == .byDemand }

    /// Returns the names of a provider's rate limits in the fleet, such as `google-places/searchText`.
    func limitNames(of provider: ProviderID) -> [String] {
        (rateLimit == nil ? [] : [provider.rawValue])
            + orderedMethodLimits.map { Self.limitName(of: provider, $0.key) }
    }

    static func limitName(of provider: ProviderID, _ method: ProviderMethod) -> String {
        "\(provider.rawValue)/\(method.rawValue)"
    }

    var orderedMethodLimits: [(key: ProviderMethod, value: RateLimit)] {
        methodLimits.sorted { $0.key.rawValue < $1.key.rawValue }
    }

    /// - Parameter concurrency: the maximum number of concurrent calls, at least 1: this loop's part of `worker.concurrency`.
    public init(concurrency: Int) {
        self.concurrency = ConcurrencyLimit.Configuration(maximum: concurrency)
    }
}

/// The state of a provider on one loop, for `/status` and metrics. Counters only grow.
public struct ProviderStatus: Sendable, Hashable {
    public var provider: ProviderID
    public var breaker: CircuitBreaker.State
    /// The reason why the provider is not called normally; `nil` while the breaker is closed.
    public var breakerReason: CircuitBreaker.Reason?
    /// The time until the breaker admits a call again; `nil` unless it is open.
    public var openFor: Duration?
    /// The calls per second that this loop may make at present; `nil`: no limit.
    public var allowedPerSecond: Double?
    /// The time until the end of the pause that the provider requested (`Retry-After`); `nil` if it requested none.
    public var pausedFor: Duration?
    public var rateLimiter: RateBucket.Statistics
    /// True if the fleet shares the rate, so that a further worker adds no capacity.
    public var sharesRate: Bool
    public var concurrency: ConcurrencyLimit.Statistics
    public var retries: RetryBudget.Statistics
    /// The number of attempts made, each of which may cost money.
    public var calls: Int
    /// The number of requests that were served by another request's call.
    public var shared: Int
    /// The number of requests that wait for an open breaker now: `whenOpen=hold`.
    public var held: Int
    /// The fleet's view of the provider's budgets.
    public var budgets: [BudgetStatus]

    /// True if a further worker could increase the calls to the provider. `false` unless the breaker is closed, during a
    /// pause that the provider requested, and while calls wait for tokens of a shared rate.
    public var isAskable: Bool {
        breaker == .closed && pausedFor == nil && (rateLimiter.waiting == 0 || !sharesRate)
    }
}
