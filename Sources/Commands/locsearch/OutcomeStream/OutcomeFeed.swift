import ArgumentParser
import EventContract
import Kafka
import Logging
import WorkerRuntime

/// An outcome with the record that contained it.
struct ReceivedOutcome: Sendable {
    let record: ConsumerRecord
    /// `nil` for a record of the outcome topics that is not an outcome.
    let event: OutcomeEvent?
    /// The value as text: one line of JSON. Valid JSON has line breaks only between its members, so that blanks can
    /// replace them.
    var json: String {
        let value = (record.value ?? []).map { $0 == 0x0A || $0 == 0x0D ? 0x20 : $0 }
        return String(decoding: value, as: UTF8.self)
    }

    /// The record as one line for `schemas/validate.py --events`.
    var line: String {
        String(
            decoding: EventLine.encode(
                topic: record.partition.id.topic, partition: record.partition.id.partition, offset: record.offset,
                key: record.key, value: record.value, headers: record.headers),
            as: UTF8.self)
    }
}

/// Reads the outcomes that workers publish, without joining a consumer group.
struct OutcomeFeed: Sendable {
    private let reader: TopicReader
    /// The topics to read: results, then errors.
    let topics: [String]

    /// - Throws: `KafkaError` if no broker answers within `bound`.
    init(_ settings: Settings, at start: TopicReader.Start, within bound: Duration, log: Logger) async throws {
        reader = try TopicReader(try settings.consumer(), log: log)
        topics = [settings.topics.results, settings.topics.errors]
        do throws(KafkaError) {
            try await reader.open(topics, at: start, within: bound)
        } catch {
            guard error.kind == .unreachable || error.kind == .timedOut else { throw error }
            // If the address was not set, the advice to set it comes before the error.
            let cure =
                settings.isDefault("kafka.bootstrapServers")
                ? "set kafka.bootstrapServers, or start `locsearch demo`; " : ""
            throw Failure(
                "no broker responds at \(settings.text("kafka.bootstrapServers")) within \(bound.text): "
                    + "\(cure)\(error)", code: Failure.unreachable)
        }
    }

    /// Returns outcomes as soon as there are any; empty if none arrived in time.
    func next(within bound: Duration) async throws -> [ReceivedOutcome] {
        try await reader.records(max: 500, within: bound).map { record in
            let headers = record.headers
            return ReceivedOutcome(
                record: record, event: try? OutcomeReader().read(value: record.value, headers: headers))
        }
    }
}

/// Selects the outcomes that `watch` shows. An option that is not given excludes none.
struct OutcomeFilter: ParsableArguments {
    @Option(help: "Only outcomes whose record has this key.") var key: String?
    @Option(help: "Only outcomes of this session.") var session: String?
    @Option(help: "Only outcomes of the request with this id.") var requestID: String?
    @Flag(help: "Only errors, no results.") var errors = false

    func matches(_ outcome: ReceivedOutcome) -> Bool {
        if let key, outcome.record.key != Array(key.utf8) { return false }
        if let session, outcome.event?.sessionID != session { return false }
        if let requestID, outcome.event?.requestID != requestID { return false }
        if errors { guard case .failed? = outcome.event?.body else { return false } }
        return true
    }
}
