import Basics
import QuotaSharing
import Resilience
import SimulatedKafka
import SimulatedKafkaClients
import SimulatedLoop

/// The fleet topic and its faults.
extension FleetWorld {
    private static let fleetPartition = PartitionID(SimulatedWorker.fleetTopic, 0)

    /// Creates the topic if workers use it and it does not exist.
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

    /// Writes the records of the next `seconds` a second time after that, as producers without idempotence do if answers are lost.
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

    /// Records that a worker that has read nothing of the topic opens it.
    ///
    /// If the topic was recreated and no member has written the day's count yet, the worker counts from zero
    /// until one does: see docs/budgets.md, 8.
    func noteCountBegun(by member: String) {
        // The topic may have been looked up a moment before it is opened.
        guard budgetCount.isTopicRemade, !hasStateInFleetTopic(before: network.scheduler.now - 500_000_000) else {
            return
        }
        let count = BudgetCount.Beginning(
            member: member, time: simulation.now, day: Self.dayOfBudget(at: wallTime).number)
        budgetCount.beginnings.append(count)
        after(BudgetCount.timeToTell) { [self] in settle(count) }
    }

    /// Decides all open cases at the end of a schedule.
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

    /// Deletes the records before the current budget day. The later ones suffice for its count, as in a topic with days of retention.
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

/// The effect of a recreated fleet topic on the count of the day's calls.
struct BudgetCount {
    /// The seconds within which workers that have the count write it. They check for the topic every 2 s.
    static let timeToTell = 3.0

    /// A worker that opened the topic before any member had written the count.
    struct Beginning: Equatable {
        let member: String
        let time: Instant
        let day: Int
    }

    var isTopicRemade = false
    /// The periods in which the topic was missing, or the count was not written yet.
    var remakes: [ClosedRange<Instant>] = []
    /// The periods in which members stood still or were cut off.
    var absences: [(member: String, time: ClosedRange<Instant>)] = []
    /// The workers for which it is still open whether another member publishes the count in time.
    var beginnings: [Beginning] = []
    /// The days whose count was lost with the topic, because no running worker had it.
    var forgottenDays: Set<Int> = []
    /// The periods in which members counted from zero, because no other member had published the count.
    var uncounted: [(member: String, time: ClosedRange<Instant>)] = []

    func counts(_ call: SimulatedProvider.Call) -> Bool {
        !forgottenDays.contains(call.day)
            && !uncounted.contains { $0.member == call.member && $0.time.contains(call.time) }
            && !mayHavePassedOver(call)
    }

    /// True for a member that was away while the topic was recreated.
    ///
    /// If the new topic has grown past the member's position by the time it is back, the member does not notice the change and skips
    /// the records before that position: see docs/budgets.md, 8.
    private func mayHavePassedOver(_ call: SimulatedProvider.Call) -> Bool {
        absences.contains { absence in
            absence.member == call.member && absence.time.upperBound <= call.time
                && remakes.contains { $0.overlaps(absence.time) }
        }
    }
}
