import Kafka
import Testing
import WorkerRuntime

@testable import locsearch

/// What the brokers tell of topics and versions, where no broker of these tests can be made to tell it.
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
        return TopicsCheck().look(at: topic, found: found, configuration: configuration, loops: 1)
    }

    @Test(arguments: [
        (RecommendedTopic.Role.requests, "retention.ms", "3600000", "would be deleted without an outcome"),
        (.results, "retention.ms", "2592000000", "the providers' terms ask for little storage"),
        (.results, "segment.ms", "604800000", "results would be kept for longer"),
        (.requests, "max.message.bytes", "1000", "producers could not send requests"),
        (.requests, "cleanup.policy", "compact", "compaction would drop records"),
        (.fleet, "cleanup.policy", "compact", "compaction would drop records"),
        (.errors, "min.insync.replicas", "1", "would be lost with fewer brokers"),
        (.requests, "unclean.leader.election.enable", "true", "could forget records"),
    ])
    func topicThatDeviatesIsNamedWithItsCommand(
        role: RecommendedTopic.Role, setting: String, value: String, consequence: String
    ) throws {
        let found = try findings(role, [setting: value])
        #expect(found.map(\.state) == [.warning], "\(found)")
        #expect(found[0].text.contains(setting) && found[0].text.contains(consequence), "\(found)")
        #expect(found[0].cure?.contains("kafka-configs.sh --alter --topic") == true)
    }

    @Test func topicThatTakesNoRecordFails() throws {
        let sync = try findings(.results, ["min.insync.replicas": "2"], replicas: 1)
        #expect(sync.contains { $0.state == .failed && $0.text.contains("it takes no record") }, "\(sync)")
        let leaderless = try findings(.requests, leaderless: [3, 7])
        #expect(leaderless.map(\.state) == [.failed] && leaderless[0].text.contains("no leader in partition 3, 7"))
    }

    @Test func topicAsRecommendedIsInOrder() throws {
        for role in RecommendedTopic.Role.allCases {
            let found = try findings(role)
            #expect(found.map(\.state) == [.ok], "\(found)")
            #expect(found[0].text.contains("12 partitions, 3 replicas, CreateTime"), "\(found)")
        }
    }

}
