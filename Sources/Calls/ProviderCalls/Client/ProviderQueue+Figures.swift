internal import Basics
import QuotaSharing
import Resilience

/// The numbers of calls that wait, and of those that have waited.
extension ProviderQueue {
    /// The number of calls that waited for one limit. Counters only grow.
    struct WaitCounts {
        var waited = 0
        /// The calls that would have begun too late.
        var refused = 0
        var cancelled = 0

        var all: (waited: Int, refused: Int, cancelled: Int) { (waited, refused, cancelled) }
    }

    /// Counts a call under the resource that it lacked.
    func count(_ need: CallNeed, _ change: (inout WaitCounts) -> Void) {
        switch need {
        case .token, .pause: change(&rateCounts)
        case .permit: change(&concurrencyCounts)
        case .probe, .budget: break
        }
    }

    /// The rate limiter's figures. A call waits for a token if that is the first resource that it lacks.
    var rateStatistics: RateBucket.Statistics {
        var statistics = limits.bucket.statistics
        (statistics.waited, statistics.refused, statistics.cancelled) = rateCounts.all
        statistics.waitingBatch = waiting(.batch, for: [.token, .pause])
        statistics.waiting = waiting(.interactive, for: [.token, .pause]) + statistics.waitingBatch
        statistics.waitingTenants = statistics.waiting > 0 ? line.flowCount : 0
        return statistics
    }

    /// The figures of the concurrency limit.
    var concurrencyStatistics: ConcurrencyLimit.Statistics {
        var statistics = limits.concurrency.statistics
        (statistics.waited, statistics.refused, statistics.cancelled) = concurrencyCounts.all
        statistics.waiting = waiting(.interactive, for: [.permit]) + waiting(.batch, for: [.permit])
        return statistics
    }

    private func waiting(_ requestClass: RequestClass, for needs: [CallNeed]) -> Int {
        let count = line.count(of: requestClass)
        guard count > 0 else { return 0 }
        return needs.contains(limits.lacks(requestClass, at: timekeeper.now) ?? .token) ? count : 0
    }

    /// Returns whether few waiting calls would go before a new call of the class.
    func hasShortLine(for requestClass: RequestClass) -> Bool {
        let waiting = requestClass == .batch ? line.count : line.count(of: .interactive)
        guard waiting > 0 else { return true }
        let soon = min((limits.bucket.rate * Self.shortLine), 1000)
        return Double(waiting) < max(4, min(soon, Double(limits.concurrency.limit) / 8))
    }
}
