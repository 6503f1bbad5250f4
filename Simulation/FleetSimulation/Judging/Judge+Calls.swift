import Basics
import LocationSearch
import QuotaSharing
import Resilience
import SimulatedKafka
import SimulatedKafkaClients
import SimulatedLoop
import WorkerRuntime

/// Rules about calls to the providers: no more than allowed, none too late, and none paid for twice.
extension Judge {
    mutating func judgeCalls() {
        let calls = world.provider.calls
        for provider in plan.providers {
            guard let limit = plan.rateLimit(of: provider) else { continue }
            judgeRate(calls.filter { $0.provider == provider }, limit)
        }
        judgeUse()
        judgeClasses()
        judgeBudgets(calls.filter { $0.provider == .hotpepper })
        judgeLifetimes(calls)
        judgeRepetitions(calls)
        judgePauses(calls)
        judgeBreakers(calls)
        judgeBill()
    }

    /// Checks that a member that leaves or returns a partition finishes its billed calls.
    ///
    /// Applies only if nothing else repeats a call: a failure of the provider or of a worker, a timeout, or a wait for the rate limit.
    private mutating func judgeRepetitions(_ calls: [SimulatedProvider.Call]) {
        guard plan.isGraceful, plan.failures == 0, plan.latency.upperBound < 1, !plan.hasRateLimit,
            !plan.givesCallsUp, world.movedOffsets.isEmpty, !world.hasFailedMember
        else { return }
        var left: [String: Int] = [:]
        for request in plan.requests { left[request.keyword, default: 0] += 1 }
        let givenUp = keywordsOfCallsGivenUp
        for call in calls
        where !mayBeGivenUp(world.beginning.duration(to: call.time) / .seconds(1)) && !givenUp.contains(call.keyword) {
            left[call.keyword, default: 0] -= 1
            if left[call.keyword, default: 0] < 0, !wasLeftUncommitted(call) {
                find(.calledAgain, "\(call.keyword) by \(call.member)")
            }
        }
    }

    /// True for a call for a request that had finished before and could not be committed.
    private func wasLeftUncommitted(_ call: SimulatedProvider.Call) -> Bool {
        let again = world.beginning.duration(to: call.time) / .seconds(1)
        guard plan.delivery == .atLeastOnce else { return wasInNoTransaction(call, again: again) }
        let outcomes = outcomeTimes()
        return world.requestAt.contains { partition, requests in
            requests.contains { offset, request in
                guard request.keyword == call.keyword, let finished = outcomes[partition]?[offset]?.first else {
                    return false
                }
                return finished <= again && wasLeftUncommitted(partition, finished: finished, again: again)
            }
        }
    }

    /// True for a call for a request whose outcome was in no committed transaction when a grace ended.
    private func wasInNoTransaction(_ call: SimulatedProvider.Call, again: Double) -> Bool {
        let earlier = world.provider.calls.filter { $0.keyword == call.keyword && $0.time < call.time }
            .map { world.beginning.duration(to: $0.time) / .seconds(1) }
        let partitions = world.requestAt.filter { $0.value.values.contains { $0.keyword == call.keyword } }.keys
        return world.handovers.contains { handover in
            handover.hasUsedGrace && handover.time <= again && partitions.contains(handover.partition)
                && earlier.contains { $0 < handover.time }
        }
    }

    /// The keywords of requests whose calls may be abandoned, so that a second call is made although the first would have been answered.
    ///
    /// They take longer than other calls (`AttemptTimer`), or leave the next provider its part of a short time.
    var keywordsOfCallsGivenUp: Set<String> {
        let slow = Set(plan.poisons.filter { $0.value.seconds > plan.latency.upperBound }.keys)
        guard plan.secondProvider != nil else { return slow }
        return slow.union(plan.requests.filter { $0.lifetime != nil || plan.maxAge != nil }.map(\.keyword))
    }

    /// True for a call that began so late in the grace of a draining member that it may not have ended by then.
    /// - Parameter time: in seconds from the beginning.
    func mayBeGivenUp(_ time: Double) -> Bool {
        let slack = 0.1
        return world.graceEnds.contains { $0 - plan.latency.upperBound - slack <= time && time <= $0 + slack }
    }

    /// Checks that a bucket with the limit's rate and burst has a token for each call.
    private mutating func judgeRate(_ calls: [SimulatedProvider.Call], _ limit: RateLimit) {
        // Allows for the drift of clocks. Each lane's part of the burst is at least one call.
        let rate = limit.perSecond * 1.01
        let burst = limit.burst + Double(world.mostAlive * plan.lanes)
        var tokens = burst
        var last: Instant?
        for call in calls {
            if let last {
                let seconds = last.duration(to: call.time) / .seconds(1)
                // Two processes of a static member use the same share until the former one learns of the other. So does a member that
                // is cut off and does not know that its partitions have another owner.
                var (both, most) = (0.0, burst)
                if usesSharesTwice {
                    both = world.ownership.secondsOfSeveral(from: last, to: call.time)
                    // Each has a separate bucket, which may stay full for as long as it takes to empty it.
                    let emptying = Duration.seconds(limit.burst / limit.perSecond + 1)
                    if world.ownership.secondsOfSeveral(from: call.time - emptying, to: call.time) > 0 {
                        most += limit.burst
                    }
                }
                both += secondsOfFormerCount(from: last, to: call.time)
                tokens = min(most, tokens + rate * (seconds + both))
            }
            last = call.time
            tokens -= 1
            if tokens < -0.01 {
                let seconds = (call.time.nanoseconds - world.beginning.nanoseconds) / 1_000_000
                return find(
                    .overRate, "\(-tokens) too many at \(Double(seconds) / 1000) s, of \(limit.perSecond) per second")
            }
        }
    }

    /// True if a member may use its share although the group has given its partitions, and so the share, to another member.
    ///
    /// That happens if the member may learn of the change late, or if the new owner does not wait for that.
    private var usesSharesTwice: Bool {
        plan.isStatic || plan.keepsPartitionsWhileCutOff || plan.share == .byPartitions
    }

    /// Returns for how long members may have used a former number of partitions.
    ///
    /// With KIP-848 a member whose partitions stay learns of the new number only when it asks. If a limit is shared by
    /// partitions, the owner of a new partition does not wait for that. If it is shared by demand, the owner waits
    /// longer than a connected member takes to ask.
    private func secondsOfFormerCount(from start: Instant, to end: Instant) -> Double {
        guard plan.groupProtocol == .consumer else { return 0 }
        // Members ask every 2 s and wait 2 s for an answer. At least one of two consecutive questions is answered.
        let (oneQuestion, severalQuestions) = (2.5, 6.5)
        return world.growths.reduce(0) { seconds, growth in
            let grown = world.beginning.duration(to: growth) / .seconds(1)
            let cuts = world.interruptions.filter {
                grown - severalQuestions < $0.upperBound && $0.lowerBound < grown + oneQuestion
            }
            guard plan.share == .byPartitions || !cuts.isEmpty else { return seconds }
            let usual = grown + (plan.fateOfMessages.isPerfect ? oneQuestion : severalQuestions)
            let last = cuts.reduce(usual) { max($0, $1.upperBound + severalQuestions) }
            let time = max(start, growth)..<max(start, growth, min(end, world.beginning + .seconds(last)))
            return seconds + time.lowerBound.duration(to: time.upperBound) / .seconds(1)
        }
    }

    private mutating func judgeLifetimes(_ calls: [SimulatedProvider.Call]) {
        var ends: [String: Double] = [:]
        for request in plan.requests where request.isValid {
            let lifetimes = [request.lifetime, plan.maxAge].compactMap(\.self)
            let end = lifetimes.min().map { request.time + $0 } ?? .infinity
            ends[request.keyword] = max(ends[request.keyword] ?? 0, end)
        }
        // A producer that had to retry writes later, and clocks differ.
        let slack = 1.0
        guard plan.faults.allSatisfy(\.isHarmless) else { return }
        for call in calls {
            let seconds = world.beginning.duration(to: call.time) / .seconds(1)
            // Its caller read the request at some time since the beginning, and used the time of its wall clock then.
            let offset = world.leastWallOffset(of: call.member, upTo: call.time)
            if let end = ends[call.keyword], seconds > end - offset + slack {
                find(.calledTooLate, "\(call.keyword) expired at \(end) s and was called at \(seconds) s")
            }
        }
    }
}
