internal import Basics

/// Gathers what waits in a consumer's partitions at its first assignment, and how old the oldest of it is.
struct Backlog {
    struct Report: Equatable {
        let waiting: Int64
        let partitions: Int
        /// How old the oldest record is by its timestamp; `nil` where none was read in time, or none has a timestamp.
        let oldestAge: Duration?
    }

    /// How long the first record of every partition is waited for once the offsets are known.
    private static let timeout = Duration.seconds(5)

    /// The timestamp of the first record of each partition that was read; `nil` for a record without one.
    private var firstTimestamps: [TopicPartition: Int64?] = [:]
    private var knownSince: Instant?

    /// Notes records as they are read.
    mutating func note(_ records: [ConsumerRecord]) {
        for record in records where firstTimestamps[record.partition.id] == nil {
            firstTimestamps.updateValue(record.timestamp, forKey: record.partition.id)
        }
    }

    /// - Returns: `nil` until the offsets of all partitions are known and the first record of each was read, or has not come
    ///   within 5 seconds.
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
