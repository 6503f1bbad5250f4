import SimulatedKafka
import Testing

struct ConsumerGroupTests {
    private func partitions(_ fixture: ClusterFixture, _ numbers: Int32...) -> [PartitionID] {
        numbers.map(fixture.partition)
    }

    @Test func `First member gets everything`() {
        let fixture = ClusterFixture()
        let answer = fixture.beat("a", epoch: 0)
        #expect(answer.error == .none)
        #expect(answer.memberEpoch == 1)
        #expect(answer.assignment == partitions(fixture, 0, 1))
        #expect(fixture.beat("a", epoch: 1).assignment == nil)
    }

    @Test func `Partition goes to another member once it is given up`() {
        let fixture = ClusterFixture()
        _ = fixture.beat("a", epoch: 0)
        let joined = fixture.beat("b", epoch: 0)
        #expect(joined.memberEpoch == 2)
        #expect(joined.assignment == [])

        // The first member stays in its epoch until it confirms that it has revoked the partition.
        let told = fixture.beat("a", epoch: 1)
        #expect(told.memberEpoch == 1)
        #expect(told.assignment == partitions(fixture, 0))
        #expect(fixture.beat("b", epoch: 2).assignment == nil)
        #expect(fixture.beat("a", epoch: 1, owned: partitions(fixture, 0, 1)).memberEpoch == 1)

        #expect(fixture.beat("a", epoch: 1, owned: partitions(fixture, 0)).memberEpoch == 2)
        #expect(fixture.beat("b", epoch: 2).assignment == partitions(fixture, 1))
    }

    @Test func `Target is computed again only after the interval`() {
        var rules = ClusterRules()
        rules.consumerAssignmentInterval = .seconds(1)
        let fixture = ClusterFixture(rules)
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

    @Test func `Epoch rises while partitions stay`() {
        let fixture = ClusterFixture(partitions: 1)
        _ = fixture.beat("a", epoch: 0)
        _ = fixture.beat("b", epoch: 0)
        let answer = fixture.beat("a", epoch: 1)
        #expect(answer.memberEpoch == 2)
        #expect(answer.assignment == nil)
    }

    @Test(arguments: [
        (Int32(3), ErrorCode.none), (4, .fencedMemberEpoch), (2, .none), (1, .fencedMemberEpoch),
    ])
    func `Epochs that are not the members are fenced`(epoch: Int32, expected: ErrorCode) {
        let fixture = ClusterFixture(partitions: 1)
        _ = fixture.beat("a", epoch: 0)
        _ = fixture.beat("b", epoch: 0)
        _ = fixture.beat("a", epoch: 1)
        _ = fixture.beat("c", epoch: 0)
        _ = fixture.beat("a", epoch: 2)
        // The previous epoch is accepted as a heartbeat whose answer was lost.
        #expect(fixture.beat("a", epoch: epoch, owned: partitions(fixture, 0)).error == expected)
    }

    @Test func `Strangers are unknown`() {
        let fixture = ClusterFixture()
        #expect(fixture.beat("a", epoch: 1).error == .groupIDNotFound)
        _ = fixture.beat("a", epoch: 0)
        #expect(fixture.beat("b", epoch: 1).error == .unknownMemberID)
        #expect(fixture.beat("b", epoch: -1).error == .unknownMemberID)
    }

    @Test func `Member that leaves gives everything up`() {
        let fixture = ClusterFixture()
        _ = fixture.beat("a", epoch: 0)
        _ = fixture.beat("b", epoch: 0)
        #expect(fixture.beat("a", epoch: -1).memberEpoch == -1)
        #expect(fixture.beat("b", epoch: 2).assignment == partitions(fixture, 0, 1))
    }

    @Test func `Silent member is thrown out`() {
        let fixture = ClusterFixture()
        _ = fixture.beat("a", epoch: 0)
        fixture.pass(.seconds(44))
        #expect(fixture.beat("a", epoch: 1).error == .none)
        fixture.pass(.seconds(45))
        #expect(fixture.beat("a", epoch: 1).error == .unknownMemberID)
    }

    @Test func `Member that gives nothing up is thrown out`() {
        let fixture = ClusterFixture()
        _ = fixture.beat("a", epoch: 0)
        _ = fixture.beat("b", epoch: 0)
        _ = fixture.beat("a", epoch: 1)
        fixture.pass(.seconds(30))
        #expect(fixture.beat("a", epoch: 1).error == .unknownMemberID)
        #expect(fixture.beat("b", epoch: 2).assignment == partitions(fixture, 0, 1))
    }

    @Test func `Partitions that are added are shared`() {
        let fixture = ClusterFixture()
        _ = fixture.beat("a", epoch: 0)
        _ = fixture.cluster.createPartitions(CreatePartitionsRequest(fixture.topic, count: 3))
        let answer = fixture.beat("a", epoch: 1)
        #expect(answer.memberEpoch == 2)
        #expect(answer.assignment == partitions(fixture, 0, 1, 2))
    }

    @Test func `Static member goes on where its former self stopped`() {
        let fixture = ClusterFixture()
        _ = fixture.beat("a", epoch: 0, instanceID: "i1")
        #expect(fixture.beat("b", epoch: 0, instanceID: "i1").error == .unreleasedInstanceID)
        #expect(fixture.beat("a", epoch: -2, instanceID: "i1").error == .none)
        let answer = fixture.beat("b", epoch: 0, instanceID: "i1")
        #expect(answer.memberEpoch == 1)
        #expect(answer.assignment == partitions(fixture, 0, 1))
        #expect(fixture.beat("a", epoch: 1, instanceID: "i1").error == .fencedInstanceID)
    }

    @Test func `Requests that make no sense are refused`() {
        let fixture = ClusterFixture()
        var request = ConsumerGroupHeartbeatRequest("workers", memberID: "a", memberEpoch: 0)
        #expect(fixture.cluster.consumerGroupHeartbeat(request).error == .invalidRequest)
        request.topics = ["requests"]
        request.owned = []
        request.rebalanceTimeout = .seconds(30)
        request.serverAssignor = "fastest"
        #expect(fixture.cluster.consumerGroupHeartbeat(request).error == .unsupportedAssignor)
    }

    @Test func `Both protocols do not mix`() {
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
        var rules = ClusterRules()
        rules.memberEpochCheck = check
        let fixture = ClusterFixture(rules, partitions: 1)
        _ = fixture.beat("a", epoch: 0)
        _ = fixture.beat("b", epoch: 0)
        _ = fixture.beat("a", epoch: 1)
        return fixture
    }

    @Test(arguments: [
        (ClusterRules.MemberEpochCheck.equal, Int32(1), ErrorCode.staleMemberEpoch), (.equal, 2, .none),
        (.sinceAssignment, 1, .none), (.sinceAssignment, 0, .staleMemberEpoch),
        (.sinceAssignment, 3, .staleMemberEpoch),
    ])
    func `Commits name the members epoch`(check: ClusterRules.MemberEpochCheck, epoch: Int32, expected: ErrorCode) {
        let fixture = risen(check)
        #expect(fixture.commit(1, as: MemberName(id: "a", generation: epoch)) == expected)
    }

    @Test(arguments: [
        (ClusterRules.MemberEpochCheck.equal, ErrorCode.illegalGeneration), (.sinceAssignment, .none),
    ])
    func `Transactions name the members epoch`(check: ClusterRules.MemberEpochCheck, expected: ErrorCode) {
        let fixture = risen(check)
        let producer = fixture.transactionalProducer()
        _ = fixture.cluster.addOffsetsToTxn(AddOffsetsToTxnRequest(TransactionName("tx", producer), group: "workers"))
        #expect(fixture.commit(1, as: MemberName(id: "a", generation: 1), by: producer) == expected)
        #expect(fixture.commit(1, as: MemberName(id: "x", generation: 1), by: producer) == .unknownMemberID)
    }

    @Test func `Old commit requests are refused`() {
        let fixture = risen(.equal)
        let offsets = [fixture.partition(0): OffsetToCommit(1)]
        let request = OffsetCommitRequest("workers", as: MemberName(id: "a", generation: 2), offsets, version: 8)
        #expect(fixture.cluster.offsetCommit(request).error == .unsupportedVersion)
    }

    @Test(arguments: [(Int32(2), ErrorCode.none), (1, .staleMemberEpoch)])
    func `Questions name the members epoch`(epoch: Int32, expected: ErrorCode) {
        let fixture = risen(.equal)
        let member = MemberName(id: "a", generation: epoch)
        let request = OffsetFetchRequest("workers", [fixture.partition(0)], member: member)
        #expect(fixture.cluster.offsetFetch(request).error == expected)
    }
}
