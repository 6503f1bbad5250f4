import EventContract
import LocationSearch
import SimulatedKafka
import SimulatedKafkaClients
import SimulatedLoop
import WorkerRuntime

/// Rules about records that crash workers: docs/guarantees.md, "A record that crashes workers".
extension Judge {
    /// Returns the crashes that docs/guarantees.md allows for a record that crashes each process within a second.
    ///
    /// Two owners crash while it runs together with others. It then crashes one process while it runs alone, or three if it leaves
    /// the process no time for a crash note.
    private static func costOf(_ poison: FleetPlan.Poison) -> (alone: Int, all: Int) { poison.traps ? (1, 3) : (3, 5) }

    /// Checks that only records that crashed processes are set aside, and that each has an error event with that reason.
    mutating func judgeSetAside() {
        let reason = Array(DeadLetter.crashedWorkers.utf8)
        var errors: [PartitionID: Set<Int64>]?
        for entry in world.outputs(of: SimulatedWorker.deadLetters).joined() {
            let isSetAside = entry.record.headers.contains { $0.name == "dead-letter-reason" && $0.value == reason }
            guard isSetAside, let source = world.source(of: entry.record) else { continue }
            let place = "\(source.partition)@\(source.offset)"
            let time = world.secondsOfSchedule(at: entry.record.timestamp ?? 0)
            guard let request = world.requestAt[source.partition]?[source.offset],
                let poison = world.poisons[request.keyword]
            else {
                find(.setAside, place)
                continue
            }

            let crashes = world.crashes.filter { $0.time <= time }
            let own = crashes.count { $0.keyword == request.keyword }
            if own == 0 { find(.setAside, place) }
            let least = Self.costOf(poison)
            if plan.isOnlyPoisoned, own < least.alone || crashes.count < least.all {
                find(.setAsideEarly, "\(place) after \(own) crashes by it, of \(crashes.count)")
            }
            let internals = errors ?? internalErrors()
            errors = internals
            if internals[source.partition]?.contains(source.offset) != true {
                find(.noDeadLetter, "\(place) is set aside without an error event")
            }
        }
    }

    /// Returns the requests that were answered with `internal`.
    private func internalErrors() -> [PartitionID: Set<Int64>] {
        var errors: [PartitionID: Set<Int64>] = [:]
        for entry in world.outputs(of: "errors").joined() {
            let headers = entry.record.headers.map { RecordHeader($0.name, $0.value) }
            guard let source = world.source(of: entry.record),
                let event = try? OutcomeReader().read(value: entry.record.value, headers: headers),
                case .failed(let failure) = event.body, failure.code == SearchError.Code.internal.rawValue
            else { continue }
            errors[source.partition, default: []].insert(source.offset)
        }
        return errors
    }

    /// Checks that a record crashes no more processes than documented, if nothing else goes wrong.
    ///
    /// Two kinds of crashes do not count: that of a process that had given partitions up before, and one soon after a crash by
    /// another record, because the group was not at rest.
    mutating func judgeEndsByRecords() {
        guard plan.isOnlyPoisoned, !world.poisons.isEmpty else { return }
        let ends = world.crashes.count { crash in
            !world.handovers.contains { $0.process == crash.process && $0.time < crash.time }
                && !world.crashes.contains { other in
                    let restless = other.time..<(other.time + FleetWorld.timeToFindOut)
                    return other.keyword != crash.keyword && restless.contains(crash.time)
                }
        }
        let most = world.poisons.values.reduce(0) { $0 + Self.costOf($1).all } + endsBeforeItsTurn
        if ends > most { find(.crashedTooOften, "\(ends) processes crashed, of at most \(most)") }
    }

    /// The number of crashes until the period in which records run alone suffices for all records of a partition.
    ///
    /// The period is 5 s at first, and doubles with each further crash.
    private var endsBeforeItsTurn: Int {
        let ofPartitions = Dictionary(grouping: plan.requests, by: \.partition).values
        // A note is written before each record begins, with exactly-once in a transaction.
        let longest = plan.latency.upperBound + (plan.delivery == .exactlyOnce ? 0.1 : 0.01)
        let needed = longest * Double(ofPartitions.map(\.count).max() ?? 0)
        var (time, ends) = (5.0, 0)
        while time < needed { (time, ends) = (time * 2, ends + 1) }
        return ends
    }

    /// Checks that owners that leave in order withdraw their crash notes, if nothing goes wrong.
    mutating func judgeTriesLeft() {
        // With transactions, a note that is in flight when the worker drains may stay: seeds 7152 and 7868.
        guard plan.isGraceful, plan.delivery == .atLeastOnce else { return }
        for (partition, commit) in world.network.cluster.commits(by: SimulatedWorker.group) {
            let tries = commit.crashes.tries
            // A member that leaves during a rebalance commits nothing, so it cannot withdraw its note.
            let isLeftBehind = world.handovers.contains { $0.partition == partition && $0.formsSince != nil }
            if tries > 0, !isLeftBehind { find(.tryLeft, "\(tries) tries of \(partition) at \(commit.offset)") }
        }
    }
}
