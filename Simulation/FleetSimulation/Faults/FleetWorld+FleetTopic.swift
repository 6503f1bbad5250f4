import Basics
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
            noteFleetTopicLost()
            network.reach { _ = $0.deleteTopic(DeleteTopicRequest(SimulatedWorker.fleetTopic)) }
            after(seconds) { [self] in
                noteFleetTopicLost()
                makeFleetTopic()
            }
        case .cut: cutFleetTopic()
        }
    }

    private func deny(_ permission: Permission, seconds: Double) {
        network.reach { $0.denied.formUnion([permission]) }
        after(seconds) { [network] in network.reach { $0.denied.subtract([permission]) } }
    }

    /// Deletes what was written before the day of the budget began. What was written since holds all that its count follows
    /// from, as it does in a topic that is kept for days.
    private func cutFleetTopic() {
        let now = network.scheduler.now
        let left = Self.dayOfBudget(at: WallTime(milliseconds: now / 1_000_000)).left
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
