import EventContract
import Kafka
import Logging
import WorkerRuntime

/// Reads the dead-letter topic as it stands: from its oldest record up to what was its end when reading began.
struct DeadLetterTopic {
    /// A dead letter and where it lies.
    struct Entry: Sendable {
        let letter: DeadLetter
        let mark: RedriveMark
        /// Whether it went back already.
        let isRedriven: Bool
    }

    private let configuration: ConsumerConfiguration
    private let topic: String
    private let bound: Duration
    private let log: Logger

    /// How long the broker may say nothing before reading ends with what is there: gaps, as transactions leave them, can
    /// stand at a partition's end.
    private static let silence: Duration = .seconds(3)

    init(_ settings: Settings, within bound: Duration, log: Logger) throws {
        configuration = try settings.consumer()
        topic = settings.topics.deadLetters
        self.bound = bound
        self.log = log
    }

    /// Hands over each dead letter that matches, partition by partition in its order.
    /// - Parameter body: returns `false` to end.
    func forEach(_ filter: DeadLetterFilter, _ body: (Entry) async throws -> Bool) async throws {
        let ends = try await TopicReader(configuration, log: log).bounds(of: topic, within: bound)
        // Twice over the topic: a mark stands behind its letter, perhaps in another partition.
        var marks: Set<RedriveMark> = []
        try await read(upTo: ends) { record, headers in
            if let mark = RedriveMark(value: record.value, headers: headers) { marks.insert(mark) }
            return true
        }
        try await read(upTo: ends) { record, headers in
            guard let letter = DeadLetter(key: record.key, value: record.value, headers: headers),
                filter.matches(letter)
            else { return true }
            let mark = RedriveMark(partition: record.partition.id.partition, offset: record.offset)
            return try await body(Entry(letter: letter, mark: mark, isRedriven: marks.contains(mark)))
        }
    }

    private func read(
        upTo ends: [TopicPartition: Range<Int64>], _ body: (ConsumerRecord, [EventHeader]) async throws -> Bool
    ) async throws {
        var open = ends.filter { !$0.value.isEmpty }
        guard !open.isEmpty else { return }
        let reader = try TopicReader(configuration, log: log)
        try await reader.open([topic], at: .beginning, within: bound)
        while !open.isEmpty {
            let records = try await reader.records(max: 500, within: Self.silence)
            if records.isEmpty { return }
            for record in records {
                guard let end = ends[record.partition.id]?.upperBound, record.offset < end else { continue }
                if record.offset + 1 >= end { open[record.partition.id] = nil }
                let headers = record.headers.map { EventHeader($0.name, $0.value) }
                guard try await body(record, headers) else { return }
            }
        }
    }
}
