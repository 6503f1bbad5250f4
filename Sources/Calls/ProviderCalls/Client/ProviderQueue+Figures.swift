internal import Basics
import QuotaSharing
import Resilience

/// The numbers of calls that wait, and of those that were refused.
extension ProviderQueue {
    /// Counts a call that would have begun too late under the resource that it lacked.
    func countRefusal(_ need: CallNeed) {
        switch need {
        case .token, .methodToken: refusedByRate += 1
        case .permit: refusedByConcurrency += 1
        case .probe, .budget: break
        }
    }

    /// The figures of a rate limit. A call waits for a token if that is the first resource that it lacks.
    /// - Parameter bucket: see `ProviderLimits.buckets`.
    func rateStatistics(of bucket: Int = 0) -> RateBucket.Statistics {
        var statistics = limits.buckets[bucket].statistics
        let need: CallNeed = bucket == 0 ? .token : .methodToken
        let groups = limits.groups.all.indices.filter { bucket == 0 || limits.groups.all[$0].bucket == bucket }
        if bucket == 0 { statistics.refused = refusedByRate }
        statistics.waitingBatch = waiting(.batch, in: groups, for: need)
        statistics.waiting = waiting(.interactive, in: groups, for: need) + statistics.waitingBatch
        statistics.waitingTenants = statistics.waiting > 0 ? groups.reduce(0) { $0 + line.flowCount(in: $1) } : 0
        return statistics
    }

    /// The figures of the concurrency limit.
    var concurrencyStatistics: ConcurrencyLimit.Statistics {
        var statistics = limits.concurrency.statistics
        statistics.refused = refusedByConcurrency
        let groups = Array(limits.groups.all.indices)
        statistics.waiting = RequestClass.allCases.reduce(0) { $0 + waiting($1, in: groups, for: .permit) }
        return statistics
    }

    private func waiting(_ requestClass: RequestClass, in groups: [Int], for need: CallNeed) -> Int {
        guard line.count(of: requestClass) > 0 else { return 0 }
        return groups.reduce(0) { sum, group in
            let count = line.count(of: requestClass, in: group)
            guard count > 0 else { return sum }
            let lack = limits.lacks(requestClass, in: group, at: timekeeper.now) ?? .token
            return lack == need ? sum + count : sum
        }
    }

    /// Returns whether few waiting calls would go before a new call of the class and group.
    func hasShortLine(for requestClass: RequestClass, in group: Int = 0) -> Bool {
        let ownBatch = requestClass == .batch ? line.count(of: .batch, in: group) : 0
        let waiting = line.count(of: .interactive, in: group) + ownBatch
        guard waiting > 0 else { return true }
        let rate = limits.bucketIndices(of: group).map { limits.buckets[$0].rate }.reduce(.infinity, min)
        let soon = min(rate * Self.shortLine, 1000)
        return Double(waiting) < max(4, min(soon, Double(limits.concurrency.limit) / 8))
    }
}
