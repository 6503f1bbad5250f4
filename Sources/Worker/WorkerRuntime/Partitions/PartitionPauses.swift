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
        partition.keptRecords.append(record)
        defer { pause(partition, because: .care) }
        return !partition.pauseReasons.contains(.care)
    }

    func pause(_ partition: OwnedPartition, because reason: OwnedPartition.PauseReasons) {
        let wasPaused = !partition.pauseReasons.isEmpty
        partition.pauseReasons.insert(reason)
        guard !wasPaused else { return }
        due.append(partition.id)
        Task(executorPreference: loop) { [source, id = partition.id] in await source.hold(id) }
    }

    /// Pauses the partitions that are due for it. The reader calls this before each read. While records arrive, the
    /// reader never waits, so the task that pauses a partition would run only after all fetched records were read.
    func pauseDue() async {
        while let id = due.popLast() { await source.hold(id) }
    }

    /// Resumes reading once no reason is left.
    func resume(_ partition: OwnedPartition, from reason: OwnedPartition.PauseReasons) {
        guard partition.pauseReasons.remove(reason) != nil, partition.pauseReasons.isEmpty else { return }
        due.removeAll { $0 == partition.id }
        Task(executorPreference: loop) { [source, id = partition.id] in await source.resume(id) }
    }
}
