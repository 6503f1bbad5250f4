import SimulatedKafka
import Testing

/// The rules of classic groups that Simulation/conformance.json does not contain: see `ConformanceTests`.
struct ClassicGroupTests {
    @Test func `The first member waits for others`() {
        let fixture = ClusterFixture { $0.initialRebalanceDelay = .seconds(3) }
        let first = fixture.join()
        fixture.pass(.seconds(2))
        let second = fixture.join()
        fixture.pass(.seconds(1))
        #expect(first.value == nil)
        // The second member has started another wait of the same length.
        fixture.pass(.seconds(3))
        #expect(first.value?.generation == 1)
        #expect(first.value?.members.count == 2)
        #expect(second.value?.generation == 1)
    }

    @Test func `A member that does not join again is removed`() {
        let fixture = ClusterFixture()
        let member = fixture.stableMember()
        let other = fixture.join()
        for _ in 0..<6 {
            #expect(fixture.heartbeat(member) == .rebalanceInProgress)
            fixture.pass(.seconds(5))
        }
        #expect(other.value?.generation == 2)
        #expect(other.value?.members.count == 1)
        #expect(fixture.heartbeat(member) == .unknownMemberID)
    }

    @Test func `A silent member is removed`() {
        let fixture = ClusterFixture()
        let member = fixture.stableMember()
        fixture.pass(.seconds(9))
        #expect(fixture.heartbeat(member) == .none)
        fixture.pass(.seconds(10))
        #expect(fixture.heartbeat(member) == .unknownMemberID)
        #expect(fixture.cluster.members(of: "workers").isEmpty)
    }

    @Test func `A member that does not sync is removed`() throws {
        let fixture = ClusterFixture()
        let joined = try #require(fixture.join(rebalance: .seconds(5)).value)
        let member = MemberName(id: joined.memberID, generation: joined.generation)
        fixture.pass(.seconds(5))
        #expect(fixture.heartbeat(member) == .unknownMemberID)
    }

    @Test func `A leader that joins again begins a rebalance`() throws {
        let fixture = ClusterFixture()
        let member = fixture.stableMember()
        #expect(fixture.join(id: member.id).value?.generation == 2)
    }

    @Test func `A rebalance ends a waiting SyncGroup`() throws {
        let fixture = ClusterFixture()
        let first = try #require(fixture.join().value)
        let second = fixture.join()
        _ = fixture.join(id: first.memberID)
        let waiting = fixture.sync(try #require(second.value))
        _ = fixture.join()
        #expect(waiting.value?.error == .rebalanceInProgress)
    }

    @Test func `A group uses the protocol that all members support`() {
        let fixture = ClusterFixture()
        let member = fixture.stableMember()
        let other = fixture.join(protocols: ["cooperative-sticky", "range"])
        _ = fixture.join(id: member.id)
        #expect(other.value?.protocolName == "range")
    }

    @Test func `A full group accepts no member`() {
        let fixture = ClusterFixture { $0.maxGroupSize = 1 }
        _ = fixture.stableMember()
        #expect(fixture.join().value?.error == .groupMaxSizeReached)
    }

    // MARK: - Static members

    @Test func `The former instance of a static member is fenced`() {
        let fixture = ClusterFixture()
        let former = fixture.stableMember(instanceID: "i1")
        _ = fixture.join(instanceID: "i1")
        let leave = LeaveGroupRequest("workers", memberID: former.id, instanceID: "i1")
        #expect(fixture.cluster.leaveGroup(leave).error == .fencedInstanceID)
        #expect(fixture.join(id: former.id, instanceID: "i1").value?.error == .fencedInstanceID)
    }

    // MARK: - Coordinators

    @Test func `A new coordinator has the group`() throws {
        let fixture = ClusterFixture { $0.brokers = 2 }
        let member = fixture.stableMember()
        let other = fixture.join()
        let old = fixture.cluster.coordinator(.group("workers"))
        let new: Int32 = old == 1 ? 2 : 1
        fixture.cluster.moveCoordinator(.group("workers"), to: new, loading: .seconds(1))

        #expect(other.value?.error == .notCoordinator)
        let heartbeat = HeartbeatRequest("workers", as: member)
        #expect(fixture.cluster.heartbeat(heartbeat, at: old).error == .notCoordinator)
        #expect(fixture.commit(1, as: member) == .coordinatorLoadInProgress)
        fixture.pass(.seconds(1))
        #expect(fixture.cluster.heartbeat(heartbeat, at: new).error == .none)
        #expect(fixture.commit(1, as: member) == .none)
    }

    @Test func `No session ends while the coordinator is down`() {
        let fixture = ClusterFixture()
        let member = fixture.stableMember()
        let coordinator = fixture.cluster.coordinator(.group("workers"))
        fixture.cluster.setBroker(coordinator, isUp: false)
        fixture.pass(.seconds(60))

        fixture.cluster.setBroker(coordinator, isUp: true)
        fixture.pass(.seconds(5))
        #expect(fixture.heartbeat(member) == .none)
    }
}
