import Basics
import LocationSearch
import Resilience
import SimulatedKafka
import SimulatedKafkaClients
import SimulatedLoop
import WorkerRuntime

/// The repetitions by crashes with at-least-once, which docs/guarantees.md bounds.
///
/// A crash may repeat requests in flight, and those finished in the last `worker.commitInterval`. Without done-sets, it may also
/// repeat requests that finished behind a slow one of their partition.
extension Judge {
    /// The times of outcomes of a partition's requests, in seconds from the beginning, by offset.
    typealias Times = [Int64: [Double]]

    /// Checks that every repetition follows from a kill, a standstill or a cut.
    ///
    /// Applies only if nothing else repeats requests; members may also come and go in order.
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

    /// Applies only if nothing but a crash repeats a call.
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

    /// Returns the times of outcomes in the order in which they were written.
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

    /// True for a request that finished, but was not committed, because its member left during a rebalance.
    ///
    /// Such a member commits no request that finished after the rebalance began.
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

    /// True for a request that finished at the end of a grace that was too short. Without done-sets, also true for one that had
    /// finished behind an open request by then.
    private func wasLeftAtTheEndOfAGrace(
        _ partition: PartitionID, _ offset: Int64, _ times: Times, finished: Double, again: Double
    ) -> Bool {
        // After the grace, delivery reports have another 5 s to arrive.
        let (slack, longestFlush) = (0.1, 5.5)
        return world.handovers.contains { handover in
            guard handover.partition == partition, handover.hasUsedGrace, handover.time <= again,
                finished < handover.time + longestFlush
            else { return false }
            return finished > handover.time - slack
                || !plan.keepsDoneSets && isAnyOpen(before: offset, in: partition, times, at: handover.time - slack)
        }
    }

    /// True if each outcome of a request but the first follows from a handover that repeats requests according to docs/guarantees.md.
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

    /// True if an earlier request of the partition had no outcome at a moment.
    private func isAnyOpen(before offset: Int64, in partition: PartitionID, _ times: Times, at moment: Double) -> Bool {
        (world.requestAt[partition] ?? [:]).keys.contains { other in
            other < offset && (times[other]?.last ?? .infinity) > moment
        }
    }

    /// - Parameters:
    ///   - begun: the time at which it was first processed.
    ///   - finished: the time at which that outcome was written.
    ///   - again: the time at which it was processed again.
    private mutating func judge(
        _ what: String, of offset: Int64, in partition: PartitionID, _ times: Times, begun: Double, finished: Double,
        again: Double
    ) {
        // Commits take a moment, and so do delivery reports.
        let slack = 0.3
        let interval = max(plan.settings.commitInterval, 0.5) + slack
        let kills = world.kills.filter { begun <= $0 + slack && $0 <= again }
        // During a rebalance, and while the group waits for a killed member, nothing is committed. No request begins then, and what
        // had finished by then stays uncommitted.
        let longestRebalance = 10.0
        func earliestUncommitted(at crash: Double) -> Double {
            let changes = world.changesOfMembers.filter { $0 < crash && crash - $0 < longestRebalance }
            return min(crash, changes.min() ?? crash) - interval
        }
        let explaining = kills.filter { finished > earliestUncommitted(at: $0) }
        if !explaining.isEmpty { return }

        // A member that stands still or is cut off commits nothing until it is back. The group may have given its partitions to
        // others by then, and both publish what it had in flight. So the whole time counts, until the rebalance is over. Requests
        // that finished a commit interval before, or begin after that, are processed once.
        let interruptions = world.interruptions.filter { $0.lowerBound <= again }
        let isInterrupted = interruptions.contains { time in
            finished > earliestUncommitted(at: time.lowerBound) && begun < time.upperBound + longestRebalance
        }
        if isInterrupted { return }

        // At the end of a grace, unconfirmed outcomes are left to the next owner, even if the brokers write them a moment later.
        let handovers = world.handovers.filter {
            $0.partition == partition && begun <= $0.time + slack && $0.time <= again
        }
        if handovers.contains(where: { $0.hasUsedGrace && finished > $0.time - slack }) { return }

        if wasLeftUncommitted(partition, finished: finished, again: again) { return }

        // Without done-sets, requests that finished behind an open one are repeated in two cases. One is a crash. The other is a
        // handover with a request that waits for a token or permit, or outlasts the grace.
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
