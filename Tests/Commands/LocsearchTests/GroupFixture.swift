import EventLoop
import Kafka
import KafkaTestSupport
import Logging
import TestSupport
import WorkerRuntime

@testable import locsearch

/// A broker with a topic of two partitions, and a group's offsets on it, for commands that run as processes.
struct GroupFixture {
    static let bound = Duration.seconds(20)
    static let keepsNoMetadata = "Tansu keeps no metadata beside offsets"

    let broker: TestBroker
    let admin: GroupAdmin
    private let log = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }

    init() throws {
        broker = try TestBroker(topics: ["requests": 2])
        var configuration = ConsumerConfiguration(bootstrapServers: broker.bootstrapServers)
        configuration.groupID = broker.name("g")
        admin = try GroupAdmin(configuration, log: log)
    }

    var ids: [TopicPartition] { (0..<2).map { TopicPartition(broker.name("requests"), $0) } }

    /// Writes records to a partition.
    /// - Parameter timestamps: One for each record, in milliseconds since 1970; `nil`: the present time.
    func write(_ timestamps: [Int64?], to id: TopicPartition) async throws {
        let loop = try EventLoop()
        let producer = try KafkaProducer(
            loop: loop, configuration: ProducerConfiguration(bootstrapServers: broker.bootstrapServers), log: log)
        for timestamp in timestamps {
            var record = ProducerRecord(topic: id.topic, partition: id.partition, key: nil, value: [1])
            record.timestamp = timestamp
            try await producer.send(record)
        }
        await producer.close()
        loop.stop()
    }

    /// Commits offset 5 of partition 0, with 8 and 9 done as well.
    func commit() async throws {
        var metadata = CommitMetadata()
        metadata.done.append(8..<10)
        let text = metadata.text(for: 5, atMost: 1000).text
        try await admin.commit([ids[0]: CommittedOffset(5, metadata: text)], within: Self.bound)
    }

    /// Runs a command of the program to its end.
    func run(_ arguments: [String], _ environment: [String: String] = [:]) async throws -> RunningProgram {
        let own = [
            "KAFKA_BOOTSTRAP_SERVERS": broker.bootstrapServers, "KAFKA_GROUP_ID": broker.name("g"),
            "TOPICS_REQUESTS": broker.name("requests"),
        ]
        let program = try RunningProgram(arguments, environment: environment.merging(own) { _, own in own })
        defer { program.end() }
        try await eventually("\(arguments) ends", within: .seconds(60)) { !program.isRunning }
        return program
    }
}
