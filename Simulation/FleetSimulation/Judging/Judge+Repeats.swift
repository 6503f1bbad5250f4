import Basics
import LocationSearch
import Resilience
import SimulatedKafka
import SimulatedKafkaClients
import SimulatedLoop
import WorkerRuntime

/// What crashes repeat with at-least-once, which docs/guarantees.md bounds: what was in flight, what had finished in the last
/// `worker.commitInterval`, and, without done-sets, what a partition finished behind a request that took long.
extension Judge {
    /// When the outcomes of a partition's requests were written, in seconds from the beginning, by their offsets.
    typealias Times = [Int64: [Double]]

    /// Every repetition follows from a kill, a standstill or a cut. Looked at where nothing else repeats anything: members come and
    /// go as they are told to besides.
    mutating func judgeRepeats() {
        guard plan.isRepeatedByCrashesAlone, world.movedOffsets.isEmpty else { return }
        let outcomes = outcomeTimes()
        for (partition, times) in outcomes.sorted(by: { $0.key < $1.key }) {
            for (offset, written) in times.sorted(by: { $0.key < $1.key }) {
                for (former, next) in zip(written, written.dropFirst()) {
                    judge("the outcome", of: offset, in: partition, times, begun: former, finished: former, again: next)
                }
            }
        }
        judgeRepeatedCalls(outcomes)
    }

    /// Looked at only where nothing but a crash has a call made again.
    private mutating func judgeRepeatedCalls(_ outcomes: [PartitionID: Times]) {
        guard plan.failures == 0, plan.latency.upperBound < 1, !plan.hasRateLimit, !plan.givesCallsUp else { return }
        var calls: [String: [Double]] = [:]
        for call in world.provider.calls {
            calls[call.keyword, default: []].append(world.beginning.duration(to: call.time) / .seconds(1))
        }
        var askers: [String: Int] = [:]
        for request in plan.requests { askers[request.keyword, default: 0] += 1 }

        let givenUp = keywordsOfCallsGivenUp
        for (partition, requests) in world.requestAt.sorted(by: { $0.key < $1.key }) {
            let times = outcomes[partition] ?? [:]
            for (offset, request) in requests.sorted(by: { $0.key < $1.key })
            where askers[request.keyword] == 1 && !givenUp.contains(request.keyword) {
                let made = calls[request.keyword] ?? []
                for (former, next) in zip(made, made.dropFirst()) where !mayBeGivenUp(former) {
                    let finished = times[offset]?.first { $0 >= former } ?? .infinity
                    judge("the call", of: offset, in: partition, times, begun: former, finished: finished, again: next)
                }
            }
        }
    }

    /// Returns the times in the order in which they were written.
    func outcomeTimes() -> [PartitionID: Times] {
        var all: [PartitionID: Times] = [:]
        for topic in ["results", "errors"] {
            for entry in world.outputs(of: topic).joined() {
                guard let source = world.source(of: entry.record), let time = entry.record.timestamp else {
                    continue
                }
                all[source.partition, default: [:]][source.offset, default: []]
                    .append(world.secondsOfSchedule(at: time))
            }
        }
        return all.mapValues { $0.mapValues { $0.sorted() } }
    }

    /// True for what a member finished, and could not commit, that left while the group formed anew: it commits nothing of what it has
    /// finished since that began.
    func wasLeftUncommitted(_ partition: PartitionID, finished: Double, again: Double) -> Bool {
        let slack = 0.3
        let interval = max(plan.settings.commitInterval, 0.5) + slack
        return world.handovers.contains { handover in
            guard handover.partition == partition, handover.time <= again, let since = handover.formsSince else {
                return false
            }
            return since - interval < finished && finished <= handover.time + slack
        }
    }

    /// True for what was finished at the end of a grace that was too short, and, without done-sets, for what was finished by then behind
    /// a request that was not.
    private func wasLeftAtTheEndOfAGrace(
        _ partition: PartitionID, _ offset: Int64, _ times: Times, finished: Double, again: Double
    ) -> Bool {
        // After the grace, what was handed over has 5 s to be confirmed.
        let (slack, longestFlush) = (0.1, 5.5)
        return world.handovers.contains { handover in
            guard handover.partition == partition, handover.hasUsedGrace, handover.time <= again,
                finished < handover.time + longestFlush
            else { return false }
            return finished > handover.time - slack
                || !plan.keepsDoneSets && isAnyOpen(before: offset, in: partition, times, at: handover.time - slack)
        }
    }

    /// True for a request with several outcomes of which each but the first follows from a handover that docs/guarantees.md says of
    /// that it repeats something.
    func isRepeatedByAHandover(_ partition: PartitionID, _ offset: Int64) -> Bool {
        guard plan.delivery == .atLeastOnce else { return false }
        let times = outcomeTimes()[partition] ?? [:]
        let written = times[offset] ?? []
        return written.count > 1
            && zip(written, written.dropFirst()).allSatisfy { former, next in
                wasLeftUncommitted(partition, finished: former, again: next)
                    || wasLeftAtTheEndOfAGrace(partition, offset, times, finished: former, again: next)
            }
    }

    /// True where a request before another one had no outcome at a moment.
    private func isAnyOpen(before offset: Int64, in partition: PartitionID, _ times: Times, at moment: Double) -> Bool {
        (world.requestAt[partition] ?? [:]).keys.contains { other in
            other < offset && (times[other]?.last ?? .infinity) > moment
        }
    }

    /// - Parameters:
    ///   - begun: when it was done the first time.
    ///   - finished: when its outcome was written then.
    ///   - again: when it was done again.
    private mutating func judge(
        _ what: String, of offset: Int64, in partition: PartitionID, _ times: Times, begun: Double, finished: Double,
        again: Double
    ) {
        // Commits take a moment, and so does the delivery report of an outcome.
        let slack = 0.3
        let interval = max(plan.settings.commitInterval, 0.5) + slack
        let kills = world.kills.filter { begun <= $0 + slack && $0 <= again }
        // While the group forms anew, and for as long as it waits for a member that was killed, nothing is committed: no request
        // begins then, and what had finished by then stays uncommitted.
        let longestRebalance = 10.0
        func earliestUncommitted(at crash: Double) -> Double {
            let changes = world.changesOfMembers.filter { $0 < crash && crash - $0 < longestRebalance }
            return min(crash, changes.min() ?? crash) - interval
        }
        let explaining = kills.filter { finished > earliestUncommitted(at: $0) }
        if !explaining.isEmpty { return }

        // A member that stands still or is cut off commits nothing until it is back, and the group may have given its partitions to
        // others by then: what it had in flight it publishes beside the new owner. So the whole time counts, until the group has
        // formed anew. What finished an interval before, or begins after that, is done once.
        let interruptions = world.interruptions.filter { $0.lowerBound <= again }
        let isInterrupted = interruptions.contains { time in
            finished > earliestUncommitted(at: time.lowerBound) && begun < time.upperBound + longestRebalance
        }
        if isInterrupted { return }

        // At the end of a grace, what is not confirmed is left to the next owner, even if the brokers write it a moment later.
        let handovers = world.handovers.filter {
            $0.partition == partition && begun <= $0.time + slack && $0.time <= again
        }
        if handovers.contains(where: { $0.hasUsedGrace && finished > $0.time - slack }) { return }

        if wasLeftUncommitted(partition, finished: finished, again: again) { return }

        // Without done-sets, what is finished behind a request that was open is done again: at a crash, and where a partition is
        // handed over with a request that waits for its turn, or took longer than the grace.
        func isEarlierOneOpen(at moment: Double) -> Bool { isAnyOpen(before: offset, in: partition, times, at: moment) }
        let crashes = kills + interruptions.map(\.lowerBound).filter { begun <= $0 + slack }
        if !plan.keepsDoneSets, crashes.contains(where: { isEarlierOneOpen(at: $0 - interval) }) { return }
        let leavesOpenOnes = handovers.contains { handover in
            (plan.handsBackWhatWaits || handover.hasUsedGrace) && isEarlierOneOpen(at: handover.time - slack)
        }
        if !plan.keepsDoneSets, leavesOpenOnes { return }
        find(
            .repeatedTooMuch,
            "\(what) of \(partition)@\(offset), which was finished at \(finished.threeDecimals) s, came again at \(again.threeDecimals) s; kills at \(kills.map(\.threeDecimals).joined(separator: ", ")), interruptions at \(interruptions.map(\.lowerBound.threeDecimals).joined(separator: ", "))"
        )
    }
}
