/// How a provider's rate limit is divided among the loops that use it.
///
/// Each partition has one owner at a time, and a rebalance takes a partition away before it gives it to another member.
/// So shares that follow the partitions sum to at most 1 over the fleet at every moment, as long as each member reduces
/// its limiter *before* it acknowledges a loss (once its requests in flight are finished) and raises it *after* a gain.
/// `RateBucket.setShare` does the rest: a gain comes with an empty bucket.
public enum FleetShare: Sendable, Hashable {
    /// `providers.<name>.limitMode=shared`: the fraction of the topic's partitions that is assigned to this loop, less
    /// what it leases out, plus what others lease to it. See docs/internals/fleet.md.
    case byDemand
    /// `by-partitions`: the fraction of the topic's partitions that is assigned to this loop.
    case byPartitions
    /// `perProcess`: the limit is this process's own, and each of its loops has an equal share.
    case perProcess(loops: Int)

    /// Returns the share that a number of partitions gives, 0 to 1, before leases.
    /// - Parameter assigned: partitions assigned to this loop's consumer.
    /// - Parameter partitions: of the topic, read anew at each rebalance: a topic may grow.
    public func value(assigned: Int, of partitions: Int) -> Double {
        switch self {
        case .byDemand, .byPartitions: partitions > 0 ? min(1, Double(max(0, assigned)) / Double(partitions)) : 0
        case .perProcess(let loops): 1 / Double(max(1, loops))
        }
    }

    /// Before the first assignment: a share that follows the partitions has none yet.
    public var initial: Double { value(assigned: 0, of: 0) }

    /// True where all members of the fleet share one limit, so that a further worker brings none of its own.
    public var isShared: Bool {
        switch self {
        case .byDemand, .byPartitions: true
        case .perProcess: false
        }
    }
}
