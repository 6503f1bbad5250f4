internal import EventLoop
internal import Kafka

/// The partitions whose offsets the transaction under way may still commit.
///
/// A member that gives a partition up and joins again may be in the same generation as before, so that brokers take offsets that
/// it sent before it gave the partition up. The group's committed offset is known only once that transaction has ended.
///
/// Confined to its lane; not `Sendable`.
final class OpenOffsets {
    private var partitions: Set<TopicPartition> = []
    private var change = Condition()

    /// Begins a transaction. `close` must follow.
    func open(of partitions: [TopicPartition]) { self.partitions = Set(partitions) }

    /// Ends the transaction, committed or not.
    func close() {
        partitions = []
        change.broadcast()
    }

    /// Waits while a transaction is under way that may commit offsets of these partitions.
    func waitUntilClosed(of ids: Set<TopicPartition>) async {
        while !partitions.isDisjoint(with: ids) {
            await suspend(unless: partitions.isDisjoint(with: ids)) { change.add($0) }
        }
    }
}
