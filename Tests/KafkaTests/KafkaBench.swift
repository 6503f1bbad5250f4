import EventLoop
import Logging
import TestSupport

@testable import Kafka

/// An embedded broker and a loop, for real clients over TCP.
struct KafkaBench: Sendable {
    let broker: EmbeddedBroker
    let loop: EventLoop
    let log = Logger(label: "test") { StreamLogHandler.standardError(label: $0) }

    init(partitions: Int = 4, brokers: Int = 1) throws {
        broker = try EmbeddedBroker(brokers: brokers, topics: ["t": partitions])
        loop = try EventLoop()
    }

    func producer(_ change: (inout ProducerConfiguration) -> Void = { _ in }) throws -> KafkaProducer {
        var configuration = ProducerConfiguration(bootstrapServers: broker.bootstrapServers)
        change(&configuration)
        return try KafkaProducer(loop: loop, configuration: configuration, log: log)
    }

    /// The mock coordinator's groups never form with a session below 3 s.
    func consumer(
        _ group: String = "g", session: Int = 3000, _ change: (inout ConsumerConfiguration) -> Void = { _ in }
    ) throws -> KafkaConsumer {
        var configuration = ConsumerConfiguration(bootstrapServers: broker.bootstrapServers)
        configuration.groupID = group
        configuration.properties = ["session.timeout.ms": "\(session)", "fetch.wait.max.ms": "10"]
        change(&configuration)
        return try KafkaConsumer(loop: loop, configuration: configuration, log: log)
    }

    /// Writes values `0..<count` to one partition.
    func fill(_ count: Int, partition: Int32, with producer: KafkaProducer) async throws {
        var receipts: [KafkaProducer.Receipt] = []
        for number in 0..<count {
            let record = ProducerRecord(topic: "t", partition: partition, value: Array("\(number)".utf8))
            receipts.append(try await producer.handOver(record))
        }
        for receipt in receipts { _ = try await producer.confirm(receipt) }
    }
}

/// Notes what a consumer tells, and can do something while a revocation waits.
actor Notes: RebalanceListener {
    private(set) var assigned: [AssignedPartition] = []
    private(set) var revoked: [AssignedPartition] = []
    private(set) var lost: [AssignedPartition] = []
    private var whileRevoking: (@Sendable () async -> Void)?

    init(whileRevoking: (@Sendable () async -> Void)? = nil) { self.whileRevoking = whileRevoking }

    func assigned(_ partitions: [AssignedPartition]) async { assigned += partitions }
    func revoked(_ partitions: [AssignedPartition]) async {
        revoked += partitions
        await whileRevoking?()
    }
    func lost(_ partitions: [AssignedPartition]) async { lost += partitions }
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
