import Basics
import QuotaSharing
import Resilience
import SimulatedKafka
import SimulatedKafkaClients
import SimulatedLoop

/// The topic in which workers talk, and what goes wrong with it.
extension FleetWorld {
    private static let fleetPartition = PartitionID(SimulatedWorker.fleetTopic, 0)

    /// Makes the topic where workers use it and there is none.
    func makeFleetTopic() {
        guard plan.usesFleetTopic else { return }
        network.reach { _ = $0.createTopic(CreateTopicRequest(SimulatedWorker.fleetTopic)) }
    }

    func strikeFleetTopic(_ trouble: Fault.FleetTopicTrouble, seconds: Double) {
        switch trouble {
        case .refusesReaders: deny(.readTopic(SimulatedWorker.fleetTopic), seconds: seconds)
        case .refusesWriters: deny(.writeTopic(SimulatedWorker.fleetTopic), seconds: seconds)
        case .remade:
            budgetCount.isTopicRemade = true
            budgetCount.remakes.append(simulation.now...simulation.now + .seconds(seconds + BudgetCount.timeToTell))
            network.reach { _ = $0.deleteTopic(DeleteTopicRequest(SimulatedWorker.fleetTopic)) }
            after(seconds) { [self] in makeFleetTopic() }
        case .cut: cutFleetTopic()
        case .doubled: doubleFleetRecords(of: seconds)
        }
    }

    /// Has what is written to the topic from now on written again after so many seconds, as by producers without idempotence whose
    /// answers are lost.
    private func doubleFleetRecords(of seconds: Double) {
        let first = network.cluster.log(of: Self.fleetPartition)?.logEnd ?? 0
        after(seconds) { [network] in
            let entries = network.cluster.log(of: Self.fleetPartition)?.entries ?? []
            let records = entries.filter { $0.offset >= first }.map { entry in
                var record = entry.record
                record.timestamp = nil
                return record
            }
            guard !records.isEmpty else { return }
            network.reach {
                _ = $0.produce(ProduceRequest([ProduceRequest.Batch(Self.fleetPartition, records)], acks: 1))
            }
        }
    }

    /// Notes that a worker has opened the topic for the first time. Where it was made anew, and nobody has written the day's count
    /// down yet, the worker counts from zero until somebody does: see docs/internals/budgets.md, 8.
    func noteCountBegun(by member: String) {
        // What is opened may have been looked up a moment ago.
        guard budgetCount.isTopicRemade, !hasStateInFleetTopic(before: network.scheduler.now - 500_000_000) else {
            return
        }
        let count = BudgetCount.Beginning(
            member: member, time: simulation.now, day: Self.dayOfBudget(at: wallTime).number)
        budgetCount.beginnings.append(count)
        after(BudgetCount.timeToTell) { [self] in settle(count) }
    }

    /// Decides about all that is left open when a schedule ends.
    func settleCounts() { budgetCount.beginnings.forEach(settle) }

    private func settle(_ count: BudgetCount.Beginning) {
        guard let index = budgetCount.beginnings.firstIndex(of: count) else { return }
        budgetCount.beginnings.remove(at: index)
        if hasStateInFleetTopic(before: network.scheduler.now) {
            budgetCount.uncounted.append((count.member, count.time...simulation.now))
        } else {
            budgetCount.forgottenDays.insert(count.day)
        }
    }

    private func hasStateInFleetTopic(before time: Int64) -> Bool {
        let entries = network.cluster.log(of: Self.fleetPartition)?.entries ?? []
        return entries.contains { entry in
            guard case .budget(let message)? = entry.record.value.flatMap(fleetMessages.message) else { return false }
            return message.snapshot != nil && (entry.record.timestamp ?? 0) <= time
        }
    }

    private var wallTime: WallTime { WallTime(milliseconds: network.scheduler.now / 1_000_000) }

    private func deny(_ permission: Permission, seconds: Double) {
        network.reach { $0.denied.formUnion([permission]) }
        after(seconds) { [network] in network.reach { $0.denied.subtract([permission]) } }
    }

    /// Deletes what was written before the day of the budget began. What was written since holds all that its count follows
    /// from, as it does in a topic that is kept for days.
    private func cutFleetTopic() {
        let now = network.scheduler.now
        let left = Self.dayOfBudget(at: wallTime).left
        // Members' clocks differ a little.
        let start = now - Int64((Self.day - left + 1) * 1e9)
        network.reach { cluster in
            guard let log = cluster.log(of: Self.fleetPartition) else { return }
            let kept = log.entries.first { ($0.record.timestamp ?? now) >= start }
            let offset = min(kept?.offset ?? log.logEnd, log.highWatermark)
            _ = cluster.deleteRecords(DeleteRecordsRequest([Self.fleetPartition: offset]))
        }
    }
}

/// What a fleet's topic that is made anew does to the count of the day's calls.
struct BudgetCount {
    /// Seconds within which workers that know the count write it down. They look for the topic every 2 s.
    static let timeToTell = 3.0

    /// A worker that has opened a topic in which nobody had written the count down.
    struct Beginning: Equatable {
        let member: String
        let time: Instant
        let day: Int
    }

    var isTopicRemade = false
    /// From when to when the topic was away, and its count not told.
    var remakes: [ClosedRange<Instant>] = []
    /// When which members stood still, or were cut off.
    var absences: [(member: String, time: ClosedRange<Instant>)] = []
    /// Those of whom it is not known yet whether anybody tells them the count.
    var beginnings: [Beginning] = []
    /// The days whose count went with the topic, because no worker that knew it ran any more.
    var forgottenDays: Set<Int> = []
    /// When which members counted from zero, because nobody had told them.
    var uncounted: [(member: String, time: ClosedRange<Instant>)] = []

    func counts(_ call: SimulatedProvider.Call) -> Bool {
        !forgottenDays.contains(call.day)
            && !uncounted.contains { $0.member == call.member && $0.time.contains(call.time) }
            && !mayHavePassedOver(call)
    }

    /// True for a member that was away while the topic was made anew. Where the new one has grown past what the member has read by the
    /// time it is back, it does not notice, and passes over what stands before that: see docs/internals/budgets.md, 8.
    private func mayHavePassedOver(_ call: SimulatedProvider.Call) -> Bool {
        absences.contains { absence in
            absence.member == call.member && absence.time.upperBound <= call.time
                && remakes.contains { $0.overlaps(absence.time) }
        }
    }
}
