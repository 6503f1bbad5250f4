import Kafka
import KafkaTestSupport
import TestSupport
import Testing
import WorkerRuntime

@testable import locsearch

/// Findings about topics that no broker of these tests can produce.
struct DoctorTopicTests {
    private func findings(
        _ role: RecommendedTopic.Role, _ changes: [String: String] = [:], replicas: Int = 3, leaderless: [Int32] = []
    ) throws -> [Finding] {
        let topics = RecommendedTopic.all(names: WorkerConfiguration.Topics(), maxRequestBytes: 65_536)
        let topic = try #require(topics.first { $0.role == role })
        var configuration = ["message.timestamp.type": "CreateTime"]
        for entry in topic.configurations { configuration[entry.name] = entry.value }
        configuration.merge(changes) { $1 }
        var found = ClusterDescription.Topic(partitions: 12, replicationFactor: replicas)
        found.leaderless = leaderless
        return TopicsCheck().look(at: topic, found: found, configuration: configuration)
    }

    @Test(arguments: [
        (RecommendedTopic.Role.requests, "retention.ms", "3600000", "would be deleted without an outcome"),
        (.results, "retention.ms", "2592000000", "the providers' terms limit storage"),
        (.results, "segment.ms", "604800000", "results would be kept longer"),
        (.requests, "max.message.bytes", "1000", "producers could not send requests"),
        (.requests, "cleanup.policy", "compact", "compaction would delete unread records"),
        (.fleet, "cleanup.policy", "compact", "compaction would delete unread records"),
        (.errors, "min.insync.replicas", "1", "could be lost if a broker fails"),
        (.requests, "unclean.leader.election.enable", "true", "could lose acknowledged records"),
    ])
    func `A topic that deviates is named with the command that mends it`(
        role: RecommendedTopic.Role, setting: String, value: String, consequence: String
    ) throws {
        let found = try findings(role, [setting: value])
        #expect(found.map(\.state) == [.warning], "\(found)")
        #expect(found[0].text.contains(setting) && found[0].text.contains(consequence), "\(found)")
        #expect(found[0].cure?.contains("kafka-configs.sh --alter --topic") == true)
    }

    @Test func `A topic that accepts no records fails`() throws {
        let sync = try findings(.results, ["min.insync.replicas": "2"], replicas: 1)
        #expect(sync.contains { $0.state == .failed && $0.text.contains("it accepts no records") }, "\(sync)")
        let leaderless = try findings(.requests, leaderless: [3, 7])
        #expect(leaderless.map(\.state) == [.failed] && leaderless[0].text.contains("no leader in partition 3, 7"))
    }

    @Test func `A topic with the recommended configuration is in order`() throws {
        for role in RecommendedTopic.Role.allCases {
            let found = try findings(role)
            #expect(found.map(\.state) == [.ok], "\(found)")
            #expect(found[0].text.contains("12 partitions, 3 replicas, CreateTime"), "\(found)")
        }
    }

    // MARK: - A broker with admin requests

    @Test(.enabled(if: !TestBroker.isEmbedded, "the embedded broker has no admin requests"))
    func `Topics that the program creates are in order`() async throws {
        let broker = try TestBroker()
        var settings = ["kafka.bootstrapServers": broker.bootstrapServers, "kafka.groupId": broker.name("workers")]
        for role in RecommendedTopic.Role.allCases { settings["topics.\(role.rawValue)"] = broker.name(role.rawValue) }
        let flags = settings.flatMap { ["--\($0.key)", $0.value] }
        let making = try await RunningProgram.run(
            ["topics", "create", "--replication-factor", "1", "--retention", "results=72h"] + flags)
        #expect(making.code == 0, "\(making.error)")

        let report = await DoctorFixture.report(settings)
        let lines = report.findings.map(DoctorReport.line)
        let topics = report.findings.filter { $0.check == "topics" }
        #expect(topics.count { $0.state == .ok } == 3 && topics.count { $0.state == .warning } == 2, "\(lines)")
        #expect(
            topics.contains {
                $0.text.contains(
                    "\(broker.name("results")): retention.ms is 259200000 (72h), recommended at most 86400000")
            }, "\(lines)")
        #expect(report.exitCode() == 0, "\(lines)")
        #expect(report.findings.contains { $0.check == "group" && $0.state == .ok }, "\(lines)")
    }
}
