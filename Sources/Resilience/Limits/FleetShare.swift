/// How much of a key's rate limit this loop may use, without asking anybody.
///
/// Kafka's group gives the workers what they need to agree: each partition has one owner at a time, and a rebalance
/// takes a partition away before it gives it to another. So a share that follows the partitions sums to at most 1 over
/// the fleet at every moment, as long as each member tells its limiter of a loss *before* it acknowledges it (once what
/// was in flight is finished) and of a gain *after* it was told. `RateLimiter.setShare` does the rest: what is gained
/// comes with an empty bucket.
public enum FleetShare: Sendable, Hashable {
    /// `providers.<name>.limitMode=shared`: the part of the topic's partitions that is assigned to this loop.
    case shared
    /// `perProcess`: the limit is this process's own, and each of its loops has an equal part.
    case perProcess(loops: Int)

    /// - Parameter assigned: partitions assigned to this loop's consumer.
    /// - Parameter partitions: of the topic, read anew at each rebalance: a topic may grow.
    /// - Returns: 0 to 1.
    public func value(assigned: Int, of partitions: Int) -> Double {
        switch self {
        case .shared: partitions > 0 ? min(1, Double(max(0, assigned)) / Double(partitions)) : 0
        case .perProcess(let loops): 1 / Double(max(1, loops))
        }
    }

    /// Before the first assignment: `shared` owns nothing yet.
    public var initial: Double { value(assigned: 0, of: 0) }
}
