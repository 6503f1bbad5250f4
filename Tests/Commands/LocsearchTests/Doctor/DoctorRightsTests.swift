import Kafka
import TestSupport
import Testing
import WorkerRuntime

@testable import locsearch

/// Rights as a broker with ACLs reports them. The embedded broker has no ACLs, so these tests use a `PlayedBroker`.
@Suite(.enabled(if: LibraryVersion.running >= LibraryVersion(2, 3), "this librdkafka cannot ask for rights"))
struct DoctorRightsTests {
    @Test func `The doctor names a missing right`() async throws {
        let topics = WorkerConfiguration.Topics()
        let rights: [String: Set<TopicOperation>] = [
            topics.requests: [.read, .describe], topics.results: [.describe], topics.errors: [.write, .describe],
            topics.deadLetters: [.write, .describe],
        ]
        let broker = PlayedBroker(rights: rights)
        let server = try RawServer { broker.serve($0) }
        defer { server.stop() }
        let address = "127.0.0.1:\(server.port)"
        broker.isReached(at: server.port)

        var examination = DoctorFixture.examination(["kafka.bootstrapServers": address])
        let admin = try TopicAdmin(try examination.consumer(), log: .silent)
        let cluster = try await admin.cluster(within: .seconds(10))
        examination.connection = Examination.Connection(admin: admin, cluster: cluster)
        #expect(cluster.topics.count == 4)
        #expect(try await admin.operations(on: topics.requests, within: .seconds(10)) == [.read, .describe])

        let findings = try await RightsCheck().findings(&examination)
        let lacking = findings.filter { $0.text.hasPrefix("this user lacks") }
        #expect(lacking.map(\.text) == ["this user lacks Write on \(topics.results)"], "\(findings)")
        #expect(lacking.first?.state == .failed && lacking.first?.cure?.contains("docs/access.md") == true)
        #expect(!findings.contains { $0.state == .unknown })
    }
}
