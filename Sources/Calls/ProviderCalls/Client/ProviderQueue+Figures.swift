internal import Basics
import QuotaSharing
import Resilience

/// The numbers of calls that wait, and of those that were refused.
extension ProviderQueue {
    /// Counts a call that would have begun too late under the resource that it lacked.
    func countRefusal(_ need: CallNeed) {
        switch need {
        case .token, .pause: refusedByRate += 1
        case .permit: refusedByConcurrency += 1
        case .probe, .budget: break
        }
    }

    /// The rate limiter's figures. A call waits for a token if that is the first resource that it lacks.
    var rateStatistics: RateBucket.Statistics {
        var statistics = limits.bucket.statistics
        statistics.refused = refusedByRate
        statistics.waitingBatch = waiting(.batch, for: [.token, .pause])
        statistics.waiting = waiting(.interactive, for: [.token, .pause]) + statistics.waitingBatch
        statistics.waitingTenants = statistics.waiting > 0 ? line.flowCount : 0
        return statistics
    }

    /// The figures of the concurrency limit.
    var concurrencyStatistics: ConcurrencyLimit.Statistics {
        var statistics = limits.concurrency.statistics
        statistics.refused = refusedByConcurrency
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
