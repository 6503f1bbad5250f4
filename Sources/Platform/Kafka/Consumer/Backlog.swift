internal import Basics

/// Measures the backlog of a consumer's partitions at its first assignment, and the age of its oldest record.
struct Backlog {
    struct Report: Equatable {
        let waiting: Int64
        let partitions: Int
        /// The age of the oldest record by its timestamp; `nil` if none was read in time, or none has a timestamp.
        let oldestAge: Duration?
    }

    /// How long to wait for the first record of every partition once the offsets are known.
    private static let timeout = Duration.seconds(5)

    /// The timestamp of the first record read in each partition; `nil` for a record without one.
    private var firstTimestamps: [TopicPartition: Int64?] = [:]
    private var knownSince: Instant?

    /// Records the timestamps of records as they are read.
    mutating func note(_ records: [ConsumerRecord]) {
        for record in records where firstTimestamps[record.partition.id] == nil {
            firstTimestamps.updateValue(record.timestamp, forKey: record.partition.id)
        }
    }

    /// - Returns: `nil` until the offsets of all partitions are known, and the first record of each was read or did not
    ///   arrive within 5 seconds.
    mutating func report(
        on sources: [PartitionSource], at now: Instant, wallClock: WallTime
    ) -> Report? {
        guard !sources.isEmpty, sources.allSatisfy(\.isKnown) else { return nil }
        if knownSince == nil { knownSince = now }

        let waiting = sources.filter { ($0.lag ?? 0) > 0 }
        let isRead = waiting.allSatisfy { firstTimestamps[$0.partition.id] != nil }
        guard isRead || (knownSince ?? now).duration(to: now) >= Self.timeout else { return nil }

        let oldest = waiting.compactMap { firstTimestamps[$0.partition.id] ?? nil }.min()
        return Report(
            waiting: waiting.reduce(0) { $0.saturatingAdding($1.lag ?? 0) }, partitions: sources.count,
            oldestAge: oldest.map { max(.zero, wallClock.duration(since: WallTime(milliseconds: $0))) })
    }
}
