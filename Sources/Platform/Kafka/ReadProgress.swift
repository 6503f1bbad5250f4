/// Follows a reader to the ends that some partitions had at one moment.
struct ReadProgress {
    private let ends: [TopicPartition: Int64]
    /// The partitions that are not read to their ends yet.
    private(set) var open: Set<TopicPartition>

    /// - Parameter starts: the offset at which the reading of each partition begins; 0 where none is named.
    /// - Parameter ends: one past the newest offset of each partition at that moment.
    init(from starts: [TopicPartition: Int64] = [:], upTo ends: [TopicPartition: Int64]) {
        self.ends = ends
        open = Set(ends.filter { $0.value > starts[$0.key] ?? 0 }.keys)
    }

    /// True once nothing is left that stood in any partition at that moment.
    var isComplete: Bool { open.isEmpty }

    /// Notes a record.
    /// - Returns: whether it stood there at that moment; one that came later does not count.
    mutating func take(_ offset: Int64, of partition: TopicPartition) -> Bool {
        guard let end = ends[partition] else { return false }

        if offset + 1 >= end { open.remove(partition) }
        return offset < end
    }

    /// Notes that the broker has nothing at `offset` or behind it. The last offsets of a partition may hold no record
    /// (aborted transactions, the ends of transactions), so that no record ever tells that the end is reached.
    mutating func reachEnd(at offset: Int64, of partition: TopicPartition) {
        if let end = ends[partition], offset >= end { open.remove(partition) }
    }
}
