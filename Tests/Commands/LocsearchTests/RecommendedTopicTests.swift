import Foundation
import Kafka
import TestSupport
import Testing
import WorkerRuntime

@testable import locsearch

/// The recommendation, and how an existing topic is compared with it.
struct RecommendedTopicTests {
    private static func topics(
        maxRequestBytes: Int = WorkerConfiguration().maxRequestBytes, _ choices: RecommendedTopic.Choices = .init()
    ) -> [RecommendedTopic] {
        RecommendedTopic.all(names: WorkerConfiguration.Topics(), maxRequestBytes: maxRequestBytes, choices: choices)
    }

    private static func topic(_ role: RecommendedTopic.Role) throws -> RecommendedTopic {
        try #require(topics().first { $0.role == role })
    }

    /// Returns the configuration of a topic that was created as recommended.
    private static func configuration(_ topic: RecommendedTopic) -> [String: String] {
        Dictionary(uniqueKeysWithValues: topic.configurations.map { ($0.name, $0.value) })
    }

    @Test func `Every topic of a worker is recommended once`() {
        let names = WorkerConfiguration.Topics()
        #expect(Self.topics().map(\.name) == names.all + [names.fleet])
        for role in RecommendedTopic.Role.allCases {
            #expect(Setting.byName["topics.\(role.rawValue)"] != nil)
        }
    }

    @Test(arguments: [1024, 65_536, 1_048_576, 10_485_760])
    func `The largest request fits into its topic, and its dead letter too`(maxRequestBytes: Int) throws {
        let topics = Self.topics(maxRequestBytes: maxRequestBytes)
        let bytes = try topics.map { try #require($0.value(of: "max.message.bytes").flatMap { Int($0) }) }

        #expect(bytes[0] > maxRequestBytes)
        #expect(bytes[3] >= bytes[0] + 4096, "the headers of a dead letter come on top")
    }

    @Test(arguments: [(1, "1"), (2, "1"), (3, "2"), (5, "2")])
    func `With replicas, one broker may always be away`(replicas: Int, expected: String) {
        var choices = RecommendedTopic.Choices()
        choices.replicationFactor = replicas
        for topic in Self.topics(choices) { #expect(topic.value(of: "min.insync.replicas") == expected) }
    }

    @Test func `A topic with the recommended configuration does not deviate`() {
        for topic in Self.topics() {
            let found = ClusterDescription.Topic(partitions: topic.partitions, replicationFactor: 3)
            #expect(topic.deviations(of: found, configuration: Self.configuration(topic)).isEmpty)
            #expect(topic.deviations(of: found, configuration: [:]).isEmpty, "what is not told is not judged")
        }
    }

    static let judgements: [(RecommendedTopic.Role, String, String, deviates: Bool)] = [
        (.requests, "retention.ms", "3600000", true), (.requests, "retention.ms", "1209600000", false),
        (.requests, "retention.ms", "-1", false), (.results, "retention.ms", "-1", true),
        (.results, "retention.ms", "604800000", true), (.results, "retention.ms", "3600000", false),
        (.results, "segment.ms", "604800000", true), (.deadLetters, "max.message.bytes", "1048588", true),
        (.deadLetters, "max.message.bytes", "2097152", false), (.errors, "cleanup.policy", "compact,delete", true),
        (.requests, "min.insync.replicas", "1", true), (.requests, "min.insync.replicas", "3", false),
        (.requests, "unclean.leader.election.enable", "true", true),
    ]
    @Test(arguments: judgements)
    func `Only a harmful difference is a deviation`(
        role: RecommendedTopic.Role, name: String, value: String, deviates: Bool
    ) throws {
        let topic = try Self.topic(role)
        let found = ClusterDescription.Topic(partitions: 100, replicationFactor: 4)
        let configuration = Self.configuration(topic).merging([name: value]) { $1 }

        let deviations = topic.deviations(of: found, configuration: configuration)
        #expect(deviations.map(\.what) == (deviates ? [name] : []))
    }

    @Test func `A new topic has no setting that hosted brokers reject`() throws {
        let new = try Self.topic(.results).new
        #expect(
            new.configuration == [
                "retention.ms": "86400000", "segment.ms": "3600000", "max.message.bytes": "1048588",
                "cleanup.policy": "delete", "min.insync.replicas": "2",
            ])
    }

    @Test func `Kafka's own tools create the same topics`() throws {
        let command = try #require(
            TopicTexts.shell([try Self.topic(.deadLetters)], bootstrapServers: "kafka:9092").first)
        #expect(
            command == """
                kafka-topics.sh --bootstrap-server kafka:9092 --create --if-not-exists --topic location-search.dead-letters \\
                    --partitions 3 --replication-factor 3 \\
                    --config retention.ms=2592000000 --config max.message.bytes=1114124 --config cleanup.policy=delete --config min.insync.replicas=2
                """)
    }

    @Test func `The operations page has the recommendation`() throws {
        let root = Repository.folder
        let page = try String(contentsOf: root.appending(path: "docs/operations.md"), encoding: .utf8)
        #expect(page.contains(Self.table(Self.topics())))
    }

    /// Formats the recommendation as the page does.
    private static func table(_ topics: [RecommendedTopic]) -> String {
        let columns = TopicTexts.columns
        var text = "| setting | partitions | replicas | " + columns.map(\.0).joined(separator: " | ") + " |\n"
        text += "|" + String(repeating: "---|", count: columns.count + 3) + "\n"
        for topic in topics {
            let cells = columns.map { TopicTexts.cell(TopicCreation.Finding(topic: topic), $0.1) }
            text +=
                "| `topics.\(topic.role.rawValue)` | \(topic.partitions) | \(topic.replicationFactor) | "
                + cells.joined(separator: " | ") + " |\n"
        }
        return text
    }
}
