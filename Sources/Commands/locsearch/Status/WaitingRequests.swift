internal import Basics
import Kafka

/// The requests of one partition that the group has not finished.
struct WaitingRequests: Sendable, Hashable {
    /// The offset of the oldest of them, where there are any.
    let first: Int64
    let count: Int64
}

extension OffsetsReport {
    /// Returns what waits in each partition, where that is known.
    ///
    /// A group that has committed nothing at all on a topic reads from where its settings say. Once it has committed anything
    /// there, it reads a partition without a commit from its beginning.
    func waiting(inNewGroupFrom start: StartPosition) -> [TopicPartition: WaitingRequests] {
        let begun = Set(partitions.filter { $0.commit != nil }.map(\.id.topic))
        return partitions.reduce(into: [:]) { waiting, partition in
            let bounds = partition.bounds
            if let commit = partition.commit, let open = partition.open {
                waiting[partition.id] = WaitingRequests(first: max(bounds.lowerBound, commit.offset), count: open)
            } else if start == .earliest || begun.contains(partition.id.topic) || bounds.isEmpty {
                waiting[partition.id] = WaitingRequests(first: bounds.lowerBound, count: Int64(bounds.count))
            }
        }
    }
}
