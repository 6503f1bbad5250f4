internal import EventLoop
public import Kafka
internal import LocationSearch
internal import Logging

extension WorkerLane: RebalanceListener {
    public func assigned(_ partitions: [AssignedPartition]) async {
        for partition in partitions { owned[partition.id] = OwnedPartition(partition) }
        meters.assigned(owned.count)
        await learnPartitionCount()
        await tellFleet()
        log.info("partitions assigned", metadata: ["added": "\(partitions.map(\.id))", "owned": "\(owned.count)"])
    }

    public func revoked(_ partitions: [AssignedPartition]) async {
        let gone = partitions.compactMap { owned[$0.id] }
        // Records may be on their way from the consumer: taken once the last of the others has ended, their outcomes
        // would leave behind the commit.
        for partition in gone { partition.isLeaving = true }
        // Others wait for us: what waits for its turn, or for a breaker, does not hold them up.
        if !isDraining { for partition in gone { partition.giveUpUnpaid() } }
        // At once, for what is finished is safe then, whatever comes of the rest: the sooner, the likelier is the group
        // still the one that we are a member of.
        await commitFinished()
        await waitUntilIdle(gone, before: .now + configuration.revokeGrace)
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

    private func tellFleet() async { await fleet?.owns(owned.count, of: partitionCount) }

    /// A topic may grow, so its size is asked for with each assignment. Without it no share is known: what the broker
    /// does not say at once is asked for again until it does.
    private func learnPartitionCount() async {
        guard fleet != nil, !owned.isEmpty else { return }
        if let count = await consumer.partitionCount(of: configuration.topics.requests) {
            partitionCount = count
        } else if partitionCount == 0 {
            log.warning("the topic's partitions are not known yet: no share of the rate until the broker says how many")
            loop.schedule(at: .now + .seconds(1)) { [weak self] in
                self?.assumeIsolated { lane in _ = Task { await lane.learnShare() } }
            }
        }
    }

    private func learnShare() async {
        await learnPartitionCount()
        await tellFleet()
    }

    private func release(_ partitions: [AssignedPartition]) {
        for partition in partitions where owned[partition.id]?.id == partition {
            let gone = owned.removeValue(forKey: partition.id)
            gone.map(dropReady)
        }
        meters.assigned(owned.count)
    }
}
