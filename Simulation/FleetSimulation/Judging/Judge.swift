import Basics
import LocationSearch
import QuotaSharing
import Resilience
import SimulatedKafka
import SimulatedKafkaClients
import SimulatedLoop
import WorkerRuntime

/// Compares the results of a schedule with the promises of the guarantees page.
struct Judge {
    let world: FleetWorld
    var plan: FleetPlan { world.plan }
    private(set) var verdict = Verdict()
    /// The outcomes as last read, with the last stable offsets at that time.
    private var known: (ends: [[Int64]], outcomes: [PartitionID: [Int64: Int]])?
    /// True once everything was answered, so that the workers are drained.
    private var wasAnswered = false

    init(_ world: FleetWorld) { self.world = world }

    mutating func find(_ rule: Verdict.Rule, _ text: String) {
        // The first finding of a rule is enough; the others follow from it.
        guard !verdict.findings.contains(where: { $0.rule == rule }) else { return }
        verdict.findings.append(Verdict.Finding(rule: rule, text: text))
    }

    mutating func note(_ error: SimulationError) { find(.escaped, "\(error)") }

    // MARK: - Outcomes

    /// Returns the number of outcomes that a reader of committed records sees for each request, by partition and offset.
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

    /// Returns the number of outcomes of a request of a deleted topic that were written after the deletion; 0 for any other.
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

    /// Describes when a request got its outcomes, for the text of a finding.
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

    /// True if readers of committed records see an outcome of each written request, and each dead letter.
    ///
    /// A transaction that a crash left open hides the records behind it until the brokers end it.
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

    /// Checks the rule that holds at any moment: requests before a committed offset have outcomes.
    /// - Returns: true if everything is answered.
    mutating func judgeProgress() -> Bool {
        let outcomes = outcomes()
        // With transactions, offsets and outcomes become visible one after the other, as markers are written.
        if plan.delivery == .atLeastOnce { judgeCommits(outcomes) }
        // An operator may be about to have a partition read again.
        wasAnswered = world.pausedPartitions.isEmpty && isEverythingAnswered(outcomes)
        return wasAnswered
    }

    /// True for a request that needs no outcome.
    ///
    /// It was deleted or compacted away. Its outcome was in an open transaction when its topic was deleted. It lies below
    /// an offset of a former topic at which a member went on in the new one. Or the schedule has ended, and the next member
    /// would read it.
    private func isExempt(_ partition: PartitionID, _ offset: Int64) -> Bool {
        !world.isThere(partition, offset) || world.excused[partition]?.contains(offset) == true
            || world.mayBePassedOver(partition, offset) || wasAnswered && world.isReadFromStart(partition)
    }

    private mutating func judgeCommits(_ outcomes: [PartitionID: [Int64: Int]]) {
        for (partition, commit) in world.network.cluster.commits(by: SimulatedWorker.group) {
            let (committed, done, answered) = (commit.offset, commit.done, outcomes[partition] ?? [:])
            if world.isStale(committed, of: partition) { continue }
            let missing = world.requestAt[partition]?.keys.filter {
                ($0 < committed || done.contains($0)) && answered[$0] == nil
            }
            for offset in missing?.sorted() ?? [] {
                if !isExempt(partition, offset) {
                    find(.committedTooFar, "\(partition) is committed up to \(committed), but \(offset) has no outcome")
                }
            }
        }
    }

    /// Checks all rules at the end of a schedule.
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
        if let unread = world.unreadCommits.first { find(.committedTooFar, unread) }
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
        judgeResumption()
        judgeCare()
        judgeEnds()
    }

    /// Returns the records whose dead letters a reader of committed records sees.
    private func deadLetters() -> [PartitionID: Set<Int64>] {
        var letters: [PartitionID: Set<Int64>] = [:]
        for entry in world.outputs(of: SimulatedWorker.deadLetters).joined() {
            guard let source = world.source(of: entry.record) else { continue }
            letters[source.partition, default: []].insert(source.offset)
        }
        return letters
    }

    /// Checks that each invalid record has its dead letter.
    private mutating func judgeDeadLetters() {
        let letters = deadLetters()
        for (partition, requests) in world.requestAt.sorted(by: { $0.key < $1.key }) {
            for (offset, request) in requests.sorted(by: { $0.key < $1.key }) where !request.isValid {
                guard letters[partition]?.contains(offset) != true, !isExempt(partition, offset) else { continue }
                find(.noDeadLetter, "r\(request.number) at \(partition)@\(offset)\(whenAnswered(partition, offset))")
            }
        }
    }

    /// Checks that within an output partition, outcomes of one key or partition have the order of their requests.
    ///
    /// A repetition after a crash may start further back, so this applies only if nothing is repeated. Without transactions, outcomes
    /// that are too large, or shared a batch with one, may be written later.
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
                        find(.disordered, "in \(topic), \(line)@\(source.offset) comes after @\(before)")
                    }
                    last[line] = source.offset
                }
            }
        }
    }

    // MARK: - Ends

    private mutating func judgeEnds() {
        for worker in world.everyWorker {
            switch worker.state {
            case .running, .draining: find(.stuck, "\(worker.name) has not stopped in time")
            case .ended(let failure):
                if let leak = worker.leaks.first { find(.leaked, leak) }
                // With a fault a worker may have to end; without one, never.
                if let failure, plan.isCalm { find(.ended, "\(worker.name): \(failure)") }
            case .killed: break
            }
        }
        if world.provider.underway < 0 { find(.leaked, "more calls ended than started") }
    }
}
