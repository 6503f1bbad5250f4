import SimulatedKafka
import Testing

struct ClassicGroupTests {
    @Test func `Members of a generation get what the leader assigns`() throws {
        let fixture = ClusterFixture()
        let first = fixture.join()
        let second = fixture.join()
        let third = fixture.join(id: try #require(first.value?.memberID))
        let (leader, follower) = (try #require(third.value), try #require(second.value))
        #expect(leader.generation == 2)
        #expect(leader.members.map(\.id) == [leader.memberID, follower.memberID])
        #expect(follower.members.isEmpty)
        #expect(follower.leader == leader.memberID)

        let waiting = fixture.sync(follower)
        #expect(waiting.value == nil)
        let assignments: [String: [UInt8]] = [leader.memberID: [1], follower.memberID: [2]]
        #expect(fixture.sync(leader, assignments: assignments).value?.assignment == [1])
        #expect(waiting.value?.assignment == [2])
    }

    @Test func `New members are told their id first`() {
        let fixture = ClusterFixture()
        let answer = Box<JoinGroupResponse>()
        let request = JoinGroupRequest("workers", protocols: [.init("range")])
        fixture.cluster.joinGroup(request) { answer.value = $0 }
        #expect(answer.value?.error == .memberIDRequired)
        #expect(answer.value?.memberID.isEmpty == false)
    }

    @Test func `First member waits for others`() {
        var rules = ClusterRules()
        rules.initialRebalanceDelay = .seconds(3)
        let fixture = ClusterFixture(rules)
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

    @Test func `Heartbeats tell of a rebalance`() {
        let fixture = ClusterFixture()
        let member = fixture.stableMember()
        #expect(fixture.heartbeat(member) == .none)
        _ = fixture.join()
        #expect(fixture.heartbeat(member) == .rebalanceInProgress)
    }

    @Test func `Member that does not join again is left out`() {
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

    @Test func `Silent member is thrown out`() {
        let fixture = ClusterFixture()
        let member = fixture.stableMember()
        fixture.pass(.seconds(9))
        #expect(fixture.heartbeat(member) == .none)
        fixture.pass(.seconds(10))
        #expect(fixture.heartbeat(member) == .unknownMemberID)
        #expect(fixture.cluster.members(of: "workers").isEmpty)
    }

    @Test func `Member that does not ask for its assignment is thrown out`() throws {
        let fixture = ClusterFixture()
        let joined = try #require(fixture.join(rebalance: .seconds(5)).value)
        let member = MemberName(id: joined.memberID, generation: joined.generation)
        fixture.pass(.seconds(5))
        #expect(fixture.heartbeat(member) == .unknownMemberID)
    }

    @Test func `Generations that are over are refused`() {
        let fixture = ClusterFixture()
        var member = fixture.stableMember()
        let again = fixture.join(id: member.id)
        #expect(again.value?.generation == 2)
        #expect(fixture.heartbeat(member) == .illegalGeneration)
        #expect(fixture.commit(1, as: member) == .illegalGeneration)
        member.generation = 3
        #expect(fixture.heartbeat(member) == .illegalGeneration)
    }

    @Test func `Leader that joins again begins a rebalance`() throws {
        let fixture = ClusterFixture()
        let member = fixture.stableMember()
        #expect(fixture.join(id: member.id).value?.generation == 2)
    }

    @Test func `Sync during a rebalance is refused`() throws {
        let fixture = ClusterFixture()
        let joined = try #require(fixture.join().value)
        _ = fixture.join()
        #expect(fixture.sync(joined).value?.error == .rebalanceInProgress)
    }

    @Test func `Waiting sync is told of a rebalance`() throws {
        let fixture = ClusterFixture()
        let first = try #require(fixture.join().value)
        let second = fixture.join()
        _ = fixture.join(id: first.memberID)
        let waiting = fixture.sync(try #require(second.value))
        _ = fixture.join()
        #expect(waiting.value?.error == .rebalanceInProgress)
    }

    @Test func `Member that leaves begins a rebalance`() throws {
        let fixture = ClusterFixture()
        let first = try #require(fixture.join().value)
        let second = fixture.join()
        _ = fixture.join(id: first.memberID)
        let leader = MemberName(id: first.memberID, generation: 2)
        let leave = LeaveGroupRequest("workers", memberID: try #require(second.value).memberID)
        #expect(fixture.cluster.leaveGroup(leave).error == .none)
        #expect(fixture.cluster.leaveGroup(leave).error == .unknownMemberID)
        #expect(fixture.heartbeat(leader) == .rebalanceInProgress)
    }

    @Test(arguments: [
        (["range"], ErrorCode.none), (["cooperative-sticky"], .inconsistentGroupProtocol),
        (["cooperative-sticky", "range"], .none),
    ])
    func `All members must know one protocol`(protocols: [String], expected: ErrorCode) {
        let fixture = ClusterFixture()
        let member = fixture.stableMember()
        let other = fixture.join(protocols: protocols)
        guard expected == .none else {
            #expect(other.value?.error == expected)
            return
        }
        _ = fixture.join(id: member.id)
        #expect(other.value?.protocolName == "range")
    }

    @Test(arguments: [(Int64.seconds(5), ErrorCode.invalidSessionTimeout), (.seconds(6), .none)])
    func `Session timeouts have bounds`(timeout: Int64, expected: ErrorCode) {
        let fixture = ClusterFixture()
        #expect(fixture.join(session: timeout).value?.error == expected)
    }

    @Test func `Unknown member cannot join`() {
        let fixture = ClusterFixture()
        #expect(fixture.join(id: "nobody").value?.error == .unknownMemberID)
        _ = fixture.stableMember()
        #expect(fixture.join(id: "nobody").value?.error == .unknownMemberID)
    }

    @Test func `Full group takes nobody`() {
        var rules = ClusterRules()
        rules.maxGroupSize = 1
        let fixture = ClusterFixture(rules)
        _ = fixture.stableMember()
        #expect(fixture.join().value?.error == .groupMaxSizeReached)
    }

    // MARK: - Static members

    @Test func `Static member that starts again causes no rebalance`() throws {
        let fixture = ClusterFixture()
        let former = fixture.stableMember(instanceID: "i1")
        let joined = try #require(fixture.join(instanceID: "i1").value)
        #expect(joined.error == .none)
        #expect(joined.generation == 1)
        #expect(joined.memberID != former.id)
        #expect(fixture.sync(joined, instanceID: "i1").value?.assignment == [1])
    }

    @Test func `Former self of a static member is fenced`() {
        let fixture = ClusterFixture()
        let former = fixture.stableMember(instanceID: "i1")
        _ = fixture.join(instanceID: "i1")
        #expect(fixture.heartbeat(former) == .fencedInstanceID)
        #expect(fixture.commit(1, as: former) == .fencedInstanceID)
        let leave = LeaveGroupRequest("workers", memberID: former.id, instanceID: "i1")
        #expect(fixture.cluster.leaveGroup(leave).error == .fencedInstanceID)
        #expect(fixture.join(id: former.id, instanceID: "i1").value?.error == .fencedInstanceID)
    }

    // MARK: - Coordinators

    @Test func `Group is found again by a new coordinator`() throws {
        var rules = ClusterRules()
        rules.brokers = 2
        let fixture = ClusterFixture(rules)
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

    @Test func `Coordinator that is down ends no sessions`() {
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
