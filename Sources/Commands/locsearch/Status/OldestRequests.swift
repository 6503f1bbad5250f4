internal import Basics
import EventContract
import Kafka
import Logging

/// Reads when the oldest request that waits in each partition was written: the timestamp of its record.
struct OldestRequests {
    private let reader: TopicReader
    /// What was read last. A request that still is the oldest one is not read again.
    private var known: [TopicPartition: (offset: Int64, time: EventTime?)] = [:]

    /// - Parameter configuration: of the group. Little is fetched at a time, because one record of each partition is needed.
    init(_ configuration: ConsumerConfiguration, log: Logger) throws(KafkaError) {
        var configuration = configuration
        configuration.properties["fetch.message.max.bytes"] = "65536"
        configuration.properties["queued.max.messages.kbytes"] = "1024"
        reader = try TopicReader(configuration, log: log)
    }

    /// Returns the times of those partitions in which a request waits, as far as they can be read within `bound`.
    mutating func times(
        of partitions: [TopicPartition: WaitingRequests], within bound: Duration
    ) async throws(KafkaError) -> [TopicPartition: EventTime] {
        let starts = partitions.filter { $0.value.count > 0 }.mapValues(\.first)
        known = known.filter { starts[$0.key] == $0.value.offset }
        try await read(starts.filter { known[$0.key] == nil }, within: bound)
        return known.compactMapValues(\.time)
    }

    private mutating func read(
        _ starts: [TopicPartition: Int64], within bound: Duration
    ) async throws(KafkaError) {
        guard !starts.isEmpty else { return }
        let deadline = Instant.now + bound
        var missing = starts
        try await reader.open(starts)

        while !missing.isEmpty, case let left = deadline - .now, left > .zero {
            let news = try await reader.news(max: 200, within: left)
            for record in news.records {
                // What stands behind the offset is read too, and records of the partitions that were read before.
                guard let start = missing[record.partition.id], record.offset >= start else { continue }
                missing[record.partition.id] = nil
                known[record.partition.id] = (start, record.timestamp.map { EventTime(milliseconds: $0) })
            }
            // Offsets at the end of a partition may hold no record, such as those of a transaction's end.
            for (id, offset) in news.ends where offset > missing[id] ?? .max { missing[id] = nil }
        }
        try await reader.open([:])
    }
}
