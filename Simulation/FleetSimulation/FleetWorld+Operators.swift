import Basics
import EventContract
import QuotaSharing
import SimulatedKafka
import WorkerRuntime
import SimulatedKafkaClients
import SimulatedLoop

/// The operators' commands on the fleet.
extension FleetWorld {
    /// `locsearch budget set` and `locsearch budget reset`: an order for the day by the operator's clock.
    /// - Parameter callsOfDay: `nil` resets the day's count of calls to zero.
    func orderBudget(callsOfDay: Int?) {
        let day = Self.dayOfBudget(at: wallNow)
        ordersGiven += 1
        let order = BudgetMessage.Order(
            SimulatedWorker.account, period: Self.label(ofDay: day.number), limit: callsOfDay,
            isReset: callsOfDay == nil,
            time: "order \(ordersGiven)")
        let message = BudgetMessage(sender: "locsearch budget \(ordersGiven)", number: 1, order: order)
        let record = SimulatedRecord(value: SimulatedFleetClients.codec.bytes(of: .budget(message)))
        let topic = PartitionID(SimulatedWorker.fleetTopic, 0)
        // If the topic accepts no record, the command fails.
        network.reach { _ = $0.produce(ProduceRequest([ProduceRequest.Batch(topic, [record])])) }
    }

    /// The records of the fleet topic, with the time of each; `nil` if the plan deletes some.
    var fleetLog: [(time: Instant, message: FleetMessage)]? {
        let isWhole = plan.faults.allSatisfy { fault in
            switch fault.kind {
            case .fleetTopic(.remade, _), .fleetTopic(.cut, _): false
            default: true
            }
        }
        guard isWhole, let log = network.cluster.log(of: PartitionID(SimulatedWorker.fleetTopic, 0)) else { return nil }
        return log.committed.compactMap { entry in
            guard let message = entry.record.value.flatMap({ fleetMessages.message($0) }) else { return nil }
            let seconds = entry.record.timestamp.map { secondsOfSchedule(at: $0) } ?? 0
            return (beginning + .seconds(seconds), message)
        }
    }

    /// Returns the largest number of calls that the orders of a schedule together allow on one day.
    func mostCallsByOrders(of budget: Int) -> Int {
        var (highest, resets) = (budget, 0)
        for fault in plan.faults {
            guard case .budgetOrder(let calls) = fault.kind else { continue }
            if let calls { highest = max(highest, calls) } else { resets += 1 }
        }
        return highest * (resets + 1)
    }
}

// MARK: - Dead letters

extension FleetWorld {
    /// `locsearch dead-letters redrive`: sends the dead letters that were not sent yet back to the requests topic, 20 a second.
    func redrive() {
        let topic = PartitionID(SimulatedWorker.deadLetters, 0)
        var waiting: [(offset: Int64, letter: DeadLetter)] = []
        var marked: Set<Int64> = []
        for entry in network.cluster.log(of: topic)?.committed ?? [] {
            let record = entry.record
            let headers = record.headers.map { RecordHeader($0.name, $0.value) }
            if let mark = RedriveMark(value: record.value, headers: headers) { marked.insert(mark.offset) }
            if let letter = DeadLetter(key: record.key, value: record.value, headers: headers) {
                waiting.append((entry.offset, letter))
            }
        }

        // A record that crashes workers stays, unless the command is forced.
        waiting.removeAll { offset, letter in
            marked.contains(offset) || letter.isOutcome || letter.isWithoutContent
                || letter.reason == DeadLetter.crashedWorkers
        }
        say("\(waiting.count) dead letters go back")
        for (index, (offset, letter)) in waiting.enumerated() {
            after(Double(index) / 20) { [self] in redrive(letter, at: offset) }
        }
    }

    /// Writes a dead letter's record to the requests topic, and then a note that it was sent.
    ///
    /// If a run ends between the two, the next run sends the same dead letter again.
    private func redrive(_ letter: DeadLetter, at offset: Int64) {
        guard let source = letter.source,
            let request = requestAt[PartitionID(source.topic, source.partition)]?[source.offset]
        else { return }

        let record = SimulatedRecord(
            key: letter.key, value: letter.value,
            headers: letter.originalHeaders.map { SimulatedHeader($0.name, $0.value) }, timestamp: network.scheduler.now
        )
        guard write(record, to: PartitionID(SimulatedWorker.requests, request.partition), of: request) else { return }
        redriven += 1
        let mark = RedriveMark(partition: 0, offset: offset)
        let note = SimulatedRecord(value: nil, headers: mark.headers.map { SimulatedHeader($0.name, $0.value) })
        let topic = PartitionID(SimulatedWorker.deadLetters, 0)
        network.reach { _ = $0.produce(ProduceRequest([ProduceRequest.Batch(topic, [note])])) }
    }
}

// MARK: - Offsets

extension FleetWorld {
    /// A range of offsets that the group was moved back over.
    struct MovedOffsets {
        let partition: PartitionID
        let offsets: Range<Int64>
    }

    /// Stops all workers, moves the group's offsets back as `kafka-consumer-groups --reset-offsets` does, and starts the workers again.
    func moveOffsetsBack(by records: Int64) {
        let places = workers.filter { $0.value.isAlive }.keys.sorted()
        for worker in everyWorker { worker.drain() }
        onceGroupIsEmpty(thenStart: places) { [self] in commitOffsets(movedBackBy: records) }
    }

    /// Lets an operator notice, 2 s after a partition was paused because of its offset, that it is not read, and act.
    func notePause(of partition: PartitionID) {
        say("reading of \(partition) stops, because its offset is past its end")
        guard pausedPartitions.insert(partition).inserted, pausedPartitions.count == 1 else { return }
        after(2) { [self] in resetPausedPartitions() }
    }

    /// `locsearch offsets reset`: stops all workers, moves the group to the beginning of the paused
    /// partitions, and starts the workers again.
    private func resetPausedPartitions() {
        let places = workers.filter { $0.value.isAlive }.keys.sorted()
        for worker in everyWorker { worker.drain() }
        onceGroupIsEmpty(thenStart: places) { [self] in
            for partition in pausedPartitions {
                let start = network.cluster.log(of: partition)?.logStart ?? 0
                let end = network.cluster.log(of: partition)?.logEnd ?? 0
                let offsets = [partition: OffsetToCommit(start)]
                network.reach { _ = $0.offsetCommit(OffsetCommitRequest(SimulatedWorker.group, offsets)) }
                movedOffsets.append(MovedOffsets(partition: partition, offsets: start..<end))
                say("reading of \(partition) starts at \(start)")
            }
        }
    }

    /// Kills all workers, and commits the group's offsets without their metadata, as generic tools do.
    /// - Parameters:
    ///   - records: The number of records by which the new offsets lie before the old ones.
    ///   - keepsText: True if the metadata is copied to the new offsets.
    func loseMetadata(movingBackBy records: Int64 = 0, keepingText keepsText: Bool = false) {
        let places = workers.filter { $0.value.isAlive }.keys.sorted()
        for worker in everyWorker where worker.isAlive { kill(worker) }
        onceGroupIsEmpty(thenStart: places) { [self] in commitOffsets(movedBackBy: records, keepingText: keepsText) }
    }

    /// Waits until the group is empty, as the commands require.
    ///
    /// If a worker was started meanwhile, the command is abandoned. Paused partitions are then left to the next attempt.
    private func onceGroupIsEmpty(thenStart places: [Int], commit: @escaping () -> Void) {
        onceGroupIsEmpty(
            before: simulation.now + .seconds(plan.shutdownGrace + 25), thenStart: places, commit: commit)
    }

    private func onceGroupIsEmpty(before end: Instant, thenStart places: [Int], commit: @escaping () -> Void) {
        let hasMembers = !network.cluster.members(of: SimulatedWorker.group).isEmpty
        let hasStarted = everyWorker.contains { $0.state == .running }
        if hasMembers || everyWorker.contains(where: \.isAlive), !hasStarted, simulation.now < end {
            return after(0.5) { [self] in onceGroupIsEmpty(before: end, thenStart: places, commit: commit) }
        }

        if !hasMembers, !hasStarted {
            commit()
            pausedPartitions = []
        } else if !pausedPartitions.isEmpty {
            after(2) { [self] in resetPausedPartitions() }
        }
        for place in places where workers[place]?.isAlive != true { launch(place) }
    }

    private func commitOffsets(movedBackBy records: Int64, keepingText keepsText: Bool = false) {
        let group = SimulatedWorker.group
        let commits = network.cluster.commits(by: group)
        // The group also moves back over what was done beyond its offset, because the command keeps no metadata. And it moves back
        // over the offsets that a crashed worker's transaction is about to commit: the later commit wins.
        let farthest = commits.merging(network.cluster.pendingCommits(by: group)) { $0.offset > $1.offset ? $0 : $1 }
        let committed = farthest.mapValues { $0.done.end ?? $0.offset }
        let offsets = commits.mapValues { max(0, $0.offset - records) }
        let moved = commits.mapValues {
            OffsetToCommit(max(0, $0.offset - records), metadata: keepsText ? $0.metadata : "")
        }
        let answer = network.reach { $0.offsetCommit(OffsetCommitRequest(group, moved)) }
        for (partition, error) in answer.results where error == .none {
            guard let from = offsets[partition], let end = committed[partition], from < end else { continue }
            movedOffsets.append(MovedOffsets(partition: partition, offsets: from..<end))
            say("\(partition) moves back from \(end) to \(from)")
        }
    }

    /// Returns the number of outcomes that a request may have without repetitions: one, and one more each
    /// time the group was moved back over it.
    func mostOutcomes(of partition: PartitionID, at offset: Int64) -> Int {
        1 + movedOffsets.count { $0.partition == partition && $0.offsets.contains(offset) }
    }
}
