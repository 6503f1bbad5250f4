internal import Basics
internal import LocationSearch
import QuotaSharing
import Resilience

/// Changes of a provider's limits, and their effect on waiting calls.
extension ProviderQueue {
    /// Changes this loop's share of the rate: see `RateBucket.setShare`.
    func setShare(_ share: Double, until end: Instant? = nil, prospect: Double = 0) {
        changeBucket { $0.setShare(share, until: end, prospect: prospect, at: $1) }
    }

    /// Changes the limit that this loop has a share of.
    func setLimit(_ limit: RateLimit) { changeBucket { $0.setLimit(limit, at: $1) } }

    /// Changes the maximum number of concurrent calls.
    func setMaximum(_ maximum: Int) {
        limits.concurrency.setMaximum(maximum)
        serve()
    }

    /// Ends a call and applies its result to the limits.
    func finish(
        _ grant: consuming Grant, failedWith error: SearchError?, health: CircuitBreaker.Outcome, at now: Instant
    ) {
        let isPaused = error?.requestedPause != nil
        limits.finish(grant, failedWith: error, health: health, at: now)
        if isPaused { review() }
    }

    private func changeBucket(_ change: (inout RateBucket, Instant) -> Void) {
        guard !line.isEmpty else { return change(&limits.bucket, timekeeper.now) }
        let now = timekeeper.now
        let last = Double(line.count)
        let before = limits.bucket.wait(behind: last, at: now)
        change(&limits.bucket, now)
        let after = limits.bucket.wait(behind: last, at: now)
        // Only a longer wait can make a waiting call too late.
        if let after, let before, after <= before { return serve() }
        review()
    }

    /// Checks all waiting calls, a few in each job of the loop, and refuses those whose token would come too late.
    func review() {
        guard !line.isEmpty else { return }
        (reviewed, reviewedFlow) = ([], nil)
        line.forEach { reviewed.append($0) }
        reviewed.reverse()
        goOn()
    }

    func goOn() {
        reviewSome()
        if line.isEmpty { noteLine(at: timekeeper.now) } else { serve() }
    }

    private func reviewSome() {
        let now = timekeeper.now
        for _ in 0..<Self.mostAtOnce {
            guard let call = reviewed.popLast() else { return reviewedFlow = nil }
            guard let ticket = call.ticket, line.contains(ticket) else { continue }

            let kept = reviewedFlow.map { $0.flow == call.flow ? $0.kept : 0 } ?? 0
            let wait = limits.bucket.wait(behind: line.ahead(of: kept, in: call.flow), at: now)
            if let wait, now + wait <= call.latest {
                reviewedFlow = (call.flow, kept + 1)
            } else {
                reviewedFlow = (call.flow, kept)
                line.remove(ticket)
                refusedByRate += 1
                end(call, with: limits.tooLate(latest: call.latest, retryAfter: wait, at: now))
            }
        }
    }
}
