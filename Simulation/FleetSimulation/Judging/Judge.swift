import Basics
import LocationSearch
import QuotaSharing
import Resilience
import SimulatedKafka
import SimulatedKafkaClients
import SimulatedLoop
import WorkerRuntime

/// Compares what a schedule came to with what the guarantees page promises.
struct Judge {
    let world: FleetWorld
    var plan: FleetPlan { world.plan }
    private(set) var verdict = Verdict()
    /// The outcomes as they were read last, with the ends of what could be read then.
    private var known: (ends: [[Int64]], outcomes: [PartitionID: [Int64: Int]])?

    init(_ world: FleetWorld) { self.world = world }

    mutating func find(_ rule: Verdict.Rule, _ text: String) {
        // The first of a kind tells enough, and the others follow from it.
        guard !verdict.findings.contains(where: { $0.rule == rule }) else { return }
        verdict.findings.append(Verdict.Finding(rule: rule, text: text))
    }

    mutating func note(_ error: SimulationError) { find(.escaped, "\(error)") }

    // MARK: - Outcomes

    /// The outcomes that a reader of committed records sees, by the request they answer, in the order of their topics.
    private mutating func outcomes() -> [PartitionID: [Int64: Int]] {
        let ends = ["results", "errors"].map { topic in
            world.partitions(of: topic).map { world.network.cluster.log(of: $0)?.lastStableOffset ?? -1 }
        }
        if let known, known.ends == ends, world.deletedOutputs.isEmpty, world.archivedTopics.isEmpty {
            return known.outcomes
        }
        let outcomes = readOutcomes()
        known = (ends, outcomes)
        return outcomes
    }

    private func readOutcomes() -> [PartitionID: [Int64: Int]] {
        var counts: [PartitionID: [Int64: Int]] = [:]
        for topic in ["results", "errors"] {
            for entries in world.outputs(of: topic) {
                for entry in entries {
                    guard let source = world.source(of: entry.record) else { continue }
                    counts[source.partition, default: [:]][source.offset, default: 0] += 1
                }
            }
        }
        return counts
    }

    /// The outcomes of a request of a deleted topic that were written after the deletion; 0 for any other.
    private func outcomesAfterDeletion(of partition: PartitionID, _ offset: Int64) -> Int {
        guard world.deletionTimes[partition.topic] != nil else { return 0 }
        return ["results", "errors"].reduce(0) { count, topic in
            count
                + world.outputs(of: topic).joined().count { entry in
                    guard let source = world.source(of: entry.record) else { return false }
                    return source == (partition, offset) && world.wasWrittenAfterDeletion(of: partition, entry.record)
                }
        }
    }

    /// Tells when a request got its outcomes, for a person who reads the finding.
    private func whenAnswered(_ partition: PartitionID, _ offset: Int64) -> String {
        var times: [String] = []
        for topic in ["results", "errors"] {
            for entries in world.outputs(of: topic) {
                for entry in entries {
                    guard let source = world.source(of: entry.record), source == (partition, offset) else {
                        continue
                    }
                    let time = world.secondsOfSchedule(at: entry.record.timestamp ?? 0).threeDecimals
                    times.append("in \(topic) at \(time) s")
                }
            }
        }
        return times.isEmpty ? "" : ", " + times.joined(separator: ", ")
    }

    /// True when readers of committed records see an outcome of each request that is written, and each dead letter. A transaction
    /// that a crash left open hides what is behind it until the brokers end it.
    private func isEverythingAnswered(_ outcomes: [PartitionID: [Int64: Int]]) -> Bool {
        guard world.requestCount == plan.requests.count + world.redriven else { return false }
        let letters = deadLetters()
        return world.requestAt.allSatisfy { partition, requests in
            let answered = outcomes[partition] ?? [:]
            return requests.allSatisfy { offset, request in
                let hasLetter = request.isValid || letters[partition]?.contains(offset) == true
                return answered[offset] != nil && hasLetter || isExempt(partition, offset)
            }
        }
    }

    /// Judges what holds at any moment: what is committed has its outcomes.
    /// - Returns: true when everything is answered.
    mutating func judgeProgress() -> Bool {
        let outcomes = outcomes()
        // With transactions offsets and outcomes become visible one after the other, when markers are written.
        if plan.delivery == .atLeastOnce { judgeCommits(outcomes) }
        return isEverythingAnswered(outcomes)
    }

    /// True for a request that was deleted or compacted away, for one whose outcome was in an open transaction when its topic was
    /// deleted, and for one below the end of the topic that was deleted before its own was made.
    private func isExempt(_ partition: PartitionID, _ offset: Int64) -> Bool {
        !world.isThere(partition, offset) || world.excused[partition]?.contains(offset) == true
            || world.mayBePassedOver(partition, offset)
    }

    private mutating func judgeCommits(_ outcomes: [PartitionID: [Int64: Int]]) {
        for (partition, commit) in world.network.cluster.commits(by: SimulatedWorker.group) {
            let (committed, done, answered) = (commit.offset, commit.done, outcomes[partition] ?? [:])
            let missing = world.requestAt[partition]?.keys.filter {
                ($0 < committed || done.contains($0)) && answered[$0] == nil
            }
            for offset in missing?.sorted() ?? [] {
                if !isExempt(partition, offset) {
                    find(.committedTooFar, "\(partition) is committed up to \(committed), and \(offset) has no outcome")
                }
            }
        }
    }

    /// Judges a schedule that is over.
    mutating func judgeEnd() {
        let outcomes = outcomes()
        for (partition, requests) in world.requestAt.sorted(by: { $0.key < $1.key }) {
            for (offset, request) in requests.sorted(by: { $0.key < $1.key }) {
                switch outcomes[partition]?[offset] ?? 0 {
                case 0 where isExempt(partition, offset): break
                case 0: find(.lost, "r\(request.number) at \(partition)@\(offset) has no outcome")
                case let count where count <= world.mostOutcomes(of: partition, at: offset): break
                case 2 where outcomesAfterDeletion(of: partition, offset) == 1: break
                case _ where isRepeatedByAHandover(partition, offset): break
                case let count
                where plan.delivery == .exactlyOnce
                    || (plan.isGraceful && !plan.requestsMayOutlastGrace
                        && (plan.keepsDoneSets || !plan.handsBackWhatWaits)):
                    find(
                        .doubled,
                        "r\(request.number) at \(partition)@\(offset) has \(count) outcomes\(whenAnswered(partition, offset))"
                    )
                default: break
                }
            }
        }
        judgeCommits(outcomes)
        judgeRepeats()
        judgeDeadLetters()
        judgeSetAside()
        judgeEndsByRecords()
        judgeTriesLeft()
        judgeShortening()
        judgeAborted(outcomes)
        judgeOrder()
        judgeSessions()
        judgeCalls()
        judgeEnds()
    }

    /// The records whose dead letters a reader of committed records sees.
    private func deadLetters() -> [PartitionID: Set<Int64>] {
        var letters: [PartitionID: Set<Int64>] = [:]
        for entry in world.outputs(of: SimulatedWorker.deadLetters).joined() {
            guard let source = world.source(of: entry.record) else { continue }
            letters[source.partition, default: []].insert(source.offset)
        }
        return letters
    }

    /// Each record that is no request has its dead letter.
    private mutating func judgeDeadLetters() {
        let letters = deadLetters()
        for (partition, requests) in world.requestAt.sorted(by: { $0.key < $1.key }) {
            for (offset, request) in requests.sorted(by: { $0.key < $1.key }) where !request.isValid {
                guard letters[partition]?.contains(offset) != true, !isExempt(partition, offset) else { continue }
                find(.noDeadLetter, "r\(request.number) at \(partition)@\(offset)\(whenAnswered(partition, offset))")
            }
        }
    }

    /// Within an output partition, outcomes of one key, or of one partition, follow each other as their requests do. A repetition
    /// after a crash may begin again further back, which is looked at only where nothing is repeated. Without transactions, what
    /// is too large, or was sent together with it, may be written later.
    private mutating func judgeOrder() {
        let isKept = plan.delivery == .exactlyOnce || (plan.isGraceful && !plan.hasLargeAnswers)
        guard plan.ordering != .unordered, isKept, world.movedOffsets.isEmpty else { return }
        for topic in ["results", "errors"] {
            for entries in world.outputs(of: topic) {
                var last: [String: Int64] = [:]
                for entry in entries {
                    guard let source = world.source(of: entry.record),
                        !world.wasWrittenAfterDeletion(of: source.partition, entry.record)
                    else { continue }
                    let key = entry.record.key.map { String(decoding: $0, as: UTF8.self) } ?? ""
                    let request = world.requestAt[source.partition]?[source.offset]
                    let requestClass = request.map(plan.requestClass) ?? .interactive
                    let line = "\(source.partition) \(plan.ordering == .key ? key : "") \(requestClass)"
                    if let before = last[line], before > source.offset,
                        !isRepeatedByAHandover(source.partition, source.offset)
                    {
                        find(.disordered, "in \(topic), \(line)@\(source.offset) stands behind @\(before)")
                    }
                    last[line] = source.offset
                }
            }
        }
    }

    // MARK: - Calls

    private mutating func judgeCalls() {
        let calls = world.provider.calls
        for provider in plan.providers {
            guard let limit = plan.rateLimit(of: provider) else { continue }
            judgeRate(calls.filter { $0.provider == provider }, limit)
        }
        judgeUse()
        judgeClasses()
        if let budget = plan.callsPerDay { judgeBudget(calls.filter { $0.provider == .hotpepper }, budget) }
        judgeLifetimes(calls)
        judgeRepetitions(calls)
        judgePauses(calls)
        judgeBill()
    }

    /// A member that leaves, or gives a partition back, finishes what is paid for. Looked at only where nothing else has a call
    /// made again: a failure, a call that takes too long, or a wait for the rate.
    private mutating func judgeRepetitions(_ calls: [SimulatedProvider.Call]) {
        guard plan.isGraceful, plan.failures == 0, plan.latency.upperBound < 1, !plan.hasRateLimit,
            !plan.givesCallsUp, world.movedOffsets.isEmpty
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

    /// True for a call for a request that was finished before and could not be committed.
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

    /// True for a call for a request whose outcome was in no transaction that was committed when a grace ended.
    private func wasInNoTransaction(_ call: SimulatedProvider.Call, again: Double) -> Bool {
        let earlier = world.provider.calls.filter { $0.keyword == call.keyword && $0.time < call.time }
            .map { world.beginning.duration(to: $0.time) / .seconds(1) }
        let partitions = world.requestAt.filter { $0.value.values.contains { $0.keyword == call.keyword } }.keys
        return world.handovers.contains { handover in
            handover.hasUsedGrace && handover.time <= again && partitions.contains(handover.partition)
                && earlier.contains { $0 < handover.time }
        }
    }

    /// What requests search for whose calls may be given up, so that a second call is made although the first one would have been
    /// answered: they take longer than calls do (`AttemptTimer`), or leave the next provider its part of a short time.
    var keywordsOfCallsGivenUp: Set<String> {
        let slow = Set(plan.poisons.filter { $0.value.seconds > plan.latency.upperBound }.keys)
        guard plan.secondProvider != nil else { return slow }
        return slow.union(plan.requests.filter { $0.lifetime != nil || plan.maxAge != nil }.map(\.keyword))
    }

    /// True for a call that began so late in the grace of a member that leaves that it may not have ended by then.
    /// - Parameter time: in seconds from the beginning.
    func mayBeGivenUp(_ time: Double) -> Bool {
        let slack = 0.1
        return world.graceEnds.contains { $0 - plan.latency.upperBound - slack <= time && time <= $0 + slack }
    }

    /// A bucket that fills at the limit's rate, and holds its burst, has a token for each call.
    private mutating func judgeRate(_ calls: [SimulatedProvider.Call], _ limit: RateLimit) {
        // Clocks that go wrong by parts per million. Each lane's part of the burst is at least one call.
        let rate = limit.perSecond * 1.01
        let burst = limit.burst + Double(world.mostAlive * plan.lanes)
        var tokens = burst
        var last: Instant?
        for call in calls {
            if let last {
                let seconds = last.duration(to: call.time) / .seconds(1)
                // Two processes of a static member use the same part until the former one is told. So does a member that is cut off,
                // and does not know that its partitions are another's by now.
                var (both, most) = (0.0, burst)
                if usesSharesTwice {
                    both = world.ownership.secondsOfSeveral(from: last, to: call.time)
                    // Each has a bucket of its own, which may be full for as long as it takes to empty it.
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
                    .overRate, "\(-tokens) too many at \(Double(seconds) / 1000) s, of \(limit.perSecond) a second")
            }
        }
    }

    /// True where a member that does not know yet that the group has given its partitions to another one uses their share beside that
    /// one: where it may not know for long, and where the other one does not wait until it does.
    private var usesSharesTwice: Bool {
        plan.isStatic || plan.keepsPartitionsWhileCutOff || plan.share == .byPartitions
    }

    /// Returns for how long members may have gone by a former number of partitions. With KIP-848 a member whose partitions stay learns
    /// of the new number only when it asks, and where a limit is shared by partitions the owner of a new one does not wait for that.
    /// Where it is shared by demand, the owner waits for longer than a member takes to ask that is not cut off.
    private func secondsOfFormerCount(from start: Instant, to end: Instant) -> Double {
        guard plan.groupProtocol == .consumer else { return 0 }
        // They ask every 2 s, and wait 2 s for an answer. Of two questions in a row one is answered.
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
        // A producer that had to try again writes later; and clocks differ.
        let slack = 1.0
        guard plan.faults.allSatisfy(\.isHarmless) else { return }
        for call in calls {
            let seconds = world.beginning.duration(to: call.time) / .seconds(1)
            // Its caller read the request at some time since the beginning, and went by what its wall clock showed then.
            let offset = world.leastWallOffset(of: call.member, upTo: call.time)
            if let end = ends[call.keyword], seconds > end - offset + slack {
                find(.calledTooLate, "\(call.keyword) is over at \(end) s and was called at \(seconds) s")
            }
        }
    }

    // MARK: - Ends

    private mutating func judgeEnds() {
        for worker in world.everyWorker {
            switch worker.state {
            case .running, .draining: find(.stuck, "\(worker.name) has not ended in time")
            case .ended(let failure):
                if let leak = worker.leaks.first { find(.leaked, leak) }
                // With a fault a worker may have to end; without one, never.
                if let failure, plan.isCalm { find(.ended, "\(worker.name): \(failure)") }
            case .killed: break
            }
        }
        if world.provider.underway < 0 { find(.leaked, "more calls ended than began") }
    }
}
