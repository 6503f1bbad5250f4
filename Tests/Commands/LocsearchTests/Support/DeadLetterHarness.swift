import EventContract
import Kafka
import KafkaTestSupport
import LocationSearch
import TestSupport
import Testing
import WorkerRuntime

/// A broker with a dead-letter topic, and `dead-letters` as a process.
struct DeadLetterHarness {
    let broker: TestBroker
    private let producer: TestProducer

    /// With embedded brokers, every partition has a separate broker.
    init(partitions: Int) async throws {
        broker = try TestBroker(
            brokers: partitions, topics: ["requests": 1, "letters": partitions, "results": 1, "errors": 1, "fleet": 1])
        if let embedded = broker.embedded {
            try embedded.setLeader(of: TopicPartition(broker.name("requests"), 0), to: 1)
            for partition in 0..<Int32(partitions) {
                let id = TopicPartition(broker.name("letters"), partition)
                try embedded.setLeader(of: id, to: partition + 1)
            }
        }
        producer = try TestProducer(broker.bootstrapServers)
    }

    /// The broker, for tests that inject failures.
    var embedded: EmbeddedBroker { get throws { try #require(broker.embedded) } }

    // MARK: - The topics

    /// Writes the dead letter of an invalid record to the dead-letter topic.
    /// - Parameter offset: the record's offset in partition 0 of the requests topic.
    /// - Parameter age: the age of the dead letter.
    func put(
        _ offset: Int, in partition: Int32 = 0, reason: SearchError.Code = .invalidRequest, age: Duration = .zero,
        withoutContent: Bool = false, isOutcome: Bool = false, crashesWorkers: Bool = false, value: String? = nil,
        member: String? = nil, producer eventSource: String? = nil, expiry: WallTime? = nil
    ) async throws {
        let record = ConsumerRecord(
            source: SourcePosition(topic: broker.name("requests"), partition: 0, offset: Int64(offset)), timestamp: nil,
            key: Array("k\(offset)".utf8), value: Array((value ?? "broken \(offset) \u{1B}[2J").utf8),
            headers: [RecordHeader("n", text: "\(offset)")] + Self.event(of: eventSource)
                + (expiry.map { [RecordHeader("ce_expirytime", text: $0.description)] } ?? []))
        let time = WallTime(milliseconds: WallTime.now().milliseconds - Int64(age / .milliseconds(1)))

        var letter = DeadLetter(
            record, error: SearchError(reason, "value is no JSON", member: member),
            reason: crashesWorkers ? DeadLetter.crashedWorkers : nil, isOutcome: isOutcome, at: time,
            worker: "pod-1")
        if withoutContent { letter = letter.withoutContent }
        try await producer.send(
            letter.value, to: broker.name("letters"), partition: partition, key: letter.key, headers: letter.headers)
    }

    /// Returns the headers of a CloudEvent in binary mode from a producer; none without one.
    private static func event(of producer: String?) -> [RecordHeader] {
        guard let producer else { return [] }
        return [
            ("ce_specversion", "1.0"), ("ce_id", "1"), ("ce_source", producer),
            ("ce_type", "location-search.requested.v1"),
        ].map { RecordHeader($0.0, text: $0.1) }
    }

    /// Writes a mark to the dead-letter topic that one of its letters was sent back.
    func mark(_ mark: RedriveMark, in partition: Int32) async throws {
        try await producer.send(nil, to: broker.name("letters"), partition: partition, headers: mark.headers)
    }

    /// Makes the broker of one partition of the dead-letter topic leave fetch requests unanswered.
    /// - Parameter count: the number of requests; a client waits for one answer before it sends the next request.
    func silence(partition: Int32, requests count: Int) throws {
        let late = [Int32](repeating: 0, count: count)
        try embedded.fail(.fetch, with: late, broker: partition + 1, delay: .seconds(50))
    }

    /// Publishes the outcome of a record in the requests topic, as a worker does.
    /// - Parameter code: `error.code` of an error; `nil`: a result.
    func answer(_ offset: Int64, with code: String?) async throws {
        let error = code.map { #","error":{"code":"\#($0)","message":"no","retryable":false}"# } ?? #","places":[]"#
        let texts = [
            ("ce_type", "location-search.\(code == nil ? "completed" : "failed").v1"),
            ("source-topic", broker.name("requests")), ("source-partition", "0"), ("source-offset", "\(offset)"),
        ]
        try await producer.send(
            Array(#"{"requestId":"r\#(offset)","operation":"search"\#(error)}"#.utf8),
            to: broker.name(code == nil ? "results" : "errors"), headers: texts.map { RecordHeader($0.0, text: $0.1) })
    }

    /// Returns all records of the requests topic.
    func requests() async throws -> [ConsumerRecord] {
        try await TopicReader(ConsumerConfiguration(bootstrapServers: broker.bootstrapServers), log: .silent)
            .contents(of: [broker.name("requests")])
    }

    // MARK: - The command

    /// The environment of `locsearch dead-letters`.
    var environment: [String: String] {
        [
            "KAFKA_BOOTSTRAP_SERVERS": broker.bootstrapServers, "TOPICS_REQUESTS": broker.name("requests"),
            "TOPICS_DEAD_LETTERS": broker.name("letters"), "TOPICS_RESULTS": broker.name("results"),
            "TOPICS_ERRORS": broker.name("errors"), "TOPICS_FLEET": broker.name("fleet"),
        ]
    }

    /// Starts `locsearch dead-letters`.
    func start(_ arguments: [String]) throws -> RunningProgram {
        try RunningProgram(["dead-letters"] + arguments, environment: environment)
    }

    /// Runs `locsearch dead-letters` to its end. By default a redrive waits for no outcomes.
    func run(_ arguments: [String]) async throws -> RunningProgram {
        let waiting = arguments.first == "redrive" && !arguments.contains("--wait") ? ["--wait", "0s"] : []
        return try await RunningProgram.run(["dead-letters"] + arguments + waiting, environment: environment)
    }

    func run(_ arguments: String...) async throws -> RunningProgram { try await run(arguments) }
}
