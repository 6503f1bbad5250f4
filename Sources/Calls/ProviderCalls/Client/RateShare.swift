internal import Basics
internal import LocationSearch
import QuotaSharing
import Resilience

/// This loop's share of one rate limit: of a provider, or of one of its methods.
///
/// Belongs to one `ProviderClient`, on whose actor everything runs.
final class RateShare: SharedRateLimit {
    let name: String
    private let queue: ProviderQueue
    /// See `ProviderLimits.buckets`.
    private let bucket: Int
    private let rule: FleetShare
    /// 0 to 1.
    private(set) var share: Double
    private var rateDemand = RateDemand()
    /// The number of requests that have not begun and would be sent under this limit.
    var waitingToBegin = WaitingRequests()

    init(_ name: String, of bucket: Int, in queue: ProviderQueue, by rule: FleetShare) {
        (self.name, self.bucket, self.queue, self.rule) = (name, bucket, queue, rule)
        share = rule.initial
    }

    func assign(_ assigned: Int, of partitions: Int) {
        guard rule != .byDemand else { return }
        share = rule.value(assigned: assigned, of: partitions)
        queue.setShare(share, of: bucket)
    }

    func take(_ loopShare: LoopShare, at now: Instant) {
        share = loopShare.share
        queue.setShare(loopShare.share, until: loopShare.end, prospect: loopShare.prospect, of: bucket)
    }

    func demand(at now: Instant) -> LimitDemand {
        guard let limit = queue.limits.buckets[bucket].limit else { return .none }
        var statistics = queue.rateStatistics(of: bucket)
        statistics.waiting += waitingToBegin.interactive + waitingToBegin.batch
        statistics.waitingBatch += waitingToBegin.batch
        statistics.waitingTenants = max(statistics.waitingTenants, waitingToBegin.tenants)
        return rateDemand.demand(of: limit, statistics: statistics, at: now)
    }
}
