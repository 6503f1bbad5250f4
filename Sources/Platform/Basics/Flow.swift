/// A flow of requests, as in fair queueing: the requests of one class and one tenant.
public struct Flow: Sendable, Hashable {
    public var requestClass: RequestClass
    /// The value by which `worker.fairBy` groups requests, such as a CloudEvents source; empty if they are not grouped.
    public var tenant: String

    /// The flow of all requests if neither classes nor tenants are distinguished.
    public static let standard = Flow(.interactive)

    public init(_ requestClass: RequestClass, tenant: String = "") {
        self.requestClass = requestClass
        self.tenant = tenant
    }
}

/// How flows of requests share a limited resource.
public struct FairTerms: Sendable, Hashable {
    /// The minimum fraction for batch requests while some of them wait, 0 to 1.
    public var batchFloor = 0.05
    /// `worker.fairWeights`: the weight of each tenant in a round. 1 to 100; a missing tenant has 1.
    public var weights: [String: Int] = [:]

    public init() {}

    public func weight(of tenant: String) -> Double { Double(min(100, max(1, weights[tenant] ?? 1))) }
}

/// The urgency of a request. It determines the order in which requests get limited resources: tokens of a rate limit,
/// calls of a daily budget, in-flight permits and memory.
///
/// Raw values are contract: they are the values of the member `priority` and of the setting `topics.requests`.
public enum RequestClass: String, Sendable, Hashable, CaseIterable {
    /// A user waits for the outcome.
    case interactive
    /// No user waits for the outcome: such a request gets what interactive requests leave, and at least a minimum
    /// share.
    case batch
}

/// A loop's demand for a limit, by class of request. Amounts are fractions of the limit, 0 to 1.
public struct LimitDemand: Sendable, Hashable {
    /// The demand of both classes.
    public var total: Double
    /// The demand of interactive requests; the rest of `total` is that of batch requests.
    public var interactive: Double
    /// The number of tenants with waiting interactive requests; 1 if tenants are not distinguished.
    public var interactiveTenants: Int
    /// The number of tenants with waiting batch requests, counted likewise.
    public var batchTenants: Int

    /// - Parameter total: Limited to 0 to 1.
    /// - Parameter interactive: Limited to 0 to `total`. `nil`: all of it.
    public init(_ total: Double, interactive: Double? = nil, interactiveTenants: Int = 1, batchTenants: Int = 1) {
        self.total = min(max(total, 0), 1)
        self.interactive = min(max(interactive ?? self.total, 0), self.total)
        self.interactiveTenants = max(1, interactiveTenants)
        self.batchTenants = max(1, batchTenants)
    }

    public static let none = LimitDemand(0)

    /// The demand of batch requests.
    public var batch: Double { total - interactive }
}
