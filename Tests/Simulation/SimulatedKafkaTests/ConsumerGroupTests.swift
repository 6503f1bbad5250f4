import SimulatedKafka
import Testing

/// The rules of KIP-848 groups that Simulation/conformance.json does not contain: see `ConformanceTests`.
struct ConsumerGroupTests {
    private func partitions(_ fixture: ClusterFixture, _ numbers: Int32...) -> [PartitionID] {
        numbers.map(fixture.partition)
    }

    @Test func `The target is computed again only after the interval`() {
        let fixture = ClusterFixture { $0.consumerAssignmentInterval = .seconds(1) }
        #expect(fixture.beat("a", epoch: 0).assignment == partitions(fixture, 0, 1))

        // The new member is in the epoch of a target that does not contain it yet.
        let joined = fixture.beat("b", epoch: 0)
        #expect(joined.memberEpoch == 1)
        #expect(joined.assignment == [])
        fixture.pass(.milliseconds(999))
        #expect(fixture.beat("a", epoch: 1).assignment == nil)

        fixture.pass(.milliseconds(1))
        #expect(fixture.beat("a", epoch: 1).assignment == partitions(fixture, 0))
        #expect(fixture.beat("a", epoch: 1, owned: partitions(fixture, 0)).memberEpoch == 2)
        let served = fixture.beat("b", epoch: 1)
        #expect(served.memberEpoch == 2)
        #expect(served.assignment == partitions(fixture, 1))
    }

    @Test(arguments: [
        (Int32(3), ErrorCode.none), (4, .fencedMemberEpoch), (2, .none), (1, .fencedMemberEpoch),
    ])
    func `An epoch that is not the member's is fenced`(epoch: Int32, expected: ErrorCode) {
        let fixture = ClusterFixture(partitions: 1)
        _ = fixture.beat("a", epoch: 0)
        _ = fixture.beat("b", epoch: 0)
        _ = fixture.beat("a", epoch: 1)
        _ = fixture.beat("c", epoch: 0)
        _ = fixture.beat("a", epoch: 2)
        // The previous epoch is accepted as a heartbeat whose answer was lost.
        #expect(fixture.beat("a", epoch: epoch, owned: partitions(fixture, 0)).error == expected)
    }

    @Test func `A member that revokes nothing is removed`() {
        let fixture = ClusterFixture()
        _ = fixture.beat("a", epoch: 0)
        _ = fixture.beat("b", epoch: 0)
        _ = fixture.beat("a", epoch: 1)
        fixture.pass(.seconds(30))
        #expect(fixture.beat("a", epoch: 1).error == .unknownMemberID)
        #expect(fixture.beat("b", epoch: 2).assignment == partitions(fixture, 0, 1))
    }

    @Test func `Added partitions are assigned`() {
        let fixture = ClusterFixture()
        _ = fixture.beat("a", epoch: 0)
        _ = fixture.cluster.createPartitions(CreatePartitionsRequest(fixture.topic, count: 3))
        let answer = fixture.beat("a", epoch: 1)
        #expect(answer.memberEpoch == 2)
        #expect(answer.assignment == partitions(fixture, 0, 1, 2))
    }

    @Test func `A static member goes on where its former instance stopped`() {
        let fixture = ClusterFixture()
        _ = fixture.beat("a", epoch: 0, instanceID: "i1")
        #expect(fixture.beat("b", epoch: 0, instanceID: "i1").error == .unreleasedInstanceID)
        #expect(fixture.beat("a", epoch: -2, instanceID: "i1").error == .none)
        let answer = fixture.beat("b", epoch: 0, instanceID: "i1")
        #expect(answer.memberEpoch == 1)
        #expect(answer.assignment == partitions(fixture, 0, 1))
        #expect(fixture.beat("a", epoch: 1, instanceID: "i1").error == .fencedInstanceID)
    }

    @Test func `Invalid requests are rejected`() {
        let fixture = ClusterFixture()
        var request = ConsumerGroupHeartbeatRequest("workers", memberID: "a", memberEpoch: 0)
        #expect(fixture.cluster.consumerGroupHeartbeat(request).error == .invalidRequest)
        request.topics = ["requests"]
        request.owned = []
        request.rebalanceTimeout = .seconds(30)
        request.serverAssignor = "fastest"
        #expect(fixture.cluster.consumerGroupHeartbeat(request).error == .unsupportedAssignor)
    }

    @Test func `A group does not mix both protocols`() {
        let fixture = ClusterFixture()
        _ = fixture.stableMember()
        #expect(fixture.beat("a", epoch: 0).error == .groupIDNotFound)
        _ = fixture.cluster.consumerGroupHeartbeat(
            ConsumerGroupHeartbeatRequest("others", memberID: "a", memberEpoch: 0))
        _ = fixture.beat("a", epoch: 0, group: "others")
        #expect(fixture.join("others").value?.error == .inconsistentGroupProtocol)
    }

    // MARK: - Commits

    /// Two members and one partition: the first member's epoch has risen from 1 to 2, and its partition has stayed.
    private func risen(_ check: ClusterRules.MemberEpochCheck) -> ClusterFixture {
        let fixture = ClusterFixture(partitions: 1) { $0.memberEpochCheck = check }
        _ = fixture.beat("a", epoch: 0)
        _ = fixture.beat("b", epoch: 0)
        _ = fixture.beat("a", epoch: 1)
        return fixture
    }

    @Test(arguments: [(Int32(0), ErrorCode.staleMemberEpoch), (1, .none), (3, .staleMemberEpoch)])
    func `A commit may name any epoch since the assignment`(epoch: Int32, expected: ErrorCode) {
        let fixture = risen(.sinceAssignment)
        #expect(fixture.commit(1, as: MemberName(id: "a", generation: epoch)) == expected)
    }

    @Test func `Old versions of OffsetCommit are rejected`() {
        let fixture = risen(.equal)
        let offsets = [fixture.partition(0): OffsetToCommit(1)]
        let request = OffsetCommitRequest("workers", as: MemberName(id: "a", generation: 2), offsets, version: 8)
        #expect(fixture.cluster.offsetCommit(request).error == .unsupportedVersion)
    }

    @Test(arguments: [(Int32(2), ErrorCode.none), (1, .staleMemberEpoch)])
    func `OffsetFetch names the member's epoch`(epoch: Int32, expected: ErrorCode) {
        let fixture = risen(.equal)
        let member = MemberName(id: "a", generation: epoch)
        let request = OffsetFetchRequest("workers", [fixture.partition(0)], member: member)
        #expect(fixture.cluster.offsetFetch(request).error == expected)
    }
}
