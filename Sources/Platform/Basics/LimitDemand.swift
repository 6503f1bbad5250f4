/// How much of a limit a loop could use, by class of request. Amounts are fractions of the limit, 0 to 1.
public struct LimitDemand: Sendable, Hashable {
    /// What requests of both classes could use.
    public let total: Double
    /// What interactive requests could use; the rest of `total` is that of batch requests.
    public let interactive: Double
    /// The number of tenants whose interactive requests wait; 1 where requests are not told apart by tenants.
    public let interactiveTenants: Int
    /// The number of tenants whose batch requests wait, counted likewise.
    public let batchTenants: Int

    /// - Parameter total: held within 0 to 1.
    /// - Parameter interactive: `nil`: all of it. Held within 0 to `total`.
    public init(_ total: Double, interactive: Double? = nil, interactiveTenants: Int = 1, batchTenants: Int = 1) {
        self.total = min(max(total, 0), 1)
        self.interactive = min(max(interactive ?? self.total, 0), self.total)
        self.interactiveTenants = max(1, interactiveTenants)
        self.batchTenants = max(1, batchTenants)
    }

    /// No request wants anything.
    public static let none = LimitDemand(0)

    /// What batch requests could use.
    public var batch: Double { total - interactive }
}
