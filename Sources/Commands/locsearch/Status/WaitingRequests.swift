internal import Basics
import Kafka

/// The unfinished requests of one partition.
struct WaitingRequests: Sendable, Hashable {
    /// The offset of the oldest of them, if there are any.
    let first: Int64
    let count: Int64
}

extension OffsetsReport {
    /// Returns the waiting requests of each partition for which they are known.
    ///
    /// A group without any commits on a topic starts at the position in the settings. Once it has committed any offset
    /// there, it reads partitions without a commit from their beginning.
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
