import EventContract
import Kafka
import Logging

/// Reads the timestamp of the oldest waiting request in each partition.
struct OldestRequests {
    private let reader: TopicReader
    /// The latest results. A request that is still the oldest is not read again.
    private var known: [TopicPartition: (offset: Int64, time: WallTime?)] = [:]

    /// - Parameter configuration: the configuration of the group. Fetches are made small, because only one record of
    ///   each partition is needed.
    init(_ configuration: ConsumerConfiguration, log: Logger) throws(KafkaError) {
        var configuration = configuration
        configuration.properties["fetch.message.max.bytes"] = "65536"
        configuration.properties["queued.max.messages.kbytes"] = "1024"
        reader = try TopicReader(configuration, log: log)
    }

    /// Returns the times for partitions with a waiting request, as far as they can be read within `bound`.
    mutating func times(
        of partitions: [TopicPartition: WaitingRequests], within bound: Duration
    ) async throws(KafkaError) -> [TopicPartition: WallTime] {
        let starts = partitions.filter { $0.value.count > 0 }.mapValues(\.first)
        known = known.filter { starts[$0.key] == $0.value.offset }
        try await read(starts.filter { known[$0.key] == nil }, within: bound)
        return known.compactMapValues(\.time)
    }

    private mutating func read(_ starts: [TopicPartition: Int64], within bound: Duration) async throws(KafkaError) {
        guard !starts.isEmpty else { return }
        let deadline = Instant.now + bound
        var missing = starts
        try await reader.open(starts)

        while !missing.isEmpty, case let left = deadline - .now, left > .zero {
            let news = try await reader.news(max: 200, within: left)
            for record in news.records {
                // The reader also returns records after the offset, and records of partitions that are finished
                // already.
                guard let start = missing[record.partition.id], record.offset >= start else { continue }
                missing[record.partition.id] = nil
                known[record.partition.id] = (start, record.time)
            }
            // Offsets at the end of a partition may hold no record, for example the end marker of a transaction.
            for (id, offset) in news.ends where offset > missing[id] ?? .max { missing[id] = nil }
        }
        try await reader.open([:])
    }
}

/// The unfinished requests of one partition.
struct WaitingRequests: Sendable, Hashable {
    /// The offset of the oldest of them, if there are any.
    let first: Int64
    let count: Int64
}

extension OffsetsReport {
    /// The waiting requests of each partition for which they are known. A partition without a commit is read from its
    /// beginning.
    var waiting: [TopicPartition: WaitingRequests] {
        partitions.reduce(into: [:]) { waiting, partition in
            let bounds = partition.bounds
            if let commit = partition.commit, let open = partition.open {
                waiting[partition.id] = WaitingRequests(first: max(bounds.lowerBound, commit.offset), count: open)
            } else {
                waiting[partition.id] = WaitingRequests(first: bounds.lowerBound, count: Int64(bounds.count))
            }
        }
    }
}
