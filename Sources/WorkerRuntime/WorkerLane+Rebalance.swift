public import Kafka
internal import LocationSearch
internal import Logging

extension WorkerLane: RebalanceListener {
    public func assigned(_ partitions: [AssignedPartition]) async {
        for partition in partitions { owned[partition.id] = OwnedPartition(partition) }
        meters.assigned(owned.count)
        await tellFleet()
        log.info("partitions assigned", metadata: ["added": "\(partitions.map(\.id))", "owned": "\(owned.count)"])
    }

    public func revoked(_ partitions: [AssignedPartition]) async {
        let gone = partitions.compactMap { owned[$0.id] }
        await waitUntilIdle(gone, within: configuration.revokeGrace)
        await storeFrontiers()
        release(partitions)
        // Before the loss is acknowledged, when its next owner takes over this part of the rate.
        await tellFleet()
        log.info("partitions revoked", metadata: ["removed": "\(partitions.map(\.id))", "owned": "\(owned.count)"])
    }

    public func lost(_ partitions: [AssignedPartition]) async {
        for partition in partitions { owned[partition.id].map(giveUp) }
        release(partitions)
        await tellFleet()
        log.warning(
            "partitions lost: other members have them already, what was in flight is done again there",
            metadata: ["removed": "\(partitions.map(\.id))", "owned": "\(owned.count)"])
    }

    private func tellFleet() async {
        guard let fleet else { return }
        // A topic may grow: what is known is used at once, what is new when the broker has said it.
        if !owned.isEmpty, let count = await consumer.partitionCount(of: configuration.topics.requests) {
            partitionCount = count
        }
        await fleet.owns(owned.count, of: partitionCount)
    }

    private func release(_ partitions: [AssignedPartition]) {
        for partition in partitions where owned[partition.id]?.id == partition {
            let gone = owned.removeValue(forKey: partition.id)
            gone.map(dropReady)
        }
        meters.assigned(owned.count)
    }
}
