import Kafka
import KafkaTestSupport
import TestSupport
import WorkerRuntime

@testable import locsearch

/// A broker with topics of requests, and a group's offsets on it, for commands that run as processes.
final class GroupFixture: Sendable {
    static let keepsNoMetadata = "Tansu keeps no metadata beside offsets"

    let broker: TestBroker
    let producer: TestProducer
    private let admin: GroupAdmin

    init(topics: [String: Int] = ["requests": 2]) throws {
        broker = try TestBroker(topics: topics)
        producer = try TestProducer(broker.bootstrapServers)
        var configuration = ConsumerConfiguration(bootstrapServers: broker.bootstrapServers)
        configuration.groupID = broker.name("g")
        admin = try GroupAdmin(configuration, log: .silent)
    }

    /// The partitions of the topic `requests`.
    var ids: [TopicPartition] { (0..<2).map { TopicPartition(broker.name("requests"), $0) } }

    func commits(of ids: [TopicPartition]) async throws -> [TopicPartition: CommittedOffset] {
        try await admin.commits(of: ids, within: .seconds(20))
    }

    func commit(_ offsets: [TopicPartition: CommittedOffset]) async throws {
        try await admin.commit(offsets, within: .seconds(20))
    }

    /// Commits offset 5 of partition 0, with 8 and 9 done as well.
    func commit() async throws {
        var metadata = CommitMetadata()
        metadata.done.append(8..<10)
        try await commit([ids[0]: CommittedOffset(5, metadata: metadata.text(for: 5, atMost: 1000).text)])
    }

    /// Runs a command of the program to its end.
    func run(_ arguments: [String], _ environment: [String: String] = [:]) async throws -> RunningProgram {
        let own = [
            "KAFKA_BOOTSTRAP_SERVERS": broker.bootstrapServers, "KAFKA_GROUP_ID": broker.name("g"),
            "TOPICS_REQUESTS": broker.name("requests"),
        ]
        return try await RunningProgram.run(arguments, environment: own.merging(environment) { $1 })
    }
}
