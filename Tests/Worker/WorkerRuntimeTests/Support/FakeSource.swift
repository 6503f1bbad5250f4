import Kafka
import WorkerRuntime

/// A consumer without brokers: the test decides about records, assignments and the results of commits.
actor FakeSource: RequestSource {
    private var waiting: [ConsumerRecord] = []
    private var reader: CheckedContinuation<Void, Never>?
    private var isReading = true
    private weak var listener: (any RebalanceListener)?
    private var assigned: [AssignedPartition] = []
    /// Assigned partitions whose start position was reported to the lane.
    private var readable: Set<AssignedPartition> = []
    private var epoch: UInt32 = 0
    private var nextOffsets: [TopicPartition: Int64] = [:]
    private var stored: [AssignedPartition: CommittedOffset] = [:]

    /// The error of the next commits; `nil`: they succeed.
    private var commitError: KafkaError?
    private var refusals: [String: KafkaError] = [:]
    /// The time that each commit takes, as during a rebalance.
    var commitDelay = Duration.zero
    /// The largest metadata that the brokers keep, in bytes.
    var maxMetadata = Int.max
    /// True if the brokers drop all metadata.
    var dropsMetadata = false
    /// The brokers' partition count of the topic; `nil`: no answer.
    private var knownPartitionCount: Int? = 4
    /// All topics; `nil`: no broker answers.
    var existing: Set<String>?
    /// The brokers' diagnosis of a topic without delivery reports.
    var diagnosis = TopicDiagnosis.complete
    /// Called after the group is left.
    var onClose: @Sendable () -> Void = {}
    /// True if `close` returns without a revocation, as when its time limit ends before the group has requested one.
    var leavesSilently = false
    private(set) var commits: [TopicPartition: CommittedOffset] = [:]
    var committed: [TopicPartition: Int64] { commits.mapValues(\.offset) }
    /// Returns the stored offset for the next commit of a partition, whether or not the brokers accept it.
    func handedOver(of partition: TopicPartition) -> CommittedOffset? { stored.first { $0.key.id == partition }?.value }
    /// The commits that a crash of the process would make now.
    private(set) var crashCommit: [TopicPartition: CommittedOffset] = [:]
    private var transactionOffsets: @Sendable () async -> [TopicPartition: CommittedOffset] = { [:] }
    private(set) var held: Set<TopicPartition> = []
    private(set) var commitCount = 0
    private(set) var membershipQuestions = 0
    private var isMembershipHeld = false
    private var heldMembership: CheckedContinuation<Void, Never>?
    private(set) var failure: KafkaError?
    private(set) var partitionCountQuestions = 0
    private(set) var subscribed: [String] = []
    var isSubscribed: Bool { !subscribed.isEmpty }
    private(set) var isClosed = false

    // MARK: - Control by the test

    func change(_ body: @Sendable (isolated FakeSource) -> Void) { body(self) }

    /// Sets a former owner's commit of a partition.
    func setCommit(_ committed: CommittedOffset, partition: Int32 = 0) {
        commits[TopicPartition("requests", partition)] = committed
    }

    /// Sets the offset of the next record of a partition.
    func skip(to offset: Int64, partition: Int32 = 0) { nextOffsets[TopicPartition("requests", partition)] = offset }

    func commitOnCrash(_ commit: (partition: AssignedPartition, next: CommittedOffset)?) {
        crashCommit = commit.map { [$0.partition.id: $0.next] } ?? [:]
    }

    func refuseCommits(with error: KafkaError?) { commitError = error }

    /// Makes the brokers reject offsets of one topic; `nil`: they accept them again.
    func refuseCommits(of topic: String, with error: KafkaError?) { refusals[topic] = error }

    var refusedCommits: [AssignedPartition: KafkaError] {
        stored.keys.reduce(into: [:]) { $0[$1] = refusals[$1.id.topic] }
    }

    /// Restarts the log of an assigned partition at an offset, as when its topic was recreated. Waiting records are dropped.
    func restart(_ partition: Int32, at offset: Int64 = 0) async {
        guard let index = assigned.firstIndex(where: { $0.id.partition == partition }) else { return }
        epoch += 1
        let (former, renewed) = (assigned[index], AssignedPartition(assigned[index].id, epoch: epoch))
        assigned[index] = renewed
        stored[former] = nil
        commits[former.id] = nil
        waiting.removeAll { $0.partition.id == former.id }
        nextOffsets[former.id] = offset
        await listener?.restarted(former, as: renewed, from: offset)
        readable.insert(renewed)
    }

    /// Reports to the lane that records were deleted before they were read.
    /// - Returns: the number of records that the lane counts as lost.
    func tellOfDeleted(_ offsets: Range<Int64>, partition: Int32 = 0) async -> Int64? {
        await listener?.missed(offsets, of: TopicPartition("requests", partition))
    }

    func setPartitionCount(_ count: Int?) { knownPartitionCount = count }

    /// Appends records with the next offsets of a partition.
    /// - Parameter timestamp: in milliseconds since 1970; `nil`: they have none.
    func append(
        _ values: [String], to partition: Int32 = 0, of topic: String = "requests", headers: [RecordHeader] = [],
        timestamp: Int64? = nil
    ) {
        let id = TopicPartition(topic, partition)
        for value in values {
            let offset = nextOffsets[id, default: 0]
            nextOffsets[id] = offset + 1
            waiting.append(
                ConsumerRecord(
                    partition: AssignedPartition(id, epoch: 0), offset: offset, timestamp: timestamp,
                    key: Array("key".utf8), value: Array(value.utf8), headers: headers))
        }
        wakeReader()
    }

    /// Makes the next query of the membership wait until `releaseMembership` is called.
    func holdMembership() { isMembershipHeld = true }

    func releaseMembership() {
        isMembershipHeld = false
        heldMembership?.resume()
        heldMembership = nil
    }

    /// True while a query of the membership waits.
    var holdsMembership: Bool { heldMembership != nil }

    func assign(_ partitions: [Int32]) async { await assign(partitions.map { TopicPartition("requests", $0) }) }

    func assign(_ partitions: [TopicPartition]) async {
        epoch += 1
        let new = partitions.map { AssignedPartition($0, epoch: epoch) }
        assigned += new
        await listener?.assigned(new)
        let begun = new.compactMap { partition in commits[partition.id].map { (partition, $0) } }
        if !begun.isEmpty { await listener?.willRead(from: Dictionary(uniqueKeysWithValues: begun)) }
        readable.formUnion(new)
        wakeReader()
    }

    /// Returns after the lane has completed the revocation and its stored offsets are committed.
    func revoke(_ partitions: [Int32]) async {
        let gone = assigned.filter { partitions.contains($0.id.partition) }
        await listener?.revoked(gone)
        if commitError == nil { commitStored() }
        drop(gone)
    }

    func lose(_ partitions: [Int32]) async {
        let gone = assigned.filter { partitions.contains($0.id.partition) }
        await listener?.lost(gone)
        drop(gone)
    }

    private func drop(_ gone: [AssignedPartition]) {
        assigned.removeAll { gone.contains($0) }
        for partition in gone { stored[partition] = nil }
    }

    private func commitStored() {
        for (partition, next) in stored where refusals[partition.id.topic] == nil { commits[partition.id] = next }
    }

    private func wakeReader() {
        reader?.resume()
        reader = nil
    }

    // MARK: - RequestSource

    func subscribe(to topics: [String], listener: any RebalanceListener) async throws(KafkaError) {
        self.listener = listener
        subscribed = topics
    }

    func records(max: Int) async throws(KafkaError) -> [ConsumerRecord] {
        while isReading {
            if let failure { throw failure }
            let records = takeReadable(max: max)
            if !records.isEmpty { return records }
            await withCheckedContinuation { reader = $0 }
        }
        return []
    }

    private func takeReadable(max: Int) -> [ConsumerRecord] {
        var taken: [ConsumerRecord] = []
        var left: [ConsumerRecord] = []
        for var record in waiting {
            if taken.count < max, !held.contains(record.partition.id),
                let owned = assigned.first(where: { $0.id == record.partition.id }), readable.contains(owned)
            {
                record.partition = owned
                taken.append(record)
            } else {
                left.append(record)
            }
        }
        waiting = left
        return taken
    }

    var isAskedForRecords: Bool { reader != nil }

    var unreadCount: Int { waiting.count }

    func stopReading() {
        isReading = false
        wakeReader()
    }

    func hold(_ partition: AssignedPartition) { held.insert(partition.id) }

    func resume(_ partition: AssignedPartition) {
        held.remove(partition.id)
        wakeReader()
    }

    func store(_ offsets: [(partition: AssignedPartition, next: CommittedOffset)]) {
        for (partition, next) in offsets where assigned.contains(partition) { stored[partition] = next }
    }

    func commit(within bound: Duration) async throws(KafkaError) -> [AssignedPartition: Int64] {
        commitCount += 1
        if commitDelay > .zero { try? await Task.sleep(for: commitDelay) }
        if let commitError { throw commitError }
        if stored.values.contains(where: { $0.metadata.utf8.count > maxMetadata }) {
            throw KafkaError(librdkafkaCode: 12, doing: "commit offsets")
        }
        commitStored()
        return stored.mapValues(\.offset)
    }

    func noteCommitted(_ offsets: [(partition: AssignedPartition, next: Int64)]) {
        for (partition, next) in offsets { commits[partition.id] = CommittedOffset(next) }
    }

    var membership: GroupMembership? {
        get async {
            membershipQuestions += 1
            if isMembershipHeld { await withCheckedContinuation { heldMembership = $0 } }
            return assigned.isEmpty ? nil : GroupMembership()
        }
    }

    func committedOffsets(
        of assigned: [AssignedPartition], within bound: Duration
    ) async throws(KafkaError) -> [AssignedPartition: CommittedOffset] {
        let committed = await commits.merging(transactionOffsets()) { _, ofTransaction in ofTransaction }
        return assigned.reduce(into: [:]) { known, partition in
            known[partition] = committed[partition.id].map { dropsMetadata ? CommittedOffset($0.offset) : $0 }
        }
    }

    /// Ends reading with an error, as when another process has replaced this static member.
    func fail(with error: KafkaError) {
        failure = error
        wakeReader()
    }

    /// Merges the offsets of transactions into the group's committed offsets. If a partition has both, those of transactions count.
    func countOffsets(of transactions: @escaping @Sendable () async -> [TopicPartition: CommittedOffset]) {
        transactionOffsets = transactions
    }

    var positions: [KafkaConsumer.Position] {
        assigned.map { KafkaConsumer.Position(partition: $0, committed: committed[$0.id], end: nextOffsets[$0.id]) }
    }

    var brokersAreDown: Bool { false }
    var groupRefusal: String? { nil }

    nonisolated var statistics: ClientStatistics? { nil }

    func partitionCount(of topic: String) -> Int? {
        partitionCountQuestions += 1
        return knownPartitionCount
    }

    func existingTopics() -> Set<String>? { existing }

    func diagnosis(of topic: String) -> TopicDiagnosis { diagnosis }

    func close(within bound: Duration) async {
        defer { onClose() }
        let all = assigned
        if !all.isEmpty, !leavesSilently {
            await listener?.revoked(all)
            if commitError == nil { commitStored() }
        }
        drop(all)
        isClosed = true
        stopReading()
    }
}
