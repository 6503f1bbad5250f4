internal import Basics
internal import LocationSearch
import QuotaSharing
import Resilience

/// Changes of a provider's limits, and their effect on waiting calls.
extension ProviderQueue {
    /// Changes this loop's share of a rate: see `RateBucket.setShare`.
    /// - Parameter bucket: see `ProviderLimits.buckets`.
    func setShare(_ share: Double, until end: Instant? = nil, prospect: Double = 0, of bucket: Int = 0) {
        change(bucket) { $0.setShare(share, until: end, prospect: prospect, at: $1) }
    }

    /// Changes the provider's limit, which this loop has a share of.
    func setLimit(_ limit: RateLimit) { change(0) { $0.setLimit(limit, at: $1) } }

    /// Changes the maximum number of concurrent calls.
    func setMaximum(_ maximum: Int) {
        limits.concurrency.setMaximum(maximum)
        serve()
    }

    /// Ends a call and applies its result to the limits.
    /// - Parameter error: the call's failure; `nil` if it was answered.
    func finish(
        _ grant: consuming Grant, failedWith error: SearchError?, health: CircuitBreaker.Outcome, at now: Instant
    ) {
        let pause = error?.requestedPause
        // Before the breaker, which lets waiting calls begin when its last probe closes it.
        if let pause { limits.bucket.pause(until: now + pause.duration, at: now) }
        grant.breakerPermit.finish(health, at: now)
        if let pause { limits.notePause(because: pause.reason, at: now) }
        grant.permit.finish(error?.load ?? .answered, at: now)
        if pause != nil { review() }
    }

    private func change(_ bucket: Int, _ change: (inout RateBucket, Instant) -> Void) {
        guard !line.isEmpty else { return change(&limits.buckets[bucket], timekeeper.now) }
        let now = timekeeper.now
        let last = Double(line.count)
        let before = limits.buckets[bucket].wait(behind: last, at: now)
        change(&limits.buckets[bucket], now)
        let after = limits.buckets[bucket].wait(behind: last, at: now)
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
        continueServing()
    }

    func continueServing() {
        reviewSome()
        if line.isEmpty { noteLine(at: timekeeper.now) } else { serve() }
    }

    private func reviewSome() {
        let now = timekeeper.now
        for _ in 0..<Self.mostAtOnce {
            guard let call = reviewed.popLast() else { return reviewedFlow = nil }
            guard let ticket = call.ticket, line.contains(ticket) else { continue }

            let kept = reviewedFlow.map { $0.flow == call.flow && $0.group == call.group ? $0.kept : 0 } ?? 0
            let wait = wait(of: call.flow, in: call.group, behind: kept, at: now)
            if let wait, now + wait <= call.latest {
                reviewedFlow = (call.flow, call.group, kept + 1)
            } else {
                reviewedFlow = (call.flow, call.group, kept)
                line.remove(ticket)
                refusedByRate += 1
                end(call, with: limits.tooLate(latest: call.latest, retryAfter: wait, at: now))
            }
        }
    }

    /// Updates the demand of waiting calls on each budget.
    func noteBudgetWanted(at now: Instant) {
        guard !limits.accounts.isEmpty else { return }
        var demand: [ObjectIdentifier: (all: Int, batch: Int)] = [:]
        for (index, group) in limits.groups.all.enumerated() {
            // Calls that cannot begin at once get no budget reservation, because it would go unused.
            let supply = limits.bucketIndices(of: index).map { limits.buckets[$0].supply(within: Self.shortLine) }
            let soon = supply.reduce(Double(limits.concurrency.room), min)
            let most = max(1, Int(saturating: soon.rounded(.up)))
            let interactive = min(line.count(of: .interactive, in: index), most)
            let batch = min(line.count(of: .batch, in: index), most - interactive)
            group.addDemand(interactive + batch, batch: batch, to: &demand, at: now)
        }
        for account in limits.accounts {
            let wanted = demand[ObjectIdentifier(account)] ?? (0, 0)
            account.setWaiting(wanted.all, batch: wanted.batch)
        }
    }
}
