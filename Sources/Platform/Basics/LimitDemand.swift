/// A loop's demand for a limit, by class of request. Amounts are fractions of the limit, 0 to 1.
public struct LimitDemand: Sendable, Hashable {
    /// The demand of both classes.
    public let total: Double
    /// The demand of interactive requests; the rest of `total` is that of batch requests.
    public let interactive: Double
    /// The number of tenants with waiting interactive requests; 1 if tenants are not distinguished.
    public let interactiveTenants: Int
    /// The number of tenants with waiting batch requests, counted likewise.
    public let batchTenants: Int

    /// - Parameter total: Limited to 0 to 1.
    /// - Parameter interactive: Limited to 0 to `total`. `nil`: all of it.
    public init(_ total: Double, interactive: Double? = nil, interactiveTenants: Int = 1, batchTenants: Int = 1) {
        self.total = min(max(total, 0), 1)
        self.interactive = min(max(interactive ?? self.total, 0), self.total)
        self.interactiveTenants = max(1, interactiveTenants)
        self.batchTenants = max(1, batchTenants)
    }

    /// No demand.
    public static let none = LimitDemand(0)

    /// The demand of batch requests.
    public var batch: Double { total - interactive }
}
