import EventLoop
import InMemoryLogging
import KafkaTestSupport
import Logging
import TestSupport
import Testing

@testable import Kafka

/// A broker and a loop, for real clients over TCP that are closed after the test.
struct KafkaFixture: Sendable {
    let broker: TestBroker
    let loop: EventLoop
    let log = Logger(label: "test") { StreamLogHandler.standardError(label: $0) }

    /// - Parameter others: further topics with their partition counts.
    init(partitions: Int = 4, brokers: Int = 1, others: [String: Int] = [:]) throws {
        let topics = others.merging(["t": partitions]) { _, own in own }
        broker = try TestBroker(brokers: brokers, topics: topics)
        loop = try EventLoop()
        try Cleanup.add { [broker, loop] in withExtendedLifetime(broker) { loop.stop() } }
    }

    var topic: String { broker.name("t") }

    /// - Parameter notebook: Receives the producer's log instead of standard error.
    func producer(
        notebook: InMemoryLogHandler? = nil, closesAfterTest: Bool = true,
        _ change: (inout ProducerConfiguration) -> Void = { _ in }
    ) throws -> KafkaProducer {
        var configuration = ProducerConfiguration(bootstrapServers: broker.bootstrapServers)
        change(&configuration)
        let producer = try KafkaProducer(loop: loop, configuration: configuration, log: notebook?.logger ?? log)
        if closesAfterTest { try Cleanup.add { await producer.close() } }
        return producer
    }

    /// - Parameters:
    ///   - session: The session timeout in milliseconds. The embedded coordinator's groups never become stable below
    ///     3 s, other brokers accept 6 s or more, and some rebalance with the members' heartbeats.
    ///   - notebook: Receives the consumer's log instead of standard error.
    func consumer(
        _ group: String = "g", session: Int = 3000, assignor: String? = nil, notebook: InMemoryLogHandler? = nil,
        closesAfterTest: Bool = true,
        _ change: (inout ConsumerConfiguration) -> Void = { _ in }
    ) throws -> KafkaConsumer {
        var configuration = ConsumerConfiguration(bootstrapServers: broker.bootstrapServers)
        configuration.groupID = broker.name(group)
        configuration.properties = [
            "session.timeout.ms": "\(TestBroker.isEmbedded ? session : max(session, 6000))",
            "heartbeat.interval.ms": "500", "fetch.wait.max.ms": "10",
        ]
        configuration.properties["partition.assignment.strategy"] = assignor
        change(&configuration)
        let consumer = try KafkaConsumer(loop: loop, configuration: configuration, log: notebook?.logger ?? log)
        if closesAfterTest { try Cleanup.add { await consumer.close() } }
        return consumer
    }

    func admin(_ change: (inout ConsumerConfiguration) -> Void = { _ in }) throws -> GroupAdmin {
        var configuration = ConsumerConfiguration(bootstrapServers: broker.bootstrapServers)
        configuration.groupID = broker.name("g")
        change(&configuration)
        return try GroupAdmin(configuration, log: log)
    }

    /// Subscribes to the topic.
    /// - Returns: the listener, which lives as long as the test.
    @discardableResult
    func join(_ consumer: KafkaConsumer, as notes: Notes = Notes()) async throws -> Notes {
        try Cleanup.add { withExtendedLifetime(notes) {} }
        try await consumer.subscribe(to: [topic], listener: notes)
        return notes
    }

    func record(_ value: [UInt8], partition: Int32? = nil) -> ProducerRecord {
        ProducerRecord(topic: topic, partition: partition, value: value)
    }

    /// Writes values `0..<count` to one partition.
    func fill(_ count: Int, partition: Int32, with producer: KafkaProducer) async throws {
        var receipts: [KafkaProducer.Receipt] = []
        for number in 0..<count {
            receipts.append(try await producer.handOver(record(Array("\(number)".utf8), partition: partition)))
        }
        for receipt in receipts { _ = try await producer.confirm(receipt) }
    }
}

extension ConsumerConfiguration {
    /// Returns the error with which a consumer is refused.
    func refusal() throws -> KafkaError? {
        let loop = try EventLoop.ofTest()
        return #expect(throws: KafkaError.self) { try KafkaConsumer(loop: loop, configuration: self, log: .silent) }
    }
}

extension InMemoryLogHandler {
    /// Writes into this handler.
    var logger: Logger { Logger(label: "test") { _ in self } }
}

extension Logger {
    static let silent = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
}

/// Records which partitions a consumer was assigned and lost, and can run a function while a revocation waits.
actor Notes: RebalanceListener {
    private(set) var assigned: [AssignedPartition] = []
    private(set) var revoked: [AssignedPartition] = []
    private(set) var lost: [AssignedPartition] = []
    private(set) var missed: [TopicPartition: Int64] = [:]
    private(set) var passed: [AssignedPartition: Range<Int64>] = [:]
    private(set) var restarted: [AssignedPartition] = []
    /// The rebalances that librdkafka has received the answer to.
    private(set) var answered: [RebalanceKind] = []
    private var whileRevoking, whileAssigning: (@Sendable () async -> Void)?

    init(
        whileRevoking: (@Sendable () async -> Void)? = nil, whileAssigning: (@Sendable () async -> Void)? = nil
    ) {
        (self.whileRevoking, self.whileAssigning) = (whileRevoking, whileAssigning)
    }

    func assigned(_ partitions: [AssignedPartition]) async {
        assigned += partitions
        await whileAssigning?()
    }
    func revoked(_ partitions: [AssignedPartition]) async {
        revoked += partitions
        await whileRevoking?()
    }
    func lost(_ partitions: [AssignedPartition]) async { lost += partitions }
    func answered(_ kind: RebalanceKind, after time: Duration) async { answered.append(kind) }
    func missed(_ offsets: Range<Int64>, of partition: TopicPartition) async -> Int64 {
        missed[partition, default: 0] += Int64(offsets.count)
        return Int64(offsets.count)
    }
    func passed(_ offsets: Range<Int64>, of partition: AssignedPartition) async { passed[partition] = offsets }
    func restarted(_ former: AssignedPartition, as renewed: AssignedPartition, from offset: Int64) async {
        restarted.append(renewed)
    }
}

extension KafkaConsumer {
    /// Reads until `count` records are there. The bound only ends a failing test.
    func read(_ count: Int, within bound: Duration = .seconds(30)) async throws -> [ConsumerRecord] {
        let watchdog = Task {
            try await Task.sleep(for: bound)
            stopReading()
        }
        defer { watchdog.cancel() }
        var all: [ConsumerRecord] = []
        while all.count < count {
            let more = try await records(max: count - all.count)
            if more.isEmpty { throw TooFew(count: all.count, expected: count) }
            all += more
        }
        return all
    }
}

/// Reading ended before enough records were there.
struct TooFew: Error {
    let count: Int
    let expected: Int
}
