import Console
import EventContract
import Kafka
import Logging

/// Reads parts of topics, each from a given time, until a deadline.
struct TopicScan {
    /// The part of a topic to read, selected by the timestamps of its records.
    struct Span {
        /// The time at which to begin.
        let since: WallTime
        /// The time at which to end; `nil`: at the end of the topic.
        var until: WallTime?
    }

    /// Limits how much of the topics is read.
    struct Extent: Sendable {
        /// How far back to search for requests.
        var since: Duration
        /// The maximum time that reading may take. The result states what was not read in time.
        var time: Duration
        /// The maximum number of newest records to read per topic. It applies to the dead-letter topic, and to all
        /// topics if the brokers have no time index.
        var newest = 20_000
    }

    private let reader: TopicReader
    private let admin: TopicAdmin
    private let brokers: String
    /// How long a call waits for the brokers.
    private let timeout: Duration
    private let deadline: Instant
    /// The maximum number of newest records to read per topic if the brokers have no time index.
    private let newest: Int
    private let progress: @Sendable (_ topic: String, _ records: Int) -> Void

    init(
        _ settings: Settings, extent: Extent, timeout: Duration, log: Logger,
        progress: @escaping @Sendable (_ topic: String, _ records: Int) -> Void
    ) throws {
        let configuration = try settings.consumer().reconnectingSoon
        reader = try TopicReader(configuration, log: log)
        admin = try TopicAdmin(configuration, log: log)
        brokers = settings.text("kafka.bootstrapServers")
        self.timeout = timeout
        self.progress = progress
        deadline = .now + extent.time
        newest = extent.newest
    }

    /// True once the time for reading has passed.
    var isOver: Bool { Instant.now >= deadline }

    /// Reads a part of a topic.
    /// - Parameters:
    ///   - span: the part; `nil`: the newest records.
    ///   - reading: updated with how much was read.
    ///   - body: returns `false` to stop reading.
    /// - Throws: `Failure` if the brokers do not answer.
    func read(_ span: Span?, into reading: inout RequestLives.Reading, body: (ConsumerRecord) -> Bool) async throws {
        do {
            let bounds = try await reader.bounds(of: reading.topic, within: timeout)
            let starts = try await starts(of: span, bounds: bounds, in: &reading)
            let ends = try await ends(of: span, bounds: bounds, reading: reading)
            try await read(from: starts, upTo: ends, into: &reading, body: body)
        } catch let error as KafkaError {
            try note(error, in: &reading)
        }
    }

    /// Reads the record at a position.
    /// - Returns: `nil` if it was deleted, or was not written yet.
    func record(at position: SourcePosition, into reading: inout RequestLives.Reading) async throws -> ConsumerRecord? {
        let id = TopicPartition(position.topic, position.partition)
        var found: ConsumerRecord?
        do {
            let bounds = try await reader.bounds(of: position.topic, within: timeout)
            let held = bounds[id] ?? 0..<0
            guard held.contains(position.offset) else {
                reading.held = held
                return nil
            }
            try await read(from: [id: position.offset], upTo: [id: position.offset + 1], into: &reading) { record in
                if record.offset == position.offset { found = record }
                return true
            }
        } catch let error as KafkaError {
            try note(error, in: &reading)
        }
        return found
    }

    /// Notes that a topic cannot be read. The other topics may be readable, and sufficient.
    private func note(_ error: KafkaError, in reading: inout RequestLives.Reading) throws(Failure) {
        guard [.authentication, .unknownTopicOrPartition].contains(error.kind) else {
            throw Failure(error, doing: "\(reading.topic) at \(brokers) cannot be read")
        }
        reading.problem = "\(error)"
    }

    private func read(
        from starts: [TopicPartition: Int64], upTo ends: [TopicPartition: Int64],
        into reading: inout RequestLives.Reading, body: (ConsumerRecord) -> Bool
    ) async throws {
        var (count, isCut) = (0, false)
        progress(reading.topic, reading.records)
        try await reader.read(from: starts, upTo: ends, timeout: timeout) { record in
            count += 1  // bounded: a count of records read
            if count % 1000 == 0 { progress(reading.topic, reading.records + count) }
            isCut = isOver
            return body(record) && !isCut
        }
        reading.records += count
        reading.isCut = reading.isCut || isCut
    }

    // MARK: - Offsets

    private func starts(
        of span: Span?, bounds: [TopicPartition: Range<Int64>], in reading: inout RequestLives.Reading
    ) async throws -> [TopicPartition: Int64] {
        if let span {
            let ids = bounds.keys.sorted()
            let found = try await admin.offsets(of: ids, since: span.since.milliseconds, within: timeout)
            // Without any offset, no record may be that recent. Brokers without a time index, such as the embedded one,
            // return no offset for any time, even for the earliest.
            var hasIndex = !found.isEmpty || bounds.values.allSatisfy(\.isEmpty)
            if !hasIndex { hasIndex = try await !admin.offsets(of: ids, since: 0, within: timeout).isEmpty }
            if hasIndex {
                (reading.since, reading.newest) = (min(reading.since ?? span.since, span.since), nil)
                // A partition without such a record is skipped.
                return bounds.mapValues(\.upperBound).merging(found) { $1 }
            }
        }

        let most = max(1, newest / max(bounds.count, 1))
        (reading.since, reading.newest) = (nil, most)
        return bounds.mapValues { max($0.lowerBound, $0.upperBound - Int64(most)) }
    }

    private func ends(
        of span: Span?, bounds: [TopicPartition: Range<Int64>], reading: RequestLives.Reading
    ) async throws -> [TopicPartition: Int64] {
        let ends = bounds.mapValues(\.upperBound)
        guard reading.newest == nil, let until = span?.until else { return ends }

        let found = try await admin.offsets(of: bounds.keys.sorted(), since: until.milliseconds, within: timeout)
        return ends.merging(found) { min($0, $1) }
    }
}
