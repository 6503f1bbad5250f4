import Foundation
import Kafka
import KafkaTestSupport
import TestSupport
import Testing
import WorkerRuntime

@testable import locsearch

/// `topics create` as a process. Tests that need admin requests run with a broker that supports them.
struct TopicsCommandTests {
    private static let hasNoAdmin = "the embedded broker has no admin requests"

    /// Runs `topics create` for topics with names that no other test uses.
    private func create(
        _ broker: TestBroker, _ arguments: [String] = ["--replication-factor", "1"]
    ) async throws -> RunningProgram {
        let topics = RecommendedTopic.Role.allCases.flatMap { role in
            ["--topics.\(role.rawValue)", broker.name(role.rawValue)]
        }
        return try await RunningProgram.run(
            ["topics", "create"] + arguments + topics,
            environment: ["KAFKA_BOOTSTRAP_SERVERS": broker.bootstrapServers])
    }

    private static func states(_ output: String, of broker: TestBroker) -> [String] {
        let lines = output.split(separator: "\n")
        return RecommendedTopic.Role.allCases.map { role in
            let line = lines.first { $0.hasPrefix(broker.name(role.rawValue)) } ?? ""
            return line.dropFirst(broker.name(role.rawValue).count).drop { $0 == " " }
                .split(separator: "  ").first.map(String.init) ?? ""
        }
    }

    // MARK: - A broker with admin requests

    @Test(.enabled(if: !TestBroker.isEmbedded, "\(hasNoAdmin)"))
    func `A second run finds the topics as recommended`() async throws {
        let broker = try TestBroker()

        let plan = try await create(broker, ["--replication-factor", "1", "--dry-run"])
        #expect(plan.code == 0, "\(plan.error)")
        #expect(Self.states(plan.output, of: broker) == Array(repeating: "would be created", count: 5))
        let strict = try await create(broker, ["--replication-factor", "1", "--dry-run", "--strict"])
        #expect(strict.code == 1, "the dry run made no topic")

        let first = try await create(broker)
        #expect(first.code == 0, "\(first.error)")
        #expect(first.output.split(separator: "\n").count { $0.hasPrefix("created ") } == 5, "\(first.output)")

        let second = try await create(broker, ["--replication-factor", "1", "--strict"])
        #expect(second.code == 0, "\(second.error)")
        #expect(Self.states(second.output, of: broker) == Array(repeating: "as recommended", count: 5))
        // A broker that does not report a property is named for that, and for nothing else.
        let notes = second.error.split(separator: "\n")
        #expect(notes.allSatisfy { $0.contains(": not checked: ") } && !second.output.contains("created"), "\(notes)")
    }

    @Test(.enabled(if: !TestBroker.isEmbedded, "\(hasNoAdmin)"))
    func `A topic that deviates is named and not changed`() async throws {
        let broker = try TestBroker()
        let admin = try TopicAdmin(
            ConsumerConfiguration(bootstrapServers: broker.bootstrapServers),
            log: .silent)
        let name = broker.name("results")
        let existing = NewTopic(
            name: name, partitions: 2, replicationFactor: 1,
            configuration: ["cleanup.policy": "compact", "retention.ms": "259200000"])
        #expect(try await admin.create(existing, within: .seconds(20)))
        #expect(try await !admin.create(existing, within: .seconds(20)), "it is there already")

        for _ in 0..<2 {
            let result = try await create(broker)
            #expect(result.code == 0, "\(result.error)")
            let lines = result.error.split(separator: "\n")
            #expect(lines.contains { $0.contains("\(name): partitions is 2, recommended at least 12") })
            #expect(lines.contains { $0.contains("\(name): cleanup.policy is compact, recommended delete") })
            #expect(
                lines.contains {
                    $0.contains("\(name): retention.ms is 259200000 (72h), recommended at most 86400000 (24h)")
                })
        }

        let cluster = try await admin.cluster(within: .seconds(20))
        #expect(cluster.topics[name]?.partitions == 2)
        let configuration = try await admin.configuration(of: name, within: .seconds(20))
        #expect(configuration["cleanup.policy"] == "compact")
    }

    // MARK: - Any broker

    @Test(.enabled(if: TestBroker.isEmbedded, "another broker has admin requests"))
    func `A broker without admin requests is reported in one line`() async throws {
        let broker = try TestBroker()
        let result = try await create(broker)

        #expect(result.code == 1)
        #expect(result.error.split(separator: "\n").count == 1, "\(result.error)")
        #expect(result.error.contains("\(broker.name("requests")) at \(broker.bootstrapServers) cannot be created"))
    }

    /// The embedded broker reports partitions and replicas, but no configuration.
    @Test(.enabled(if: TestBroker.isEmbedded, "another broker tells configurations"), arguments: [false, true])
    func `A value that could not be checked is not shown as found`(isStrict: Bool) async throws {
        let broker = try TestBroker(topics: ["requests": 14, "results": 14, "errors": 14, "deadLetters": 3, "fleet": 1])
        let result = try await create(broker, ["--replication-factor", "1"] + (isStrict ? ["--strict"] : []))

        #expect(result.code == (isStrict ? 1 : 0), "\(result.output)\(result.error)")
        #expect(Self.states(result.output, of: broker) == Array(repeating: "not checked", count: 5), "\(result.output)")
        let row = try #require(result.output.split(separator: "\n").first { $0.hasPrefix(broker.name("requests")) })
        let cells = row.split(separator: "  ").map { $0.trimmingCharacters(in: .whitespaces) }.filter { !$0.isEmpty }
        #expect(cells[2...3] == ["14", "1"], "partitions and replicas as they are: \(row)")
        #expect(cells.dropFirst(4).allSatisfy { $0 == "not checked" }, "\(row)")
        #expect(!result.output.contains("168h") && !result.output.contains("delete"), "\(result.output)")
        let notes = result.error.split(separator: "\n").filter { $0.contains("not checked: the configuration of") }
        #expect(notes.count == 1 && notes[0].contains("look up the configuration of"), "\(result.error)")
        #expect(
            result.error.contains("; not checked: ") || result.error.contains("not checked: \(broker.name("requests"))")
                || !isStrict)
    }

    @Test func `A configuration that brokers do not report is named`() throws {
        let topic = try #require(
            RecommendedTopic.all(names: WorkerConfiguration.Topics(), maxRequestBytes: 65_536).first)
        var told: [String: String] = [:]
        for configuration in topic.configurations { told[configuration.name] = configuration.value }
        told["min.insync.replicas"] = nil
        let found = ClusterDescription.Topic(partitions: 12, replicationFactor: 3)
        let finding = TopicCreation.Finding(topic: topic, found: found, configuration: told)

        #expect(finding.untold == ["min.insync.replicas"])
        let row = try #require(TopicTexts.table([finding], states: [:]).last)
        #expect(row.hasSuffix("not checked") && row.contains("168h"), "\(row)")
    }

    @Test(.enabled(if: TestBroker.isEmbedded, "a shared broker may have more than one broker"))
    func `More replicas than brokers are rejected before any topic is created`() async throws {
        let broker = try TestBroker(brokers: 2)
        let result = try await create(broker, [])

        #expect(result.code == 78)
        #expect(result.error.contains("there are 2 brokers: give --replication-factor 2"), "\(result.error)")
        #expect(!result.output.contains("created"))
    }
}
