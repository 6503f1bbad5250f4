internal import EventLoop
internal import Kafka

/// Pauses and resumes reading of partitions at the source.
///
/// Confined to its lane; not `Sendable`.
final class PartitionPauses {
    private let source: any RequestSource
    private let loop: EventLoop
    /// Partitions that the next `pauseDue` pauses.
    private var due: [AssignedPartition] = []

    init(_ source: any RequestSource, loop: EventLoop) {
        self.source = source
        self.loop = loop
    }

    /// Keeps a record until careful intake begins it, and pauses reading of its partition.
    /// - Returns: `true` for the first kept record.
    func keep(_ record: ConsumerRecord, of partition: OwnedPartition) -> Bool {
        partition.held.append(record)
        defer { hold(partition, because: .care) }
        return !partition.holdReasons.contains(.care)
    }

    func hold(_ partition: OwnedPartition, because reason: OwnedPartition.HoldReasons) {
        let wasHeld = !partition.holdReasons.isEmpty
        partition.holdReasons.insert(reason)
        guard !wasHeld else { return }
        due.append(partition.id)
        Task(executorPreference: loop) { [source, id = partition.id] in await source.hold(id) }
    }

    /// Pauses the partitions that are due for it. The reader calls this before each read. While records arrive, the
    /// reader never waits, so the task that pauses a partition would run only after all fetched records were read.
    func pauseDue() async {
        while let id = due.popLast() { await source.hold(id) }
    }

    /// Resumes reading once no reason is left.
    func release(_ partition: OwnedPartition, from reason: OwnedPartition.HoldReasons) {
        guard partition.holdReasons.remove(reason) != nil, partition.holdReasons.isEmpty else { return }
        due.removeAll { $0 == partition.id }
        Task(executorPreference: loop) { [source, id = partition.id] in await source.resume(id) }
    }
}
