import SimulatedKafka
import SimulatedKafkaClients
import SimulatedLoop

/// The effects of faults at the brokers, and of operators' changes to topics.
extension FleetWorld {
    func strike(_ fault: ClusterFault) {
        let cluster = network.cluster
        switch fault {
        case .deniesGroup(let seconds): deny([.readGroup(SimulatedWorker.group)], for: seconds)
        case .deniesTransactions(let seconds):
            deny(Set(transactionalIDs.map(Permission.writeTransactionalID)), for: seconds)
        case .diskFull(let broker, let failover, let seconds):
            fillDisk(of: broker, failover: failover, seconds: seconds)
        case .tooFewReplicas(let topic, let seconds):
            network.reach { _ in partitions(of: topic).forEach { cluster.setInSyncReplicas(of: $0, to: 0) } }
            after(seconds) { [self] in
                network.reach { _ in partitions(of: topic).forEach { cluster.setInSyncReplicas(of: $0, to: 1) } }
            }
        case .slowReplication(let topic, let seconds):
            network.reach { _ in partitions(of: topic).forEach { cluster.holdReplication(of: $0, true) } }
            after(seconds) { [self] in
                network.reach { _ in partitions(of: topic).forEach { cluster.holdReplication(of: $0, false) } }
            }
        case .limitsSize(let topic, let bytes, let seconds):
            network.reach { $0.setMaxMessageBytes(of: topic, to: bytes) }
            guard let seconds else { return }
            after(seconds) { [self] in
                network.reach { $0.setMaxMessageBytes(of: topic, to: plan.sizeLimits[topic]) }
            }
        case .addPartitions(let topic, let count):
            network.reach { _ = $0.createPartitions(CreatePartitionsRequest(topic, count: count)) }
            if topic == SimulatedWorker.requests { growths.append(simulation.now) }
        case .deleteRecords(let partition):
            let id = PartitionID(SimulatedWorker.requests, partition)
            network.reach { _ = $0.deleteRecords(DeleteRecordsRequest([id: -1])) }
        case .shortRetention(let seconds):
            network.reach { $0.setRetention(of: SimulatedWorker.requests, to: ClusterRules.second) }
            after(seconds) { [network] in network.reach { $0.setRetention(of: SimulatedWorker.requests, to: nil) } }
        case .compact:
            network.reach { cluster in
                for partition in partitions(of: SimulatedWorker.requests) { cluster.compact(partition) }
            }
        case .makeAgain(let topic, let gap): makeAgain(topic, gap: gap)
        }
    }

    private func makeAgain(_ topic: String, gap: Double) {
        let before = partitions(of: topic)
        if topic == SimulatedWorker.requests { archiveRequests() }
        for partition in before where topic != SimulatedWorker.requests {
            guard let log = network.cluster.log(of: partition) else { continue }
            deletedOutputs[topic, default: []].append(log.committed)
            for entry in log.entries where entry.offset >= log.lastStableOffset {
                guard let source = source(of: entry.record) else { continue }
                excused[source.partition, default: []].insert(source.offset)
            }
        }
        network.reach { _ = $0.deleteTopic(DeleteTopicRequest(topic)) }
        after(gap) { [self] in
            let request = CreateTopicRequest(topic, settings(of: topic, Int32(before.count)))
            network.reach { _ = $0.createTopic(request) }
        }
    }

    /// Ends all faults of this kind.
    func healCluster() {
        network.reach { cluster in
            cluster.fullDisks = []
            for topic in Self.topics(plan).map(\.0) {
                for partition in partitions(of: topic) {
                    cluster.setInSyncReplicas(of: partition, to: 1)
                    cluster.holdReplication(of: partition, false)
                }
            }
        }
    }

    /// Returns the partitions that a topic has now.
    func partitions(of topic: String) -> [PartitionID] {
        let count = Int32(network.cluster.metadata(MetadataRequest([topic])).topics.first?.partitions.count ?? 0)
        return (0..<count).map { PartitionID(topic, $0) }
    }

    private func deny(_ rights: Set<Permission>, for seconds: Double) {
        network.reach { $0.denied.formUnion(rights) }
        after(seconds) { [network] in network.reach { $0.denied.subtract(rights) } }
    }

    private func fillDisk(of broker: Int32, failover: Double, seconds: Double) {
        network.reach { _ = $0.fullDisks.insert(broker) }
        after(min(failover, seconds)) { [self] in
            guard plan.brokers > 1, network.cluster.fullDisks.contains(broker) else { return }
            network.reach { $0.moveLeaders(from: broker) }
        }
        after(seconds) { [network] in network.reach { _ = $0.fullDisks.remove(broker) } }
    }
}
