/// How the part of a key's rate limit is found that this loop may use.
///
/// Kafka's group gives the workers what they need to agree: each partition has one owner at a time, and a rebalance
/// takes a partition away before it gives it to another. So a share that follows the partitions sums to at most 1 over
/// the fleet at every moment, as long as each member tells its limiter of a loss *before* it acknowledges it (once what
/// was in flight is finished) and of a gain *after* it was told. `RateLimiter.setShare` does the rest: what is gained
/// comes with an empty bucket.
public enum FleetShare: Sendable, Hashable {
    /// `providers.<name>.limitMode=shared`: the part of the topic's partitions that is assigned to this loop, without what
    /// it lends, and with what others lend to it. See docs/fleet.md.
    case byDemand
    /// `by-partitions`: the part of the topic's partitions that is assigned to this loop.
    case byPartitions
    /// `perProcess`: the limit is this process's own, and each of its loops has an equal part.
    case perProcess(loops: Int)

    /// Returns the share that a number of partitions gives, 0 to 1, before anything is lent.
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
