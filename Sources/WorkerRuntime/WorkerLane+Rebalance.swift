public import Kafka
internal import Logging

extension WorkerLane: RebalanceListener {
    public func assigned(_ partitions: [AssignedPartition]) async {
        for partition in partitions { owned[partition.id] = OwnedPartition(partition) }
        meters.assigned(owned.count)
        log.info("partitions assigned", metadata: ["added": "\(partitions.map(\.id))", "owned": "\(owned.count)"])
    }

    public func revoked(_ partitions: [AssignedPartition]) async {
        let gone = partitions.compactMap { owned[$0.id] }
        await waitUntilIdle(gone, within: configuration.revokeGrace)
        await storeFrontiers()
        release(partitions)
        log.info("partitions revoked", metadata: ["removed": "\(partitions.map(\.id))", "owned": "\(owned.count)"])
    }

    public func lost(_ partitions: [AssignedPartition]) async {
        for partition in partitions { owned[partition.id].map(giveUp) }
        release(partitions)
        log.warning(
            "partitions lost: other members have them already, what was in flight is done again there",
            metadata: ["removed": "\(partitions.map(\.id))", "owned": "\(owned.count)"])
    }

    private func release(_ partitions: [AssignedPartition]) {
        for partition in partitions where owned[partition.id]?.id == partition { owned[partition.id] = nil }
        meters.assigned(owned.count)
    }
}
