import Kafka
import SimulatedKafka
import SimulatedKafkaClients
import Testing

/// How a member of a group keeps and loses its membership.
struct SimulatedMembershipTests {
    typealias Settings = SimulatedConsumerSettings

    @Test func `A static member that starts again moves no partition`() {
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

    @Test func `The second instance of a static member fences the first`() {
        let fixture = ClientFixture()
        let (first, _) = fixture.consumer("first") { $0.instanceID = "i1" }
        fixture.pass(.seconds(5))
        _ = fixture.consumer("second") { $0.instanceID = "i1" }
        fixture.pass(.seconds(5))
        #expect(first.failure?.kind == .fenced)
    }

    @Test func `The epoch of a KIP-848 member rises without an event`() {
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
    @Test func `A member that is removed while it joins loses its partitions`() throws {
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
    func `A static member that is removed while it joins loses its partitions`(hasOther: Bool) throws {
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
    @Test func `A KIP-848 member gets an assignment whose answer was lost`() {
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

    @Test(arguments: SimulatedConsumerTests.kinds)
    func `A member that closes hands its partitions over`(kind: @Sendable (inout Settings) -> Void) {
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

    /// In a classic group, librdkafka itself ends the session after `session.timeout.ms`. With KIP-848 it has no such timer: only the
    /// answer to a heartbeat ends the assignment.
    @Test(arguments: SimulatedConsumerTests.kinds)
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

    @Test func `A member has no membership while its loss is being handled`() {
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
}
