/// Tracks a reader's progress to end offsets taken at one moment.
struct ReadProgress {
    private let ends: [TopicPartition: Int64]
    /// The partitions not yet read to their ends.
    private(set) var open: Set<TopicPartition>

    /// - Parameter starts: The offset at which reading begins in each partition; 0 if it is missing.
    /// - Parameter ends: One past the newest offset of each partition at that moment.
    init(from starts: [TopicPartition: Int64] = [:], upTo ends: [TopicPartition: Int64]) {
        self.ends = ends
        open = Set(ends.filter { $0.value > starts[$0.key] ?? 0 }.keys)
    }

    /// True once all records before the ends were read.
    var isComplete: Bool { open.isEmpty }

    /// Records that a record was read.
    /// - Returns: Whether it lies before the partition's end. A later record does not count.
    mutating func take(_ offset: Int64, of partition: TopicPartition) -> Bool {
        guard let end = ends[partition] else { return false }

        if offset + 1 >= end { open.remove(partition) }
        return offset < end
    }

    /// Records that the partition has nothing at `offset` or after it. The last offsets of a partition may hold no
    /// record (aborted transactions, transaction markers), so a record alone cannot show that the end is reached.
    mutating func reachEnd(at offset: Int64, of partition: TopicPartition) {
        if let end = ends[partition], offset >= end { open.remove(partition) }
    }
}
