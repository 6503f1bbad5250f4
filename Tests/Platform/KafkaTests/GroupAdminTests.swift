import EventLoop
import InMemoryLogging
import KafkaTestSupport
import Logging
import TestSupport
import Testing

@testable import Kafka

/// A group's offsets, read and changed without joining the group.
@Suite(.serialized, .closesClients, .timeLimit(.minutes(2)))
struct GroupAdminTests {
    private static let bound = Duration.seconds(20)
    /// Kafka's answer to a commit from outside of a group that has members.
    private static let unknownMember: Int32 = 25

    private func admin(of fixture: KafkaFixture) throws -> GroupAdmin {
        try fixture.admin { $0.groupInstanceID = "worker-0" }
    }

    @Test(.enabled(if: TestBroker.isEmbedded, "Tansu keeps no metadata beside offsets"))
    func `Offsets move with their metadata and the others stay`() async throws {
        let fixture = try KafkaFixture(partitions: 3)
        let (producer, admin) = (try fixture.producer(), try admin(of: fixture))
        try await fixture.fill(7, partition: 1, with: producer)
        let ids = (0..<3).map { TopicPartition(fixture.topic, $0) }

        #expect(try await admin.partitionCount(of: fixture.topic, within: Self.bound) == 3)
        let bounds = try await admin.bounds(of: ids, within: Self.bound)
        #expect(bounds == [ids[0]: 0..<0, ids[1]: 0..<7, ids[2]: 0..<0])
        #expect(try await admin.commits(of: ids, within: Self.bound) == [:])

        let first = CommittedOffset(5, metadata: "locsearch1;runs=BB")
        try await admin.commit([ids[1]: first, ids[2]: 0], within: Self.bound)
        try await admin.commit([ids[2]: CommittedOffset(0, metadata: "x")], within: Self.bound)
        let commits = try await admin.commits(of: ids, within: Self.bound)
        #expect(commits == [ids[1]: first, ids[2]: CommittedOffset(0, metadata: "x")])

        // Metadata that is not given is cleared.
        try await admin.commit([ids[1]: 3], within: Self.bound)
        #expect(try await admin.commits(of: [ids[1]], within: Self.bound) == [ids[1]: 3])
    }

    @Test func `Querying a topic does not create it`() async throws {
        let fixture = try KafkaFixture(partitions: 1)
        let admin = try admin(of: fixture)
        let missing = fixture.broker.name("missing")
        #expect(try await admin.partitionCount(of: missing, within: Self.bound) == nil)
        #expect(try await admin.partitionCount(of: missing, within: Self.bound) == nil)
    }

    /// librdkafka's threads visit each partition of each topic that a client has named, in every pass.
    @Test func `A consumer that looks for all topics visits the partitions of none`() async throws {
        let fixture = try KafkaFixture(others: ["others": 48])
        var notebook = InMemoryLogHandler()
        notebook.logLevel = .trace
        let consumer = try fixture.consumer(notebook: notebook) { $0.properties["debug"] = "topic" }
        let other = fixture.broker.name("others")
        func isNamed() -> Bool {
            notebook.entries.contains { "\($0.metadata["line"] ?? "")".hasSuffix("New local topic: \(other)") }
        }

        let topics = try #require(await consumer.existingTopics())
        #expect(topics.isSuperset(of: [fixture.topic, other]))
        #expect(!topics.contains(fixture.broker.name("missing")))
        #expect(!isNamed())

        // A query by name is the counterexample.
        #expect(await consumer.partitionCount(of: other) == 48)
        #expect(isNamed())
    }

    @Test(.enabled(if: TestBroker.isEmbedded, "other brokers describe groups"))
    func `A broker without group descriptions is distinguished from an unknown group`() async throws {
        let fixture = try KafkaFixture(partitions: 1)
        let admin = try admin(of: fixture)
        let error = await #expect(throws: KafkaError.self) { try await admin.description(within: Self.bound) }
        #expect(error?.kind == .unsupported)
    }

    @Test(.enabled(if: TestBroker.isEmbedded, "only the embedded broker can be made to refuse"))
    func `The broker's refusal shows that the group has members`() async throws {
        let fixture = try KafkaFixture(partitions: 1)
        let admin = try admin(of: fixture)
        let id = TopicPartition(fixture.topic, 0)
        try #require(fixture.broker.embedded).fail(.offsetCommit, with: Self.unknownMember, count: 10)

        let error = await #expect(throws: KafkaError.self) {
            try await admin.commit([id: 1], within: Self.bound)
        }
        #expect(error?.isGroupWithMembers == true, "\(error?.description ?? "")")
    }

    /// Tansu distinguishes a group with offsets from one without, and reports no members.
    @Test(.enabled(if: !TestBroker.isEmbedded, "the embedded broker describes no groups"))
    func `An unused group is unknown until it has offsets`() async throws {
        let fixture = try KafkaFixture(partitions: 1)
        let admin = try admin(of: fixture)
        #expect(try await admin.description(within: Self.bound).isUnknown)

        try await admin.commit([TopicPartition(fixture.topic, 0): 0], within: Self.bound)
        #expect(try await admin.description(within: Self.bound).isEmpty)
    }

    // MARK: - Without a broker

    /// Version 1, two topics, then bytes of the assignor.
    private static let assignment: [UInt8] =
        [0, 1, 0, 0, 0, 2, 0, 1] + Array("a".utf8) + [0, 0, 0, 2, 0, 0, 0, 3, 0, 0, 1, 0, 0, 2] + Array("bc".utf8)
        + [0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 1, 9]

    @Test func `An assignment of a member is read`() {
        let expected: Set = [TopicPartition("a", 3), TopicPartition("a", 256), TopicPartition("bc", 0)]
        #expect(MemberAssignment.partitions(in: Self.assignment) == expected)
    }

    @Test func `A truncated or foreign assignment names no partition`() {
        let length = Self.assignment.count - 5
        for count in 0..<length {
            #expect(MemberAssignment.partitions(in: Array(Self.assignment.prefix(count))) == [])
        }
        let hostile: [UInt8] = [0, 1, 0x7F, 0xFF, 0xFF, 0xFF, 0, 0, 0x7F, 0xFF, 0xFF, 0xFF]
        #expect(MemberAssignment.partitions(in: hostile) == [])
        #expect(MemberAssignment.partitions(in: [0, 1, 0x80, 0, 0, 0]) == [])
        #expect(MemberAssignment.partitions(in: [0, 1, 0, 0, 0, 1, 0xFF, 0xFF]) == [])
    }
}
