internal import Basics
internal import EventLoop
internal import Kafka
internal import Logging
internal import QuotaSharing

/// A lane's part in rebalances: partitions come and go. One call at a time: the group waits for it.
///
/// Confined to its lane; not `Sendable`.
final class Rebalancing {
    private let partitions: PartitionTable
    private let delivery: any OutcomeDelivery
    private let source: any RequestSource
    /// The requests that have not begun; `nil` where none wait.
    private let waitingRoom: WaitingRoom?
    /// The lane's part in the fleet, which follows its partitions.
    let fleet: FleetTicker
    /// The names of the topics that requests are read from.
    private let requestTopics: Set<String>
    /// The topic by whose partitions limits are shared: the first one.
    private let sharedTopic: String
    private let revokeGrace: Duration
    private let isOrdered: Bool
    private let loop: EventLoop
    private let log: Logger
    /// The number of partitions of `sharedTopic`; 0 while it is not known.
    private var partitionCount = 0
    private var isUnknownShareLogged = false

    init(
        partitions: PartitionTable, waitingRoom: WaitingRoom? = nil, delivery: any OutcomeDelivery,
        source: any RequestSource, fleet: FleetTicker, configuration: WorkerConfiguration, loop: EventLoop, log: Logger
    ) {
        self.partitions = partitions
        self.waitingRoom = waitingRoom
        self.delivery = delivery
        self.source = source
        self.fleet = fleet
        requestTopics = Set(configuration.topics.requestTopics.map(\.name))
        sharedTopic = configuration.topics.requests
        revokeGrace = configuration.revokeGrace
        isOrdered = configuration.ordering != .unordered
        self.loop = loop
        self.log = log
    }

    /// `false` while nobody has said how many partitions the topic has. A rate that is shared by partitions is zero until
    /// then: whatever began would end as `rate-limited`.
    var isShareKnown: Bool {
        guard fleet.sharesByPartitions, partitions.count > 0 else { return true }
        return partitionCount > 0
    }

    /// - Parameter given: what the group hands over. Partitions of other topics are not taken in, so that nothing of them is
    ///   run and they count for no share of a rate: a worker that takes its own outcomes for requests answers them for ever.
    func assigned(_ given: [AssignedPartition]) async {
        let assigned = given.filter { requestTopics.contains($0.id.topic) }
        if assigned.count < given.count {
            log.error(
                "the group hands over partitions of other topics than the requests topic: nothing of them is run",
                metadata: ["partitions": "\(given.filter { !requestTopics.contains($0.id.topic) }.map(\.id))"])
        }

        partitions.add(assigned)
        await learnPartitionCount()
        await tellFleet()
        await delivery.waitUntilCertain(of: assigned)
        log.info(
            "partitions assigned",
            metadata: ["added": "\(assigned.map(\.id))", "owned": "\(partitions.count)"])
    }

    func willRead(from committed: [AssignedPartition: CommittedOffset]) { partitions.begin(at: committed) }

    /// - Parameter drainEnd: the end of a drain. Everything in flight is waited for until then, also what has cost nothing
    ///   yet, and nothing beyond. `nil`: the lane does not drain.
    func revoked(_ revoked: [AssignedPartition], drainEnd: Instant?) async {
        let leaving = revoked.compactMap { partitions[$0.id] }

        // Records may be on their way from the consumer. Taken after the last of the others has ended, they would be
        // published behind the commit.
        await leaveWaiting(of: leaving)
        // The other members wait for us, so a request that waits for its turn or for a breaker goes back untouched.
        if drainEnd == nil { for partition in leaving { partition.giveUpUnpaid(inOrder: isOrdered) } }

        // The first commit makes safe what is finished, whatever comes of the rest: the sooner it comes, the likelier is
        // the group still the one that we are a member of.
        if !isPutBack(.revocationDoesNotCommit) { await delivery.commitFinished() }
        let graceEnd = loop.now + (isPutBack(.revocationDoesNotWait) ? .zero : revokeGrace)
        await partitions.waitUntilIdle(leaving, before: drainEnd.map { min($0, graceEnd) } ?? graceEnd)
        for partition in leaving { partition.sayGoodbye() }
        if !isPutBack(.revocationDoesNotCommit) { await delivery.storeFinished() }

        remove(revoked)
        // The fleet learns of it before the loss is acknowledged, when the next owner takes over this part of the rate.
        if !isPutBack(.shareKeptAfterRevocation) { await tellFleet() }
        if !isPutBack(.offsetsBehindRevocation) { await delivery.waitUntilArrived(of: revoked) }
        log.info(
            "partitions revoked",
            metadata: ["removed": "\(revoked.map(\.id))", "owned": "\(partitions.count)"])
    }

    func lost(_ lost: [AssignedPartition]) async {
        if isPutBack(.lostPartitionKept) { return }
        let leaving = lost.compactMap { partitions[$0.id] }
        for partition in leaving { partition.giveUp() }
        remove(lost)
        await tellFleet(wasTaken: true)
        await leaveWaiting(of: leaving)
        log.warning(
            "partitions lost: other members have them already, what was in flight is done again there",
            metadata: ["removed": "\(lost.map(\.id))", "owned": "\(partitions.count)"])
    }

    /// Begins anew with a partition whose topic was deleted and made again. What was not answered of the former topic is gone with it.
    func restarted(_ former: AssignedPartition, as renewed: AssignedPartition, from offset: Int64) async {
        guard let leaving = partitions[former.id], leaving.id == former else { return }
        leaving.giveUp()
        remove([former])
        partitions.add([renewed])
        partitions.begin(at: [renewed: CommittedOffset(offset)])
        if isPutBack(.formerTopicCounts) { partitions[renewed.id]?.tracker = leaving.tracker }
        // A transaction of the former topic would commit its offset behind those of the new one.
        await delivery.waitUntilCertain(of: [renewed])
        await leaveWaiting(of: [leaving])
    }

    /// Begins nothing more of partitions, and leaves what was read of them to their next owners.
    private func leaveWaiting(of leaving: [OwnedPartition]) async {
        for partition in leaving { partition.isLeaving = true }
        await waitingRoom?.leaveToNextOwners(leaving)
    }

    private func remove(_ assigned: [AssignedPartition]) {
        for partition in partitions.remove(assigned) { delivery.forget(partition) }
    }

    // MARK: - The share of the rate

    /// Shares go by the partitions of one topic. Members that know one topic only, as workers of former versions, then reckon with
    /// the same parts of the limit, and the sum of all parts stays the limit. A lane with partitions of other topics alone has
    /// what others lease to it.
    private func tellFleet(wasTaken: Bool = false) async {
        let owned = partitions.all.map(\.id.id).filter { $0.topic == sharedTopic }.map(\.partition)
        await fleet.assign(owned, of: partitionCount, wasTaken: wasTaken)
    }

    /// Asks how many partitions the topic has, with each assignment, because a topic may grow.
    /// - Returns: `false` where no broker said.
    @discardableResult
    private func learnPartitionCount() async -> Bool {
        guard partitions.count > 0 else { return true }
        guard let count = await source.partitionCount(of: sharedTopic) else { return false }
        partitionCount = count
        return true
    }

    /// How often the brokers are asked for the number of partitions while a rate is shared by it. A new owner of a partition
    /// waits longer than that before it uses its share (`LeaseTimes.settling`), so that by then all others go by the new number.
    private static let countPeriod = Duration.seconds(2)
    /// The pause behind a question that nobody answered. A new owner may have had its own answered, and begins without waiting for ours.
    private static let pauseWithoutAnswer = Duration.milliseconds(250)

    /// Follows a topic that grows until its task is cancelled. With the protocol of KIP-848, a member whose partitions stay the same
    /// learns nothing of it from its group, and would go on with a share of the former number; so would one that drains. Asks again,
    /// too, where no broker has answered yet: a member without requests would else lease nothing out for good.
    func watchPartitionCount() async {
        guard fleet.sharesByPartitions else { return }
        var pause = Self.countPeriod
        while (try? await loop.sleep(for: pause)) != nil {
            let known = partitionCount
            pause = await learnPartitionCount() ? Self.countPeriod : Self.pauseWithoutAnswer
            if partitionCount != known { await tellFleet() }
        }
    }

    /// Asks again for what the assignment could not learn, once; the caller repeats it until `isShareKnown`.
    func learnShare() async {
        if !isUnknownShareLogged {
            isUnknownShareLogged = true
            log.warning(
                "no request begins until the brokers say how many partitions the requests topic has",
                metadata: ["topic": "\(sharedTopic)"])
        }
        await learnPartitionCount()
        await tellFleet()
    }
}
