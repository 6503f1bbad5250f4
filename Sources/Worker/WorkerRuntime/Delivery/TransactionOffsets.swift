internal import Basics
internal import EventLoop
internal import Kafka

/// What transactions commit of each partition: where the group continues, and what is done beyond that offset.
///
/// Before the first outcome is published beyond an offset, the brokers must have shown that they keep what is written beside
/// it. So the first transactions carry a text that can be read back: see `MetadataLimit`.
///
/// Confined to its lane; not `Sendable`.
final class TransactionOffsets {
    private let partitions: PartitionTable
    private let ready: ReadyOutcomes
    private let source: any RequestSource
    private let loop: EventLoop
    /// The partitions whose offsets the transaction under way may still commit.
    private var unsettled: Set<TopicPartition> = []
    /// `true` while the offsets of that transaction are on their way to the brokers.
    private var isSending = false
    /// Signalled when one of the two above may let somebody go on.
    private var settlement = Condition()

    init(of partitions: PartitionTable, ready: ReadyOutcomes, source: any RequestSource, loop: EventLoop) {
        self.loop = loop
        self.partitions = partitions
        self.ready = ready
        self.source = source
    }

    // MARK: - What the next transaction commits

    /// Returns where the group continues once the outcomes of a batch are published.
    ///
    /// Without a batch, that is what no outcome will take along: the offset behind records that a former owner had done. Empty
    /// where no transaction is needed.
    func next(publishing batch: [ReadyOutcomes.Entry]) -> [AssignedPartition: CommittedOffset] {
        var next = batch.isEmpty ? nextWithoutOutcomes() : nextBehind(batch)
        if partitions.metadataLimit.needsProof {
            for (id, commit) in next where commit.metadata.isEmpty {
                next[id] = CommitMetadata.proof(at: commit.offset)
            }
        }
        if isPutBack(.transactionOffsetOneTooFar) {
            return next.mapValues { CommittedOffset($0.offset + 1, metadata: $0.metadata) }
        }
        return next
    }

    private func nextBehind(_ batch: [ReadyOutcomes.Entry]) -> [AssignedPartition: CommittedOffset] {
        var next: [AssignedPartition: CommittedOffset] = [:]
        for (id, entries) in Dictionary(grouping: batch, by: \.request.partition.id) {
            guard let partition = owned(id) else { continue }
            partition.reviewCrashes(at: loop.now)
            next[id] = partition.commit(publishing: Set(entries.map(\.request.slot)))
            partitions.adaptIntake(of: partition)
        }
        // Records wait for these notes, whatever the outcomes of others are doing.
        for partition in partitions.all where !partition.isNoted && next[partition.id] == nil {
            next[partition.id] = partition.uncommittedProgress()
        }
        return next
    }

    private func nextWithoutOutcomes() -> [AssignedPartition: CommittedOffset] {
        var next: [AssignedPartition: CommittedOffset] = [:]
        for partition in partitions.all {
            partition.reviewCrashes(at: loop.now)
            next[partition.id] = partition.uncommittedProgress()
        }
        if !next.isEmpty { return next }

        // Outcomes wait for the proof alone: any partition from which a record was taken can give it.
        guard partitions.metadataLimit.needsProof, !ready.isEmpty else { return [:] }
        for partition in partitions.all {
            if let proof = partition.proof() { return [partition.id: proof] }
        }
        return [:]
    }

    // MARK: - How a transaction ended

    /// Notes what is committed of some partitions, so that it is not committed again.
    func noteCommitted(_ offsets: [AssignedPartition: CommittedOffset]) async {
        for (id, commit) in offsets { owned(id)?.noteCommitted(commit) }
        partitions.noteCommitted(offsets.map { ($0.key, $0.value) })
        await source.noteCommitted(offsets.map { (partition: $0.key, next: $0.value.offset) })
    }

    /// Asks the brokers, where they have to show it, whether they keep what a transaction has written beside its offsets.
    ///
    /// Where they do not answer, the next transaction asks again.
    /// - Returns: whether the question was asked.
    func readProof(of offsets: [AssignedPartition: CommittedOffset]) async -> Bool {
        guard partitions.metadataLimit.needsProof,
            let (id, _) = offsets.first(where: { !$0.value.metadata.isEmpty })
        else { return false }

        let found = try? await source.committedOffsets(of: [id], within: .seconds(5))
        if let committed = found?[id] { partitions.metadataLimit.noteReadBack(committed) }
        return true
    }

    /// Notes a transaction that the brokers may have refused for the length of its metadata.
    func noteAborted(_ attempt: TransactionAttempt, after failure: KafkaError) {
        guard partitions.metadataLimit.shrink(after: failure), attempt.batch.isEmpty else { return }
        // The same text would be refused again, so the next one waits until more is done.
        for (id, commit) in attempt.nextOffsets { owned(id)?.leave(commit) }
    }

    /// Returns a partition unless the assignment that is meant is over.
    private func owned(_ id: AssignedPartition) -> OwnedPartition? {
        partitions[id.id].flatMap { $0.id == id ? $0 : nil }
    }

    // MARK: - While a transaction is under way

    /// Notes the begin of a transaction. `end` must follow.
    func begin(_ offsets: [AssignedPartition: CommittedOffset]) { unsettled = Set(offsets.keys.map(\.id)) }

    /// Notes the end of the transaction, whether it was committed or not.
    func end() {
        unsettled = []
        settlement.broadcast()
    }

    /// Waits while a transaction is under way that may commit offsets of these partitions.
    ///
    /// A member that gives a partition up and joins again may be in the same generation as before, so that brokers take offsets
    /// that it sent before it gave the partition up. The group's committed offset is known only once that transaction has ended.
    func waitUntilSettled(of ids: Set<TopicPartition>) async {
        while !unsettled.isDisjoint(with: ids) {
            await suspend(unless: unsettled.isDisjoint(with: ids)) { settlement.add($0) }
        }
    }

    /// Notes that the transaction's offsets are on their way. `endSending` must follow, whatever comes of it.
    func beginSending() { isSending = true }

    func endSending() {
        isSending = false
        settlement.broadcast()
    }

    /// Waits while offsets of these partitions are on their way to the brokers.
    ///
    /// Brokers of Kafka 4.3 leave a member's epoch as it is while it gives up one partition after the other (KIP-848), and take
    /// offsets of any partition in that epoch. They would commit behind the back of a partition's next owner, who has read where
    /// the group was before. Once they have the offsets, the next owner waits for the transaction's end instead.
    func waitUntilArrived(of ids: Set<TopicPartition>) async {
        while isSending, !unsettled.isDisjoint(with: ids) {
            await suspend(unless: !isSending) { settlement.add($0) }
        }
    }
}
