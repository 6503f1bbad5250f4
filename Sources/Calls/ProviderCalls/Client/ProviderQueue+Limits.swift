internal import Basics
internal import LocationSearch
import QuotaSharing
import Resilience

/// What follows for calls that wait when a limit of their provider changes.
extension ProviderQueue {
    /// Changes this loop's share of the rate: see `RateBucket.setShare`.
    func setShare(_ share: Double, until end: Instant? = nil, prospect: Double = 0) {
        changeBucket { $0.setShare(share, until: end, prospect: prospect, at: $1) }
    }

    /// Changes the limit of which this loop has a share.
    func setLimit(_ limit: RateLimit) { changeBucket { $0.setLimit(limit, at: $1) } }

    /// Changes the most calls that may be under way.
    func setMaximum(_ maximum: Int) {
        limits.concurrency.setMaximum(maximum)
        serve()
    }

    /// Ends a call, and lets its result decide about the calls to come.
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
        // Only a longer wait can make a turn come too late.
        if let after, let before, after <= before { return serve() }
        review()
    }

    /// Looks at all calls that wait, some in each job of the loop, and refuses those whose turn has moved behind their time.
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
                rateCounts.refused += 1
                end(call, with: limits.tooLate(latest: call.latest, retryAfter: wait, at: now))
            }
        }
    }
}
