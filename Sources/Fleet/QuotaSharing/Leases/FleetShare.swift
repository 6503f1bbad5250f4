/// The rule by which a provider's rate limit is divided among the loops that use it.
///
/// Each partition has one owner at a time, and a rebalance revokes a partition before it assigns it to another member.
/// Shares that follow the partitions therefore sum to at most 1 over the fleet at all times. This requires that each
/// member reduces its limiter *before* it acknowledges a revocation (once its requests in flight are finished), and
/// raises it *after* an assignment. `RateBucket.setShare` starts an increased share with an empty bucket.
public enum FleetShare: Sendable, Hashable {
    /// `providers.<name>.limitMode=shared`: the fraction of the topic's partitions that is assigned to this loop, less
    /// its leases to other loops, plus those from other loops. See docs/internals/fleet.md.
    case byDemand
    /// `by-partitions`: the fraction of the topic's partitions that is assigned to this loop.
    case byPartitions
    /// `perProcess`: each process has the whole limit, and each of its loops has an equal share of it.
    case perProcess(loops: Int)

    /// Returns the share for a number of partitions, 0 to 1, before leases.
    /// - Parameter assigned: the number of partitions assigned to this loop's consumer.
    /// - Parameter partitions: the topic's number of partitions, read again at each rebalance, because a topic may
    ///   grow.
    public func value(assigned: Int, of partitions: Int) -> Double {
        switch self {
        case .byDemand, .byPartitions: Self.fraction(assigned, of: partitions)
        case .perProcess(let loops): 1 / Double(max(1, loops))
        }
    }

    /// Returns a number of partitions as a fraction of all partitions, 0 to 1.
    static func fraction(_ assigned: Int, of partitions: Int) -> Double {
        partitions > 0 ? min(1, Double(max(0, assigned)) / Double(partitions)) : 0
    }

    /// The share before the first assignment, which is 0 if it follows the partitions.
    public var initial: Double { value(assigned: 0, of: 0) }

    /// True if all members of the fleet share one limit, so that more workers do not raise it.
    public var isShared: Bool { self == .byDemand || self == .byPartitions }
}
