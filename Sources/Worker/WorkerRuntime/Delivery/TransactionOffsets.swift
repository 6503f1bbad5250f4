internal import EventLoop
internal import Kafka

/// The offsets and metadata that transactions commit for each partition: the next offset, and the done-set beyond it.
///
/// Before an outcome is published beyond the committed offset, the brokers must have shown that they store commit
/// metadata. The first transactions therefore carry a metadata text that can be read back: see `MetadataLimit`.
///
/// Confined to its lane; not `Sendable`.
final class TransactionOffsets {
    private let partitions: PartitionTable
    private let ready: ReadyOutcomes
    private let source: any RequestSource
    private let loop: EventLoop
    /// The partitions whose offsets the transaction in flight may still commit.
    private var unsettled: Set<TopicPartition> = []
    /// `true` while the offsets of that transaction are in flight to the brokers.
    private var isSending = false
    /// Signalled when `unsettled` or `isSending` changes.
    private var settlement = Condition()

    init(of partitions: PartitionTable, ready: ReadyOutcomes, source: any RequestSource, loop: EventLoop) {
        (self.loop, self.partitions, self.ready, self.source) = (loop, partitions, ready, source)
    }

    // MARK: - The next transaction

    /// Returns the offsets to commit together with the outcomes of a batch.
    ///
    /// An empty batch commits what no outcome will commit: gaps, and records that a former owner had done and this lane skipped.
    /// - Returns: an empty dictionary if no transaction is needed.
    func next(publishing batch: [ReadyOutcomes.Entry]) -> [AssignedPartition: CommittedOffset] {
        var next = batch.isEmpty ? nextWithoutOutcomes() : next(after: batch)
        if partitions.metadataLimit.needsProof {
            for (id, commit) in next where commit.metadata.isEmpty {
                next[id] = CommitMetadata.proof(at: commit.offset)
            }
        }
        return next
    }

    private func next(after batch: [ReadyOutcomes.Entry]) -> [AssignedPartition: CommittedOffset] {
        var next: [AssignedPartition: CommittedOffset] = [:]
        for (id, entries) in Dictionary(grouping: batch, by: \.request.partition.id) {
            guard let partition = owned(id) else { continue }
            partition.commits.reviewCrashes(at: loop.now)
            next[id] = partition.commits.commit(publishing: Set(entries.map(\.request.slot)))
            partitions.adaptIntake(of: partition)
        }
        // Records wait for these crash notes, independently of other partitions' outcomes.
        for partition in partitions.all where !partition.isNoted && next[partition.id] == nil {
            next[partition.id] = partition.commits.uncommittedProgress()
        }
        return next
    }

    private func nextWithoutOutcomes() -> [AssignedPartition: CommittedOffset] {
        var next: [AssignedPartition: CommittedOffset] = [:]
        for partition in partitions.all {
            partition.commits.reviewCrashes(at: loop.now)
            next[partition.id] = partition.commits.uncommittedProgress()
        }
        if !next.isEmpty { return next }

        // Outcomes wait only for the proof. Any partition with a taken record can provide it.
        guard partitions.metadataLimit.needsProof, !ready.isEmpty else { return [:] }
        for partition in partitions.all {
            if let proof = partition.commits.proof() { return [partition.id: proof] }
        }
        return [:]
    }

    // MARK: - The end of a transaction

    /// Records the committed offsets, so that they are not committed again.
    func noteCommitted(_ offsets: [AssignedPartition: CommittedOffset]) async {
        for (id, commit) in offsets { owned(id)?.commits.noteCommitted(commit) }
        partitions.noteCommitted(offsets.map { ($0.key, $0.value) })
        await source.noteCommitted(offsets.map { (partition: $0.key, next: $0.value.offset) })
    }

    /// Reads back the metadata of a committed transaction, if the brokers have yet to prove that they store it.
    ///
    /// If they do not answer, the next transaction tries again.
    /// - Returns: `true` if the metadata was requested.
    func readProof(of offsets: [AssignedPartition: CommittedOffset]) async -> Bool {
        guard partitions.metadataLimit.needsProof,
            let (id, _) = offsets.first(where: { !$0.value.metadata.isEmpty })
        else { return false }

        let found = try? await source.committedOffsets(of: [id], within: .seconds(5))
        if let committed = found?[id] { partitions.metadataLimit.noteReadBack(committed) }
        return true
    }

    /// Records a transaction that the brokers may have refused because its metadata is too long.
    func noteAborted(_ attempt: TransactionAttempt, after failure: KafkaError) {
        guard partitions.metadataLimit.shrink(after: failure), attempt.batch.isEmpty else { return }
        // The same text would be refused again, so the partition waits until more requests are done.
        for (id, commit) in attempt.nextOffsets { owned(id)?.commits.leave(commit) }
    }

    /// Returns the partition, or `nil` if that assignment has ended.
    private func owned(_ id: AssignedPartition) -> OwnedPartition? {
        partitions[id.id].flatMap { $0.id == id ? $0 : nil }
    }

    // MARK: - The transaction in flight

    /// Records the start of a transaction. `end` must follow.
    func begin(_ offsets: [AssignedPartition: CommittedOffset]) { unsettled = Set(offsets.keys.map(\.id)) }

    /// Records the end of the transaction, committed or not.
    func end() {
        unsettled = []
        settlement.broadcast()
    }

    /// Waits while the transaction in flight may commit offsets of these partitions.
    ///
    /// A member that gives up a partition and joins again may still be in the same generation. Brokers then accept
    /// offsets that it sent before it gave up the partition. The group's committed offset is therefore known only after
    /// that transaction.
    func waitUntilSettled(of ids: Set<TopicPartition>) async {
        while !unsettled.isDisjoint(with: ids) {
            await suspend(unless: unsettled.isDisjoint(with: ids)) { settlement.add($0) }
        }
    }

    /// Records that the transaction's offsets are in flight. `endSending` must follow, on success and on failure.
    func beginSending() { isSending = true }

    func endSending() {
        isSending = false
        settlement.broadcast()
    }

    /// Waits while offsets of these partitions are in flight to the brokers.
    ///
    /// Brokers of Kafka 4.3 do not change a member's epoch while it gives up partitions one by one (KIP-848). They
    /// accept offsets of any partition in that epoch. Such a commit could arrive after the partition's next owner has
    /// read the group's offset. Once the brokers have the offsets, the next owner waits for the end of the transaction
    /// instead.
    func waitUntilArrived(of ids: Set<TopicPartition>) async {
        while isSending, !unsettled.isDisjoint(with: ids) {
            await suspend(unless: !isSending) { settlement.add($0) }
        }
    }
}
