import Kafka
import KafkaTestSupport
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
    func `Member reads commits and goes on`(kind: @Sendable (inout Settings) -> Void) throws {
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
    func `Partition moves to a second member`(kind: @Sendable (inout Settings) -> Void, expected: [String]) {
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

    @Test func `Cooperative member is in the new generation when it is told to give up`() throws {
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
    func `What the handler stores is committed before the partition goes`(assignor: Settings.Assignor) throws {
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

    @Test(arguments: kinds)
    func `Member that is cut off loses everything`(kind: @Sendable (inout Settings) -> Void) {
        let fixture = ClientFixture()
        let (consumer, first) = fixture.consumer("first", kind)
        let (_, second) = fixture.consumer("second", kind)
        fixture.pass(.seconds(30))
        fixture.network.cut("first", from: 1)
        fixture.pass(.seconds(60))
        #expect(second.events.contains { $0 == "assigned [0, 1]" || $0 == "assigned [0]" || $0 == "assigned [1]" })

        fixture.network.mend("first", and: 1)
        fixture.pass(.seconds(90))
        #expect(first.events.contains { $0.hasPrefix("lost") })
        #expect(consumer.membership != nil)
    }

    /// In a classic group, librdkafka itself ends the session after `session.timeout.ms`. With KIP-848 it has no such timer: only the
    /// answer to a heartbeat ends the assignment.
    @Test(arguments: kinds)
    func `Only a classic member ends its session itself`(kind: @Sendable (inout Settings) -> Void) {
        let fixture = ClientFixture()
        let (consumer, recorder) = fixture.consumer("first", kind)
        fixture.pass(.seconds(5))
        #expect(recorder.events == ["assigned [0, 1]"])
        let isModern = consumer.settings.groupProtocol == .consumer

        fixture.network.cut("first", from: 1)
        fixture.pass(.seconds(120))
        #expect(fixture.cluster.members(of: "workers").isEmpty)
        #expect(recorder.events == (isModern ? ["assigned [0, 1]"] : ["assigned [0, 1]", "lost [0, 1]"]))
        #expect((consumer.membership != nil) == isModern)

        fixture.network.mend("first", and: 1)
        fixture.pass(.seconds(60))
        #expect(recorder.events == ["assigned [0, 1]", "lost [0, 1]", "assigned [0, 1]"])
    }

    @Test func `Member knows of no membership while its loss is with the handler`() {
        let fixture = ClientFixture()
        let (consumer, recorder) = fixture.consumer("first")
        fixture.pass(.seconds(3))
        #expect(consumer.membership != nil)
        recorder.isHolding = true
        fixture.network.cut("first", from: 1)
        fixture.pass(.seconds(8))
        #expect(recorder.events.last == "lost [0, 1]")
        #expect(consumer.membership == nil)
    }

    @Test func `Commit after a revocation waits for the next assignment`() {
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
    func `Commit of a process that crashes is answered or takes too long`(isCutOff: Bool) throws {
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
    @Test func `Loss during a revocation is told after it`() {
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
    func `Commit that meets a new generation`(loses: Bool) throws {
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

    @Test func `Static member that starts again moves nothing`() {
        let fixture = ClientFixture()
        let (first, _) = fixture.consumer("first") { $0.instanceID = "i1" }
        let (_, other) = fixture.consumer("other") { $0.instanceID = "i2" }
        fixture.pass(.seconds(20))
        let before = (other.events, fixture.cluster.generation(of: "workers"))
        first.kill()
        fixture.pass(.seconds(1))
        let (_, again) = fixture.consumer("again") { $0.instanceID = "i1" }
        fixture.pass(.seconds(20))
        #expect(again.events.contains { $0.hasPrefix("assigned [") })
        #expect(other.events == before.0)
        #expect(fixture.cluster.generation(of: "workers") == before.1)
    }

    @Test func `Second instance of a static member fences the first`() {
        let fixture = ClientFixture()
        let (first, _) = fixture.consumer("first") { $0.instanceID = "i1" }
        fixture.pass(.seconds(5))
        _ = fixture.consumer("second") { $0.instanceID = "i1" }
        fixture.pass(.seconds(5))
        #expect(first.failure?.kind == .fenced)
    }

    @Test func `Epoch of a modern member rises without an event`() {
        let fixture = ClientFixture(partitions: 1)
        let (consumer, recorder) = fixture.consumer("first") { $0.groupProtocol = .consumer }
        fixture.pass(.seconds(3))
        let before = (consumer.membership?.simulatedName as? MemberName)?.generation
        _ = fixture.consumer("second") { $0.groupProtocol = .consumer }
        fixture.pass(.seconds(10))
        #expect(recorder.events == ["assigned [0]"])
        #expect(before == 1)
        #expect((consumer.membership?.simulatedName as? MemberName)?.generation == 2)
    }

    /// The member joins with its partitions, and learns that it was removed: the partitions may have other owners by now.
    @Test func `Member that is thrown out while it joins loses everything`() throws {
        let fixture = ClientFixture()
        let (_, events) = fixture.consumer("first")
        fixture.pass(.seconds(3))
        let member = try #require(fixture.cluster.members(of: "workers").first)
        fixture.network.fate = { message in
            let isLate = message.client == "first" && message.kind == .joinGroup
            return SimulatedNetwork.Fate(requestDelay: isLate ? .seconds(2) : 1, answerDelay: 1)
        }
        _ = fixture.consumer("second")
        fixture.pass(.milliseconds(1_500))
        fixture.network.reach { _ = $0.leaveGroup(LeaveGroupRequest("workers", memberID: member)) }
        fixture.pass(.seconds(30))
        #expect(events.events.prefix(2) == ["assigned [0, 1]", "lost [0, 1]"])
    }

    /// librdkafka does not treat that as a loss: a static member is accepted again at once, under another id, and keeps its partitions.
    /// - Parameter hasOther: a second member gets the partitions meanwhile; otherwise the group assigns them to the first one again.
    @Test(arguments: [true, false])
    func `Static member that is thrown out while it joins loses everything`(hasOther: Bool) throws {
        let fixture = ClientFixture()
        let (first, events) = fixture.consumer("first") { $0.instanceID = "i1" }
        fixture.pass(.seconds(3))
        let member = try #require(fixture.cluster.members(of: "workers").first)
        fixture.network.fate = { message in
            let isLate = message.client == "first" && message.kind == .joinGroup
            return SimulatedNetwork.Fate(requestDelay: isLate ? .seconds(2) : 1, answerDelay: 1)
        }
        let (second, _) = fixture.consumer("second")
        fixture.pass(.milliseconds(1_500))
        if !hasOther { second.kill() }
        fixture.network.reach { cluster in
            _ = cluster.leaveGroup(LeaveGroupRequest("workers", memberID: member, instanceID: "i1"))
            guard !hasOther else { return }
            for other in cluster.members(of: "workers") {
                _ = cluster.leaveGroup(LeaveGroupRequest("workers", memberID: other))
            }
        }

        var lost: [String] { events.events.filter { $0.hasPrefix("lost") } }
        var mayCommit = false
        _ = fixture.scheduler.run(until: fixture.scheduler.now + .seconds(30)) {
            let present = (first.membership?.simulatedName as? MemberName)?.id
            if lost.isEmpty, let present, present != member { mayCommit = true }
            return !lost.isEmpty
        }
        #expect(!mayCommit, "under its new id, for what it had under the former one")

        fixture.pass(.seconds(30))
        #expect(!events.events.contains { $0.hasPrefix("revoked") })
        #expect(lost == (hasOther ? ["lost [0]", "lost [1]"] : ["lost [0, 1]"]))
        #expect(events.events.last { $0 != "assigned []" } == (hasOther ? "assigned [1]" : "assigned [0, 1]"))
        #expect(first.membership != nil)
    }

    /// The coordinator assumes that the member has the assignment, and does not repeat it on its own.
    @Test func `Modern member hears of an assignment whose answer was lost`() {
        let fixture = ClientFixture()
        _ = fixture.consumer("first") { $0.groupProtocol = .consumer }
        fixture.pass(.seconds(3))
        var heartbeats = 0
        fixture.network.fate = { message in
            var fate = SimulatedNetwork.Fate(requestDelay: 1, answerDelay: 1)
            if message.client == "second", message.kind == .consumerGroupHeartbeat {
                heartbeats += 1
                if (2...4).contains(heartbeats) { fate.answerDelay = nil }
            }
            return fate
        }

        let (_, second) = fixture.consumer("second") { $0.groupProtocol = .consumer }
        fixture.pass(.seconds(60))
        #expect(second.events == ["assigned [1]"])
    }

    @Test(arguments: kinds)
    func `Member that closes hands everything over`(kind: @Sendable (inout Settings) -> Void) {
        let fixture = ClientFixture()
        let (consumer, recorder) = fixture.consumer("first", kind)
        let (_, other) = fixture.consumer("other", kind)
        fixture.pass(.seconds(30))
        var isClosed = false
        consumer.close(within: .seconds(10)) { isClosed = true }
        fixture.pass(.seconds(15))
        #expect(isClosed)
        #expect(recorder.events.last?.hasPrefix("revoked") == true)
        #expect(fixture.cluster.members(of: "workers").count == 1)
        #expect(!other.events.isEmpty)
    }

    @Test func `Coordinator that moves costs nothing`() {
        let fixture = ClientFixture { $0.brokers = 3 }
        let (consumer, recorder) = fixture.consumer("first")
        fixture.pass(.seconds(5))
        let broker = fixture.cluster.coordinator(.group("workers"))
        fixture.network.reach { $0.moveCoordinator(.group("workers"), to: broker % 3 + 1, loading: .seconds(1)) }
        fixture.pass(.seconds(10))
        #expect(recorder.events == ["assigned [0, 1]"])
        #expect(consumer.membership != nil)
    }

    @Test func `Brokers that are down are noticed`() {
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
