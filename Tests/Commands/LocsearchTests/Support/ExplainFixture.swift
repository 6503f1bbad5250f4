import Kafka
import KafkaTestSupport
import LocationSearch
import TestSupport
import WorkerRuntime

@testable import EventContract

/// A broker with the topics of a worker and hand-written records, and `explain` as a process.
struct ExplainFixture {
    let broker: TestBroker
    private let producer: TestProducer
    /// The time at which the first record was written.
    let start = WallTime(milliseconds: WallTime.now().milliseconds - 60_000)

    init() async throws {
        broker = try TestBroker(topics: ["requests": 2, "results": 2, "errors": 1, "letters": 1, "fleet": 1])
        producer = try TestProducer(broker.bootstrapServers)
    }

    func time(_ milliseconds: Int64) -> WallTime { WallTime(milliseconds: start.milliseconds + milliseconds) }

    // MARK: - The topics

    /// Writes a request to the requests topic.
    /// - Parameter id: its `requestId`; `nil`: it has none.
    @discardableResult
    func request(
        _ id: String?, in partition: Int32 = 0, at milliseconds: Int64 = 0, trace: String? = nil, value: String? = nil
    ) async throws -> SourcePosition {
        let member = id.map { #""requestId":"\#($0)","# } ?? ""
        var headers = [
            RecordHeader("ce_specversion", text: "1.0"), RecordHeader("ce_source", text: "/shop"),
            RecordHeader("ce_type", text: "location-search.requested.v1"),
        ]
        if let trace { headers.append(RecordHeader("traceparent", text: "00-\(trace)-00f067aa0ba902b7-01")) }
        let body = value ?? #"{\#(member)"category":"ramen","location":{"latitude":35.6,"longitude":139.7}}"#

        let topic = broker.name("requests")
        let position = try await producer.send(
            Array(body.utf8), to: topic, partition: partition, key: Array("k".utf8),
            headers: trace == nil && id == nil ? [] : headers + [RecordHeader("ce_id", text: id ?? "e")],
            at: time(milliseconds).milliseconds)
        return SourcePosition(topic: topic, partition: position.partition, offset: position.offset)
    }

    /// Writes the outcome of a request as a worker does, 100 ms to 612 ms after its record.
    /// - Parameter error: the error; `nil`: a result without places.
    func answer(
        _ source: SourcePosition, id: String, error: SearchError? = nil, steps: RequestSteps? = nil
    ) async throws {
        var encoder = OutcomeEncoder(seed: 1)
        let result: Result<SearchOutcome.Result, SearchError> = error.map { .failure($0) } ?? .success(.init())
        let outcome = SearchOutcome(
            requestID: id, operation: .search, provider: .googlePlaces, triedProviders: [.googlePlaces],
            sessionID: nil, result: result, upstream: .milliseconds(382), attempts: 2)
        let event = encoder.encode(
            outcome, for: RequestEnvelope(source: source), receivedAt: time(100), completedAt: time(600), steps: steps)

        try await producer.send(
            event.value, to: broker.name(error == nil ? "results" : "errors"), key: event.key, headers: event.headers,
            at: time(612).milliseconds)
    }

    /// Writes the dead letter of a record, and a mark that it was sent back.
    func setAside(_ source: SourcePosition, value: String, isRedriven: Bool) async throws {
        let record = ConsumerRecord(source: source, value: Array(value.utf8))
        let letter = DeadLetter(
            record, error: SearchError(.invalidRequest, "location is missing", member: "location"), at: time(100))
        let topic = broker.name("letters")
        let position = try await producer.send(letter.value, to: topic, key: letter.key, headers: letter.headers)
        guard isRedriven else { return }

        let mark = RedriveMark(partition: position.partition, offset: position.offset)
        try await producer.send(nil, to: topic, headers: mark.headers, at: time(5000).milliseconds)
    }

    /// Commits an offset of partition 0 in the workers' group.
    func commit(_ offset: Int64) async throws {
        var configuration = ConsumerConfiguration(bootstrapServers: broker.bootstrapServers)
        configuration.groupID = broker.name("g")
        let admin = try GroupAdmin(configuration, log: .silent)
        let id = TopicPartition(broker.name("requests"), 0)
        try await admin.commit([id: CommittedOffset(offset)], within: .seconds(20))
    }

    // MARK: - The command

    var environment: [String: String] {
        [
            "KAFKA_BOOTSTRAP_SERVERS": broker.bootstrapServers, "KAFKA_GROUP_ID": broker.name("g"),
            "TOPICS_REQUESTS": broker.name("requests"), "TOPICS_RESULTS": broker.name("results"),
            "TOPICS_ERRORS": broker.name("errors"), "TOPICS_DEAD_LETTERS": broker.name("letters"),
            "TOPICS_FLEET": broker.name("fleet"),
        ]
    }

    /// Runs `locsearch explain` to its end.
    func run(_ arguments: [String], _ settings: [String: String] = [:]) async throws -> RunningProgram {
        try await RunningProgram.run(["explain"] + arguments, environment: environment.merging(settings) { $1 })
    }
}
