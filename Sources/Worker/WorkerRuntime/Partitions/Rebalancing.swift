internal import EventLoop
internal import Kafka
internal import Logging
internal import QuotaSharing

/// Handles rebalances: assigned, revoked and lost partitions. The group waits for each call, and there is one call at a
/// time.
///
/// Confined to its lane; not `Sendable`.
final class Rebalancing {
    private let partitions: PartitionTable
    private let delivery: LaneDelivery
    private let source: any RequestSource
    /// The requests that have not begun; `nil` without a waiting room.
    private let waitingRoom: WaitingRoom?
    /// The lane's connection to the fleet, whose quota share follows the lane's partitions.
    let fleet: FleetTicker
    /// The names of the request topics.
    private let requestTopics: Set<String>
    /// The first request topic. Its partitions determine quota shares.
    private let sharedTopic: String
    private let revokeGrace: Duration
    private let isOrdered: Bool
    private let loop: EventLoop
    private let meters: WorkerMeters
    private let log: Logger
    /// The number of partitions of `sharedTopic`; 0 while unknown.
    private var partitionCount = 0
    private var isUnknownShareLogged = false

    init(
        partitions: PartitionTable, waitingRoom: WaitingRoom? = nil, delivery: LaneDelivery,
        source: any RequestSource, fleet: FleetTicker, configuration: WorkerConfiguration, loop: EventLoop,
        meters: WorkerMeters, log: Logger
    ) {
        self.partitions = partitions
        (self.waitingRoom, self.delivery, self.source, self.fleet) = (waitingRoom, delivery, source, fleet)
        requestTopics = Set(configuration.topics.requestTopics.map(\.name))
        sharedTopic = configuration.topics.requests
        revokeGrace = configuration.revokeGrace
        isOrdered = configuration.ordering != .unordered
        (self.loop, self.meters, self.log) = (loop, meters, log)
    }

    /// `false` until a broker has reported the topic's number of partitions. Until then, a rate shared by partitions is
    /// zero, and every request would end as `rate-limited`.
    var isShareKnown: Bool {
        guard fleet.sharesByPartitions, partitions.count > 0 else { return true }
        return partitionCount > 0
    }

    /// - Parameter given: the newly assigned partitions. Partitions of other topics are ignored: their records are not
    ///   run, and they count for no quota share. A worker that took its own outcomes for requests would answer them
    ///   forever.
    func assigned(_ given: [AssignedPartition]) async {
        let assigned = given.filter { requestTopics.contains($0.id.topic) }
        if assigned.count < given.count {
            log.error(
                "the group assigned partitions of topics other than the requests topics: they are ignored",
                metadata: ["partitions": "\(given.filter { !requestTopics.contains($0.id.topic) }.map(\.id))"])
        }

        partitions.add(assigned)
        await learnPartitionCount()
        await updateFleet()
        await delivery.transactions?.waitUntilCertain(of: assigned)
        log.info(
            "partitions assigned",
            metadata: ["added": "\(assigned.map(\.id))", "owned": "\(partitions.count)"])
    }

    func willRead(from committed: [AssignedPartition: CommittedOffset]) { partitions.begin(at: committed) }

    /// - Parameter drainEnd: the end of a drain: all requests, billed or not, may finish until then, and none beyond.
    ///   `nil`: the lane does not drain.
    func revoked(_ revoked: [AssignedPartition], drainEnd: Instant?) async {
        let leaving = revoked.compactMap { partitions[$0.id] }

        // The consumer may still return records of these partitions. If one began after the last open request has
        // ended, its outcome would be published after the commit.
        await leaveWaiting(of: leaving)
        // The other members wait for this one, so requests that wait for quota or for a breaker are left to the next
        // owner.
        if drainEnd == nil { for partition in leaving { partition.abandonUnbilled(inOrder: isOrdered) } }

        // The first commit covers the finished requests, whatever happens later. It is made early, because brokers
        // refuse it once the group is in another generation.
        await delivery.offsets.commitFinished()
        let graceEnd = loop.now + revokeGrace
        await partitions.waitUntilIdle(leaving, before: drainEnd.map { min($0, graceEnd) } ?? graceEnd)
        for partition in leaving { partition.commits.noteOrderlyEnd() }
        await delivery.offsets.storeFinished()

        remove(revoked)
        // The quota share shrinks before the revocation is acknowledged, because the next owner takes over this share
        // then.
        await updateFleet()
        await delivery.transactions?.waitUntilArrived(of: revoked)
        log.info(
            "partitions revoked",
            metadata: ["removed": "\(revoked.map(\.id))", "owned": "\(partitions.count)"])
    }

    func lost(_ lost: [AssignedPartition]) async {
        let leaving = lost.compactMap { partitions[$0.id] }
        for partition in leaving { partition.giveUp() }
        remove(lost)
        await updateFleet(wasTaken: true)
        await leaveWaiting(of: leaving)
        log.warning(
            "partitions lost: their new owners process the open requests again",
            metadata: ["removed": "\(lost.map(\.id))", "owned": "\(partitions.count)"])
    }

    /// Begins anew with a partition whose topic was deleted and created again. The unfinished requests of the former
    /// topic are abandoned.
    func restarted(_ former: AssignedPartition, as renewed: AssignedPartition, from offset: Int64) async {
        guard let leaving = partitions[former.id], leaving.id == former else { return }
        leaving.giveUp()
        remove([former])
        partitions.add([renewed])
        partitions.begin(at: [renewed: CommittedOffset(offset)])
        // A transaction of the former topic could otherwise commit its offset after those of the new one.
        await delivery.transactions?.waitUntilCertain(of: [renewed])
        await leaveWaiting(of: [leaving])
    }

    /// Begins no more records of these partitions, and abandons their waiting requests. The next owners read them
    /// again.
    private func leaveWaiting(of leaving: [OwnedPartition]) async {
        for partition in leaving { partition.isLeaving = true }
        await waitingRoom?.leaveToNextOwners(leaving)
    }

    private func remove(_ assigned: [AssignedPartition]) {
        for partition in partitions.remove(assigned) { delivery.transactions?.forget(partition) }
    }

    func answered(_ kind: RebalanceKind, after time: Duration) { meters.kafka.countRebalance(kind, after: time) }

    // MARK: - The quota share

    /// Updates the lane's quota share from its partitions.
    ///
    /// Shares follow the partitions of one topic. Members that have only this topic then calculate with the same
    /// shares, and the sum of all shares stays the limit. A lane with partitions of other topics only uses the quota
    /// that others lease to it.
    private func updateFleet(wasTaken: Bool = false) async {
        let owned = partitions.all.map(\.id.id).filter { $0.topic == sharedTopic }.map(\.partition)
        await fleet.assign(owned, of: partitionCount, wasTaken: wasTaken)
    }

    /// Reads the topic's number of partitions. Called at each assignment, because a topic may grow.
    /// - Returns: `false` if no broker answered.
    @discardableResult
    private func learnPartitionCount() async -> Bool {
        guard partitions.count > 0 else { return true }
        guard let count = await source.partitionCount(of: sharedTopic) else { return false }
        partitionCount = count
        return true
    }

    /// The interval at which the number of partitions is read while a rate is shared by it. A new owner of a partition
    /// waits longer before it uses its share (`LeaseTimes.settling`). By then, all other members use the new number.
    private static let countPeriod = Duration.seconds(2)
    /// The pause after an unanswered query. A new owner may have had an answer, and begins without waiting for this
    /// member.
    private static let pauseWithoutAnswer = Duration.milliseconds(250)

    /// Follows the growth of the topic until its task is cancelled.
    ///
    /// With the protocol of KIP-848, the group does not inform a member whose partitions stay the same. That member, or
    /// a draining one, would continue with a share of the old number. Also retries while no broker has answered: a
    /// member without requests would otherwise never lease out its share.
    func watchPartitionCount() async {
        guard fleet.sharesByPartitions else { return }
        var pause = Self.countPeriod
        while (try? await loop.sleep(for: pause)) != nil {
            let known = partitionCount
            pause = await learnPartitionCount() ? Self.countPeriod : Self.pauseWithoutAnswer
            if partitionCount != known { await updateFleet() }
        }
    }

    /// Queries once more for the number of partitions. The caller repeats it until `isShareKnown`.
    func learnShare() async {
        if !isUnknownShareLogged {
            isUnknownShareLogged = true
            log.warning(
                "intake is paused until the brokers return the partition count of the requests topic",
                metadata: ["topic": "\(sharedTopic)"])
        }
        await learnPartitionCount()
        await updateFleet()
    }
}
