import Kafka
import SimulatedKafka
import SimulatedKafkaClients
internal import TestSupport
import Testing

struct SimulatedConsumerTests {
    typealias Settings = SimulatedConsumerSettings

    /// All group protocols and assignors.
    static let kinds: [@Sendable (inout Settings) -> Void] = [
        { $0.assignor = .range }, { $0.assignor = .cooperativeSticky }, { $0.groupProtocol = .consumer },
    ]

    @Test(arguments: kinds)
    func `A member reads and commits and its successor goes on`(kind: @Sendable (inout Settings) -> Void) throws {
        let fixture = ClientFixture()
        fixture.append(["a", "b"])
        let (first, events) = fixture.consumer("first", kind)
        fixture.pass(.seconds(2))
        #expect(events.events == ["assigned [0, 1]"])
        let records = first.takeRecords(max: 10)
        #expect(values(records) == ["a", "b"])

        let partition = try #require(records.first).partition
        first.store([(partition, CommittedOffset(1))])
        #expect(fixture.call { first.commit(within: .seconds(5), reply: $0) } == nil)
        #expect(first.confirmed[partition] == 1)
        first.kill()

        let (second, _) = fixture.consumer("second", kind)
        fixture.pass(.seconds(60))
        #expect(values(second.takeRecords(max: 10)) == ["b"])
    }

    @Test(
        arguments: zip(
            kinds,
            [
                ["assigned [0, 1]", "revoked [0, 1]", "assigned [0]"],
                ["assigned [0, 1]", "assigned []", "revoked [1]", "assigned []"],
                ["assigned [0, 1]", "revoked [1]"],
            ]))
    func `A partition moves to a second member`(kind: @Sendable (inout Settings) -> Void, expected: [String]) {
        let fixture = ClientFixture()
        let (_, first) = fixture.consumer("first", kind)
        fixture.pass(.seconds(3))
        let (consumer, second) = fixture.consumer("second", kind)
        fixture.append(["a"], to: 1)
        fixture.pass(.seconds(20))

        #expect(first.events.filter { $0 != "assigned []" } == expected.filter { $0 != "assigned []" })
        #expect(second.events.last { $0 != "assigned []" }?.hasPrefix("assigned [") == true)
        #expect(values(consumer.takeRecords(max: 10)) == ["a"])
    }

    @Test func `A cooperative member is in the new generation when partitions are revoked`() throws {
        let fixture = ClientFixture()
        let (consumer, recorder) = fixture.consumer("first")
        fixture.pass(.seconds(3))
        var generations: [Int32?] = []
        recorder.onRevoke = { _ in
            generations = [
                (consumer.membership?.simulatedName as? MemberName)?.generation,
                fixture.cluster.generation(of: "workers"),
            ]
        }
        let before = try #require(consumer.membership?.simulatedName as? MemberName)
        _ = fixture.consumer("second")
        fixture.pass(.seconds(20))
        #expect(generations.count == 2)
        #expect(generations[0] == generations[1])
        #expect(generations[0] != before.generation)
    }

    @Test(arguments: [Settings.Assignor.range, .cooperativeSticky])
    func `Offsets that the handler stores are committed before the move`(assignor: Settings.Assignor) throws {
        let fixture = ClientFixture()
        fixture.append(["a", "b"], to: 1)
        let (consumer, recorder) = fixture.consumer("first") { $0.assignor = assignor }
        fixture.pass(.seconds(3))
        _ = consumer.takeRecords(max: 10)
        recorder.onRevoke = { partitions in
            for partition in partitions where partition.id.partition == 1 {
                consumer.store([(partition, CommittedOffset(2))])
            }
        }
        _ = fixture.consumer("second") { $0.assignor = assignor }
        fixture.pass(.seconds(20))
        #expect(fixture.cluster.committed(by: "workers")[PartitionID("requests", 1)] == 2)
    }

    @Test func `A commit after a revocation waits for the next assignment`() {
        let fixture = ClientFixture()
        fixture.append(["a"], to: 0)
        fixture.append(["b"], to: 1)
        let (consumer, recorder) = fixture.consumer("first") { $0.assignor = .cooperativeSticky }
        fixture.pass(.seconds(3))
        let records = consumer.takeRecords(max: 10)
        let (_, second) = fixture.consumer("second") { $0.assignor = .cooperativeSticky }
        second.isHolding = true
        fixture.pass(.seconds(5))
        #expect(recorder.events.last?.hasPrefix("revoked") == true)

        // If there is nothing to commit, there is nothing to wait for either.
        #expect(fixture.call { consumer.commit(within: .seconds(1), reply: $0) } == nil)
        consumer.store(records.map { ($0.partition, CommittedOffset(1)) })
        let error = fixture.call { consumer.commit(within: .seconds(1), reply: $0) }
        #expect(error?.kind == .retriable)
    }

    /// A crashing process waits for the answer only up to the limit, and ends either way.
    @Test(arguments: [true, false])
    func `A commit of a crashing process is answered or times out`(isCutOff: Bool) throws {
        let fixture = ClientFixture()
        fixture.append(["a"], to: 0)
        let (consumer, _) = fixture.consumer("first")
        fixture.pass(.seconds(3))
        let record = try #require(consumer.takeRecords(max: 1).first)
        if isCutOff { fixture.network.cut("first", from: 1) }

        let begin = fixture.scheduler.now
        var ends: [Int64] = []
        let commit = CommittedOffset(0, metadata: "locsearch1;suspect=0:3")
        consumer.commitOnCrash(record.partition, next: commit, within: .seconds(2)) {
            ends.append(fixture.scheduler.now - begin)
        }
        fixture.pass(.seconds(5))
        let found = fixture.cluster.commits(by: "workers")[PartitionID("requests", 0)]
        #expect(found?.metadata == (isCutOff ? nil : commit.metadata))
        #expect(ends.count == 1)
        #expect(ends.allSatisfy { isCutOff ? $0 == .seconds(2) : $0 < .seconds(1) })
    }

    /// The group removes a member during an ordinary revocation, and reports that in the answer to a heartbeat.
    @Test func `A loss during a revocation is reported after it`() {
        let fixture = ClientFixture()
        let (_, recorder) = fixture.consumer("first") { $0.groupProtocol = .consumer }
        fixture.pass(.seconds(3))
        recorder.isHolding = true
        _ = fixture.consumer("second") { $0.groupProtocol = .consumer }
        fixture.pass(.seconds(20))
        #expect(recorder.events.last?.hasPrefix("revoked") == true)

        fixture.network.cut("first", from: 1)
        fixture.pass(.seconds(120))
        fixture.network.mend("first", and: 1)
        fixture.pass(.seconds(60))
        recorder.release()
        fixture.pass(.seconds(1))
        let kinds = recorder.events.map { $0.prefix { $0 != " " } }
        #expect(kinds.prefix(3) == ["assigned", "revoked", "lost"])
    }

    @Test(arguments: [true, false])
    func `A commit that meets a new generation fails and may lose the assignment`(loses: Bool) throws {
        let fixture = ClientFixture()
        fixture.append(["a", "b"])
        let (consumer, recorder) = fixture.consumer("first") { $0.losesAssignmentByStaleCommits = loses }
        fixture.pass(.seconds(3))
        let record = try #require(consumer.takeRecords(max: 1).first)

        // The commit is behind the JoinGroup on the same connection, and so arrives in the new generation.
        var isJoining = false
        fixture.network.fate = { message in
            if message.client == "first", message.kind == .joinGroup { isJoining = true }
            return .init(requestDelay: .milliseconds(1), answerDelay: .milliseconds(1))
        }
        _ = fixture.consumer("second")
        #expect(fixture.scheduler.run(until: .seconds(30)) { isJoining })
        consumer.store([(record.partition, CommittedOffset(1))])
        let error = fixture.call { consumer.commit(within: .seconds(5), reply: $0) }
        #expect(error?.code == 22)
        fixture.pass(.seconds(30))
        #expect(recorder.events.contains { $0.hasPrefix("lost") } == loses)
    }

    @Test func `Records that were deleted unread are reported`() {
        let fixture = ClientFixture()
        fixture.append(["a", "b", "c"])
        _ = fixture.cluster.offsetCommit(
            OffsetCommitRequest("workers", [PartitionID("requests", 0): OffsetToCommit(0)]))
        _ = fixture.cluster.deleteRecords(DeleteRecordsRequest([PartitionID("requests", 0): 2]))
        let (consumer, recorder) = fixture.consumer("first")
        fixture.pass(.seconds(3))
        #expect(recorder.missed == 2)
        #expect(values(consumer.takeRecords(max: 10)) == ["c"])
    }

    @Test func `Aborted records and markers are not read`() {
        let fixture = ClientFixture()
        fixture.appendInTransactions([.abort, .commit])
        let (consumer, _) = fixture.consumer("first")
        fixture.pass(.seconds(3))
        let records = consumer.takeRecords(max: 10)
        #expect(values(records) == ["commit"])
        #expect(records.map(\.offset) == [2])
    }

    @Test func `A coordinator that moves changes no assignment`() {
        let fixture = ClientFixture { $0.brokers = 3 }
        let (consumer, recorder) = fixture.consumer("first")
        fixture.pass(.seconds(5))
        let broker = fixture.cluster.coordinator(.group("workers"))
        fixture.network.reach { $0.moveCoordinator(.group("workers"), to: broker % 3 + 1, loading: .seconds(1)) }
        fixture.pass(.seconds(10))
        #expect(recorder.events == ["assigned [0, 1]"])
        #expect(consumer.membership != nil)
    }

    @Test func `The consumer notices that the brokers are down`() {
        let fixture = ClientFixture()
        let (consumer, _) = fixture.consumer("first")
        fixture.pass(.seconds(3))
        #expect(!consumer.brokersAreDown)
        fixture.network.stop(1)
        fixture.pass(.seconds(3))
        #expect(consumer.brokersAreDown)
        fixture.network.start(1)
        fixture.pass(.seconds(10))
        #expect(!consumer.brokersAreDown)
    }
}
