package import Kafka
package import SimulatedKafka

/// Receives a simulated consumer's rebalances, in the order and with the meaning of `RebalanceListener`. The
/// group waits until `then` is called.
package protocol SimulatedRebalanceHandler: AnyObject {
    func assigned(_ partitions: [AssignedPartition], then: @escaping () -> Void)
    func willRead(from committed: [AssignedPartition: CommittedOffset], then: @escaping () -> Void)
    func revoked(_ partitions: [AssignedPartition], then: @escaping () -> Void)
    func lost(_ partitions: [AssignedPartition], then: @escaping () -> Void)
    func answered(_ kind: RebalanceKind, after time: Int64)
    func missed(_ offsets: Range<Int64>, of partition: TopicPartition)
    func restarted(
        _ former: AssignedPartition, as renewed: AssignedPartition, from offset: Int64, then: @escaping () -> Void)
}

/// A consumer that behaves as `KafkaConsumer` with librdkafka does. Its view of the cluster comes from messages only, so it learns of
/// a rebalance after it happened.
///
/// Differences from the original: docs/internals/simulation.md.
package final class SimulatedConsumer {
    enum JoinState: Hashable {
        /// Not in the group, and about to join.
        case out
        case joining
        case syncing
        /// The handler is answering an assignment or a revocation.
        case answering
        case steady
        case closed
    }

    /// A log of a partition. A recreated topic has a different log.
    struct Origin {
        /// The id of its topic.
        let topic: UInt64
        /// The offset at which reading began. Lower offsets are not returned.
        var begin: Int64
    }

    /// One assigned partition.
    final class Source {
        fileprivate(set) var partition: AssignedPartition
        let id: PartitionID
        /// The offset to fetch next; `nil` until it is known.
        var position: Int64?
        /// True while the oldest offset is requested, because the group has committed none, or one that was deleted.
        var isResetting = false
        var queue: [ConsumerRecord] = []
        /// The log that each queued record was read from.
        var origins: [Origin] = []
        /// The log that was read last; `nil` before the first answer.
        var origin: Origin?
        /// The offset after the last returned record, or at which reading began.
        var nextOffset: Int64 = 0
        /// The last offset that a broker did not have; `nil` if it had later ones, and once the position went back.
        var lastReset: Int64?
        /// True if the position went back to lower offsets: nothing is returned before the reason is known.
        var hasGoneBack = false
        /// True if an operator has to decide how to continue.
        var isPaused = false
        /// The time at which a commit was first answered with an unknown topic.
        var missingSince: Int64?
        /// The reason why the brokers reject commits of it.
        var commitRefusal: KafkaError?
        var isHeld = false
        var isReadable = true
        /// True from `assign` to `unassign`: the handler has answered the assignment.
        var isFetched = false
        var notBefore: Int64 = 0
        var committed: Int64?
        var start: Int64?
        /// The last stored offset, until the brokers have confirmed it.
        var uncommitted: CommittedOffset?
        var end: Int64?

        /// True if the log ended before the position, until it is known how reading continues: see `OffsetCommits`.
        var hasEnded: Bool { hasGoneBack ? !isPaused : (lastReset ?? -1) >= nextOffset }

        init(_ id: PartitionID, epoch: UInt32) {
            self.id = id
            partition = AssignedPartition(TopicPartition(id.topic, id.partition), epoch: epoch)
        }
    }

    package let settings: SimulatedConsumerSettings
    let link: ClientLink
    weak var handler: (any SimulatedRebalanceHandler)?
    private(set) var topics: [String] = []

    // The member, from the client's point of view.
    var joinState = JoinState.out
    var memberID = ""
    /// The member's id at its last assignment.
    var assignedAs = ""
    /// The generation or member epoch; -1: none.
    var generation: Int32 = -1
    /// The generation of the last event that was reported to the handler.
    var eventGeneration: Int32 = -1
    /// The generation of the member's last assignment, which its claims name. A failed attempt to join raises only `generation`.
    var assignmentGeneration: Int32 = -1
    var lastHeartbeat: Int64 = 0
    var isHeartbeatUnderway = false
    var heartbeatInterval: Int64
    /// Counts attempts to join, so that answers to older ones are ignored.
    var attempt = 0
    /// True if the assignment is lost, which may not have been reported to the handler yet.
    var isLost = false
    /// True from the first assignment until the group revokes everything.
    var isAssigned = false
    /// True from the answer to a revocation to the next assignment. Nothing is committed meanwhile.
    var isRejoining = false { didSet { rejoinsSince = isRejoining ? rejoinsSince ?? now : nil } }
    private var rejoinsSince: Int64?
    /// The function to call once the handler has answered.
    var next: (() -> Void)?
    /// KIP-848: the target assignment; `nil` until the coordinator has sent it.
    var target: Set<PartitionID>?
    /// KIP-848: true if the next heartbeat must list the member's partitions.
    var mustReportOwned = true
    /// KIP-848: true if the answer to a heartbeat, possibly with an assignment, may have been lost.
    ///
    /// Coordinators repeat an assignment only to a member whose heartbeat contains all fields.
    var mustSayEverything = false

    var sources: [PartitionID: Source] = [:] {
        didSet {
            inOrder = sources.values.sorted { $0.id < $1.id }
            onOwned(inOrder.map(\.id))
        }
    }
    /// The sources in the order of their partitions, cached because each fetch needs it.
    private(set) var inOrder: [Source] = []
    var epoch: UInt32 = 0
    private var lastRead = 0
    /// The fetches in flight, by broker.
    var fetching: [Int32: FetchTimeout] = [:]
    var isReading = true
    var commits = CommitState()
    /// The partition counts with which the member joined its group.
    var joinedCounts: [String: Int32]?

    /// The fatal error of the client; `nil` while it works.
    package var failure: KafkaError?
    /// Called when records may be read, or the client has failed.
    package var onNews: () -> Void = {}
    /// Called with the partitions that the member believes to own, whenever they change.
    package var onOwned: ([PartitionID]) -> Void = { _ in }
    /// Called with a partition that stays paused until an operator acts.
    package var onPaused: (PartitionID) -> Void = { _ in }
    /// Called for each returned record, with the positions before and after it and the id of its topic.
    package var onRead: (PartitionID, _ from: Int64, _ next: Int64, _ topic: UInt64) -> Void = { _, _, _, _ in }
    /// Called when a broker has no further record of a partition, with the offset at which reading of its
    /// log began and the id of the topic.
    package var onWaiting: (PartitionID, _ offset: Int64, _ topic: UInt64) -> Void = { _, _, _ in }
    /// Called when an offset is stored that lies beyond the records read.
    package var onStoredUnread: (PartitionID, CommittedOffset) -> Void = { _, _ in }
    /// The time since which a JoinGroup has no answer; `nil` while none is in flight.
    ///
    /// A broker reads the following requests of the connection only after it has answered, so nothing is committed meanwhile.
    var joinsSince: Int64?
    /// The time since which a classic member has sent JoinGroups without an assignment that lasted long enough
    /// to retry a commit; `nil` before the first.
    var unassignedSince: Int64?
    /// The time of the last assignment; `nil` if the member has sent a JoinGroup since.
    var assignedAt: Int64?

    package init(_ settings: SimulatedConsumerSettings, clientID: String, network: SimulatedNetwork) {
        self.settings = settings
        heartbeatInterval = settings.heartbeatInterval
        link = ClientLink(id: clientID, network: network)
    }

    var now: Int64 { link.now }
    var groupKey: FindCoordinatorRequest.Key { .group(settings.group) }
    var member: MemberName { MemberName(id: memberID, instanceID: settings.instanceID, generation: generation) }
    var isClosed: Bool { joinState == .closed }

    // MARK: - Joining and leaving

    /// Joins the group. Must be called once.
    package func subscribe(to topics: [String], handler: any SimulatedRebalanceHandler) {
        self.topics = topics.sorted()
        self.handler = handler
        if settings.groupProtocol == .consumer { memberID = "\(link.id)-member" }
        refreshTopics()
        startHeartbeats()
        join()
    }

    private func refreshTopics() {
        link.refresh(topics) { [weak self] hasAnswer in
            guard let self, !isClosed else { return }
            joinForNewPartitions()
            fetchAll()
            link.after(hasAnswer && !link.leaders.isEmpty ? 5 * ClusterRules.second : ClientLink.backoff) {
                [weak self] in
                self?.refreshTopics()
            }
        }
    }

    /// Stops reading permanently. Membership and partitions stay.
    package func stopReading() { isReading = false }

    /// Revokes everything, leaves the group, and calls back when the coordinator has answered, or at the bound.
    package func close(within bound: Int64, then: @escaping () -> Void) {
        isReading = false
        var isDone = false
        let finish = { [self] in
            guard !isDone else { return }
            isDone = true
            shutDown()
            then()
        }
        guard !isClosed else { return finish() }
        link.after(bound, finish)
        commits.leavesBefore = now + bound

        attempt += 1
        whenAnswered { [self] in
            revoke(inOrder.map(\.id)) { [self] in leave(then: finish) }
        }
    }

    private func leave(then: @escaping () -> Void) {
        guard generation >= 0, settings.instanceID == nil || settings.groupProtocol == .consumer else { return then() }
        joinState = .out
        attempt += 1
        if settings.groupProtocol == .consumer { return sendLeavingHeartbeat(then: then) }
        let request = LeaveGroupRequest(settings.group, memberID: memberID)
        link.askCoordinator(
            groupKey, .leaveGroup, within: 5 * ClusterRules.second, error: { (answer: PlainResponse) in answer.error },
            { $2($0.leaveGroup(request, at: $1)) }, reply: { _ in then() })
    }

    /// Ends the client at once, as kill -9 does, without leaving the group.
    package func kill() {
        link.network.disconnect(link.id)
        shutDown()
    }

    private func shutDown() {
        joinState = .closed
        link.isClosed = true
        sources = [:]
        endWaits(with: KafkaError(.closed, "the Kafka client is closed"))
        onNews()
    }

    // MARK: - Reading

    /// Returns available records, at most `max`, evenly over the partitions.
    package func takeRecords(max: Int) -> [ConsumerRecord] {
        guard isReading, failure == nil else { return [] }
        var records: [ConsumerRecord] = []
        let all = inOrder
        guard !all.isEmpty else { return [] }

        let share = Swift.max(1, max / all.count)
        var emptyInARow = 0
        while records.count < max, emptyInARow < all.count {
            lastRead = (lastRead + 1) % all.count
            let source = all[lastRead]
            let most = source.isHeld || !source.isReadable ? 0 : min(share, max - records.count, source.queue.count)
            let count = countInOrder(source, atMost: most)
            records += source.queue.prefix(count)
            source.queue.removeFirst(count)
            source.origins.removeFirst(count)
            emptyInARow = count == 0 ? emptyInARow + 1 : 0
        }
        if !records.isEmpty { fetchAll(isChanged: false) }
        return records
    }

    /// Returns how many records may be returned: none from the one on at which the position went back.
    private func countInOrder(_ source: Source, atMost most: Int) -> Int {
        guard !source.hasGoneBack else { return 0 }
        for (index, record) in source.queue.prefix(most).enumerated() {
            guard record.offset >= source.nextOffset else {
                (source.hasGoneBack, source.lastReset) = (true, nil)
                decide(about: source)
                return index
            }
            let origin = source.origins[index]
            onRead(source.id, max(source.nextOffset, origin.begin), record.offset + 1, origin.topic)
            source.nextOffset = record.offset + 1
        }
        return most
    }

    /// Gives a partition a new epoch, because its log is a different one.
    func renew(_ source: Source) {
        epoch += 1
        source.partition = AssignedPartition(source.partition.id, epoch: epoch)
        for index in source.queue.indices { source.queue[index].partition = source.partition }
        source.nextOffset = source.queue.first?.offset ?? 0
        (source.committed, source.start, source.uncommitted) = (nil, source.nextOffset, nil)
        (source.missingSince, source.commitRefusal, source.isHeld) = (nil, nil, false)
    }

    /// True if `takeRecords` would return something.
    package var hasRecords: Bool {
        isReading
            && sources.values.contains { !$0.isHeld && $0.isReadable && !$0.queue.isEmpty && !$0.hasGoneBack }
    }

    package func hold(_ partition: AssignedPartition) { source(partition)?.isHeld = true }

    package func resume(_ partition: AssignedPartition) {
        guard let source = source(partition), source.isHeld else { return }
        source.isHeld = false
        onNews()
    }

    func source(_ partition: AssignedPartition) -> Source? {
        guard let source = sources[PartitionID(partition.id.topic, partition.id.partition)],
            source.partition.epoch == partition.epoch
        else { return nil }
        return source
    }

    // MARK: - State

    /// The current membership of the assigned partitions; see `KafkaConsumer.membership`.
    package var membership: GroupMembership? {
        guard isAssigned, !isClosed, !isLost, !wasThrownOut, generation >= 0 else { return nil }
        if settings.groupProtocol == .classic, generation != eventGeneration { return nil }
        return GroupMembership(simulatedName: member)
    }

    /// True if the group removed the member and accepted it again under another id.
    ///
    /// librdkafka does not report that to a static member of a cooperative group: see `KafkaConsumer.wasThrownOut`.
    var wasThrownOut: Bool { !sources.isEmpty && assignedAs != memberID }

    package var positions: [KafkaConsumer.Position] {
        inOrder.map {
            KafkaConsumer.Position(partition: $0.partition, committed: $0.committed ?? $0.start, end: $0.end)
        }
    }

    package var brokersAreDown: Bool { link.brokersAreDown }

    /// The time for which nothing could be committed because of a rebalance; `nil` if there is none.
    ///
    /// It counts from an unanswered JoinGroup. For a member that leaves, it counts from a revocation or its
    /// first join without an assignment after that.
    package var formsFor: Int64? {
        let unassigned = assignedAt == nil ? unassignedSince : nil
        let begin = commits.leavesBefore == nil ? joinsSince : [unassigned, rejoinsSince].compactMap(\.self).min()
        return begin.map { now - $0 }
    }

    /// Requests the number of partitions of a topic; `nil` if no broker answers within 2 seconds, or the topic does not exist.
    package func partitionCount(of topic: String, reply: @escaping (Int?) -> Void) {
        link.refresh([topic], within: 2 * ClusterRules.second) { [link] hasAnswer in
            reply(hasAnswer ? link.partitionCounts[topic].map(Int.init) : nil)
        }
    }

    func fail(_ error: KafkaError) {
        failure = failure ?? error
        onNews()
    }
}
