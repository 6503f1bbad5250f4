package import Kafka
package import SimulatedKafka

/// Learns of a simulated consumer's rebalances, in the order and with the meaning of `RebalanceListener`. The group waits until
/// `then` is called.
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

/// A consumer as `KafkaConsumer` on librdkafka behaves, without either: it knows of the cluster what messages told it, and
/// learns of a rebalance after it happened.
///
/// What it has in common with the original, and where it is simpler: docs/internals/simulation.md.
package final class SimulatedConsumer {
    enum JoinState: Hashable {
        /// Not in the group, and about to join.
        case out
        case joining
        case syncing
        /// An assignment or a revocation is with the handler.
        case answering
        case steady
        case closed
    }

    /// A log of a partition: another one when its topic was deleted and made again.
    struct Origin {
        /// The id of its topic.
        let topic: UInt64
        /// Where its reading began. Nothing below is handed over.
        var begin: Int64
    }

    /// One assigned partition.
    final class Source {
        fileprivate(set) var partition: AssignedPartition
        let id: PartitionID
        /// The offset to fetch next; `nil` until it is known.
        var position: Int64?
        /// The oldest offset is asked for, because the group has committed none, or one that is not there any more.
        var isResetting = false
        var queue: [ConsumerRecord] = []
        /// The log that each of them was read from.
        var origins: [Origin] = []
        /// The log that was read last; `nil` before the first answer.
        var origin: Origin?
        /// The offset behind the record that was handed over last, or at which reading began.
        var nextOffset: Int64 = 0
        /// The offset that a broker did not have last; `nil` where it had later ones, and once reading went back.
        var lastReset: Int64?
        /// Reading went back to lower offsets: nothing is handed over before it is known why.
        var hasGoneBack = false
        /// It was found that a person has to decide.
        var isPaused = false
        /// The brokers have said, in answer to a commit, that the topic is not there.
        var missingSince: Int64?
        /// Why the brokers refuse to commit an offset of it.
        var commitRefusal: KafkaError?
        var isHeld = false
        var isReadable = true
        /// True from `assign` to `unassign`: the handler has had its say.
        var isFetched = false
        var notBefore: Int64 = 0
        var committed: Int64?
        var start: Int64?
        /// What was stored last, where the brokers have not confirmed it.
        var uncommitted: CommittedOffset?
        var end: Int64?

        /// True where the log ended before what was read of it, until it is known how reading goes on: see `OffsetCommits`.
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

    // The member, as far as the client knows.
    var joinState = JoinState.out
    var memberID = ""
    /// The member's id as of its last assignment.
    var assignedAs = ""
    /// The generation or the member's epoch that the client knows of; -1: none.
    var generation: Int32 = -1
    /// The generation in which the member was last told its assignment: that of its claims. An attempt to join that came to
    /// nothing raises `generation` alone.
    var assignmentGeneration: Int32 = -1
    var lastHeartbeat: Int64 = 0
    var isHeartbeatUnderway = false
    var heartbeatInterval: Int64
    /// Counts attempts to join, so that the answer to an older one is not taken for the newest.
    var attempt = 0
    /// The assignment is not ours any more, which the handler may not have been told yet.
    var isLost = false
    /// From the first assignment until the group takes everything away.
    var isAssigned = false
    /// From the answer to a revocation to the next assignment: nothing is committed.
    var isRejoining = false { didSet { rejoinsSince = isRejoining ? rejoinsSince ?? now : nil } }
    private var rejoinsSince: Int64?
    /// What is to happen once the handler has answered.
    var next: (() -> Void)?
    /// KIP-848: what the coordinator wants the member to have; `nil` until it has said.
    var target: Set<PartitionID>?
    /// KIP-848: the heartbeat must say what the member owns.
    var mustReportOwned = true
    /// KIP-848: the answer to a heartbeat may have been lost, and an assignment with it. Coordinators repeat an assignment only
    /// to a member that says everything about itself.
    var mustSayEverything = false

    var sources: [PartitionID: Source] = [:] {
        didSet {
            inOrder = sources.values.sorted { $0.id < $1.id }
            onOwned(inOrder.map(\.id))
        }
    }
    /// The sources in the order of their partitions, kept because each fetch asks for it.
    private(set) var inOrder: [Source] = []
    var epoch: UInt32 = 0
    private var lastRead = 0
    /// The fetches under way, by broker.
    var fetching: [Int32: FetchPatience] = [:]
    var isReading = true
    var commits = CommitState()
    /// The numbers of partitions that the member joined its group with.
    var joinedCounts: [String: Int32]?

    /// Why the client can do no more; `nil` while it can.
    package var failure: KafkaError?
    /// Called when records may be read, or the client has failed.
    package var onNews: () -> Void = {}
    /// Called with the partitions that the member takes for its own, whenever they are others.
    package var onOwned: ([PartitionID]) -> Void = { _ in }
    /// Called with a partition that is read no more until a person acts.
    package var onPaused: (PartitionID) -> Void = { _ in }
    /// Called with each record that is handed over: where reading stood before and behind it, and the id of its topic.
    package var onRead: (PartitionID, _ from: Int64, _ next: Int64, _ topic: UInt64) -> Void = { _, _, _, _ in }
    /// Called where a broker has no further record of a partition: where reading of its log began, and the id of the topic.
    package var onWaiting: (PartitionID, _ offset: Int64, _ topic: UInt64) -> Void = { _, _, _ in }
    /// Called where an offset is to be committed behind what was read.
    package var onStoredUnread: (PartitionID, CommittedOffset) -> Void = { _, _ in }
    /// Since when a JoinGroup has no answer; `nil` while none is under way. A broker reads what stands behind it on the connection only
    /// once it has answered: nothing is committed meanwhile.
    var joinsSince: Int64?
    /// Since when a classic member has sent JoinGroups without an assignment that lasted until a commit could be tried again; `nil` before
    /// the first.
    var unassignedSince: Int64?
    /// When the member was told its last assignment; `nil` where it has sent a JoinGroup since.
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

    /// Joins the group. Call it once.
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

    /// Ends reading for good. Membership and partitions stay.
    package func stopReading() { isReading = false }

    /// Hands everything over, leaves the group, and calls back once the coordinator has answered, or at the bound.
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

    /// Ends the client at once, as kill -9 does: the group is not told.
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

    /// Takes what is there, at most `max` records, fairly over the partitions.
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

    /// Returns how many records may be handed over: none from the one on at which reading went back.
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

    /// Gives a partition another epoch, because its log is another one.
    func renew(_ source: Source) {
        epoch += 1
        source.partition = AssignedPartition(source.partition.id, epoch: epoch)
        for index in source.queue.indices { source.queue[index].partition = source.partition }
        source.nextOffset = source.queue.first?.offset ?? 0
        (source.committed, source.start, source.uncommitted) = (nil, source.nextOffset, nil)
        (source.missingSince, source.commitRefusal, source.isHeld) = (nil, nil, false)
    }

    /// True when `takeRecords` would return something.
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

    // MARK: - What it knows

    /// The membership under which partitions are assigned at this moment; see `KafkaConsumer.membership`.
    package var membership: GroupMembership? {
        guard isAssigned, !isClosed, !isLost, !wasThrownOut, generation >= 0 else { return nil }
        return GroupMembership(simulatedName: member)
    }

    /// True where the group threw the member out and took it in again under another id, of which librdkafka tells a static member of a
    /// cooperative group nothing: see `KafkaConsumer.wasThrownOut`.
    var wasThrownOut: Bool { !sources.isEmpty && assignedAs != memberID }

    package var positions: [KafkaConsumer.Position] {
        inOrder.map {
            KafkaConsumer.Position(partition: $0.partition, committed: $0.committed ?? $0.start, end: $0.end)
        }
    }

    package var brokersAreDown: Bool { link.brokersAreDown }

    /// For how long nothing could be committed because the group forms anew: since a JoinGroup has had no answer, or, for a member that
    /// leaves, since it gave partitions up, or first joined, without an assignment after that. `nil` while the group is formed.
    package var formsFor: Int64? {
        let unassigned = assignedAt == nil ? unassignedSince : nil
        let begin = commits.leavesBefore == nil ? joinsSince : [unassigned, rejoinsSince].compactMap(\.self).min()
        return begin.map { now - $0 }
    }

    /// Asks how many partitions a topic has; `nil` when no broker answers within 2 seconds, or the topic is not there.
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
