import Basics
import EventLoop
import Kafka
import SimulatedKafka
import SimulatedKafkaClients
import WorkerRuntime

/// A simulated consumer as a lane's source, on the lane's loop. It does what `KafkaConsumer` does around librdkafka.
final class SimulatedSource: RequestSource, @unchecked Sendable {
    // Sendable by hand: a simulation has one thread.

    private let loop: EventLoop
    private let inbox: LoopInbox
    private let consumer: SimulatedConsumer
    private weak var listener: (any RebalanceListener)?
    private var reader: CheckedContinuation<Void, Never>?
    private var isReading = true
    /// True for a worker that ignores the metadata of committed offsets.
    var ignoresMetadata = false
    /// Commits the prepared offsets if the process crashes by a trap.
    var crashHandler: SimulatedCrashHandler?
    /// The number of calls to the listener in progress.
    private(set) var rebalancesUnderway = 0
    /// The number of commits in progress.
    private(set) var commitsUnderway = 0
    /// The number of reads that returned records.
    private(set) var reads = 0
    /// The time of the last assignment; `nil` before the first one.
    private(set) var lastAssignment: Instant?
    /// Called after a revocation with its partitions, its duration, and the time by which a rebalance had preceded it.
    ///
    /// During a rebalance nothing can be committed. The last argument is `nil` if no rebalance was in progress when the revocation began.
    var onHandover: ([AssignedPartition], Duration, Duration?) -> Void = { _, _, _ in }
    /// Called when partitions are lost, that is, revoked without notice.
    var onLoss: ([AssignedPartition]) -> Void = { _ in }
    /// Called with the partitions that the client believes to own, whenever they change.
    var onOwned: ([PartitionID]) -> Void {
        get { consumer.onOwned }
        set { consumer.onOwned = newValue }
    }

    /// Called with a partition that stays paused until an operator acts.
    var onPaused: (PartitionID) -> Void {
        get { consumer.onPaused }
        set { consumer.onPaused = newValue }
    }
    /// Called for each record that is read, with the positions before and after it and the id of its topic.
    var onRead: (PartitionID, Int64, Int64, UInt64) -> Void {
        get { consumer.onRead }
        set { consumer.onRead = newValue }
    }
    /// Called when reading begins, with the committed offset and metadata as the worker reads them, and when a restarted log is read.
    var onBeginning: (PartitionID, CommittedOffset) -> Void = { _, _ in }
    /// Called when a broker has no further record, with the offset at which reading of the log began, and the id of the topic.
    var onWaiting: (PartitionID, Int64, UInt64) -> Void {
        get { consumer.onWaiting }
        set { consumer.onWaiting = newValue }
    }
    /// Called when an offset is stored that lies beyond the records read.
    var onStoredUnread: (PartitionID, CommittedOffset) -> Void {
        get { consumer.onStoredUnread }
        set { consumer.onStoredUnread = newValue }
    }

    init(_ consumer: SimulatedConsumer, loop: EventLoop, inbox: LoopInbox) {
        self.consumer = consumer
        self.loop = loop
        self.inbox = inbox
        consumer.onNews = { [weak self] in self?.inbox.post { self?.wakeReader() } }
    }

    /// The positions of its partitions, for the story.
    var story: String {
        consumer.positions
            .map {
                "\($0.partition.id) committed \($0.committed.map(String.init) ?? "-") of \($0.end.map(String.init) ?? "-")"
            }
            .joined(separator: ", ")
    }

    /// Ends the client as kill -9 does.
    func kill() { consumer.kill() }

    // MARK: - Reading

    func subscribe(to topics: [String], listener: any RebalanceListener) async throws(KafkaError) {
        self.listener = listener
        inbox.start()
        consumer.subscribe(to: topics, handler: self)
    }

    func records(max: Int) async throws(KafkaError) -> [ConsumerRecord] {
        while isReading {
            if let failure = consumer.failure { throw failure }
            let records = consumer.takeRecords(max: max)
            if !records.isEmpty {
                reads += 1
                return records
            }
            await withCheckedContinuation { reader = $0 }
        }
        return []
    }

    func stopReading() async {
        isReading = false
        consumer.stopReading()
        wakeReader()
    }

    private func wakeReader() {
        reader?.resume()
        reader = nil
    }

    func hold(_ partition: AssignedPartition) async { consumer.hold(partition) }
    func resume(_ partition: AssignedPartition) async { consumer.resume(partition) }

    // MARK: - Offsets

    func store(_ offsets: [(partition: AssignedPartition, next: CommittedOffset)]) async { consumer.store(offsets) }

    func commit(within bound: Duration) async throws(KafkaError) -> [AssignedPartition: Int64] {
        commitsUnderway += 1
        let error = await answer { reply in self.consumer.commit(within: bound.wholeNanoseconds, reply: reply) }
        commitsUnderway -= 1
        if let error { throw error }
        return consumer.confirmed
    }

    var refusedCommits: [AssignedPartition: KafkaError] { get async { consumer.refusedCommits } }

    func commitOnCrash(_ commit: (partition: AssignedPartition, next: CommittedOffset)?) async {
        guard let commit else { crashHandler?.set(nil, on: loop); return }
        crashHandler?.set(
            { [consumer] then in
                consumer.commitOnCrash(
                    commit.partition, next: commit.next, within: SimulatedCrashHandler.bound, then: then)
            }, on: loop)
    }

    func noteCommitted(_ offsets: [(partition: AssignedPartition, next: Int64)]) async {
        consumer.noteCommitted(offsets)
    }

    func committedOffsets(
        of assigned: [AssignedPartition], within bound: Duration
    ) async throws(KafkaError) -> [AssignedPartition: CommittedOffset] {
        let result = await answer { reply in
            self.consumer.committedOffsets(of: assigned, within: bound.wholeNanoseconds, reply: reply)
        }
        return asRead(try result.get())
    }

    private func asRead(
        _ committed: [AssignedPartition: CommittedOffset]
    ) -> [AssignedPartition: CommittedOffset] {
        ignoresMetadata ? committed.mapValues { CommittedOffset($0.offset) } : committed
    }

    // MARK: - State

    /// True while a record can be read and the lane does not read.
    var hasUnreadRecords: Bool { reader == nil && consumer.failure == nil && consumer.hasRecords }

    /// True while a partition holds records that are not committed.
    var hasWork: Bool { consumer.positions.contains { ($0.committed ?? 0) < ($0.end ?? 0) } }

    var membership: GroupMembership? { get async { consumer.membership } }
    var positions: [KafkaConsumer.Position] { get async { consumer.positions } }
    var brokersAreDown: Bool { get async { consumer.brokersAreDown } }
    var groupRefusal: String? { nil }
    var statistics: ClientStatistics? { nil }
    var failure: KafkaError? { consumer.failure }

    func partitionCount(of topic: String) async -> Int? {
        await answer { reply in self.consumer.partitionCount(of: topic, reply: reply) }
    }

    /// A simulated worker does not look for missing topics when it starts.
    func existingTopics() async -> Set<String>? { nil }

    func diagnosis(of topic: String) async -> TopicDiagnosis {
        consumer.brokersAreDown ? .noBrokerAnswers : .complete
    }

    func close(within bound: Duration) async {
        isReading = false
        wakeReader()
        await answer { reply in
            self.consumer.close(within: bound.wholeNanoseconds) { reply(()) }
        }
        inbox.stop()
    }
}

extension SimulatedSource: SimulatedRebalanceHandler {
    func assigned(_ partitions: [AssignedPartition], then: @escaping () -> Void) {
        lastAssignment = loop.now
        tell(then) { listener in await listener.assigned(partitions) }
    }

    func willRead(from committed: [AssignedPartition: CommittedOffset], then: @escaping () -> Void) {
        let read = asRead(committed)
        noteBeginnings(read)
        tell(then) { listener in await listener.willRead(from: read) }
    }

    func revoked(_ partitions: [AssignedPartition], then: @escaping () -> Void) {
        let (begin, formsFor) = (loop.now, consumer.formsFor.map { Duration.nanoseconds($0) })
        tell { [weak self] in
            if let self { onHandover(partitions, begin.duration(to: loop.now), formsFor) }
            then()
        } _: { listener in
            await listener.revoked(partitions)
        }
    }

    func lost(_ partitions: [AssignedPartition], then: @escaping () -> Void) {
        onLoss(partitions)
        tell(then) { listener in await listener.lost(partitions) }
    }

    func answered(_ kind: RebalanceKind, after time: Int64) {
        tell {
        } _: { listener in
            await listener.answered(kind, after: .nanoseconds(time))
        }
    }

    func missed(_ offsets: Range<Int64>, of partition: TopicPartition) {
        tell {
        } _: { listener in
            _ = await listener.missed(offsets, of: partition)
        }
    }

    func restarted(
        _ former: AssignedPartition, as renewed: AssignedPartition, from offset: Int64, then: @escaping () -> Void
    ) {
        noteBeginnings([renewed: CommittedOffset(offset)])
        tell(then) { listener in await listener.restarted(former, as: renewed, from: offset) }
    }

    private func noteBeginnings(_ begun: [AssignedPartition: CommittedOffset]) {
        for (partition, commit) in begun {
            onBeginning(PartitionID(partition.id.topic, partition.id.partition), commit)
        }
    }

    private func tell(
        _ then: @escaping () -> Void, _ call: @escaping @Sendable (any RebalanceListener) async -> Void
    ) {
        nonisolated(unsafe) let then = then  // The simulation has one thread.
        Task(executorPreference: loop) { [weak self] in
            self?.rebalancesUnderway += 1
            if let listener = self?.listener { await call(listener) }
            self?.rebalancesUnderway -= 1
            unsafe then()
        }
    }
}
