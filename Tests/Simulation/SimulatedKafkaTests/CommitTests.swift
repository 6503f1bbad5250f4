import SimulatedKafka
import Testing

struct CommitTests {
    @Test func `Anybody commits for an empty group`() {
        let fixture = ClusterFixture()
        #expect(fixture.commit(5) == .none)
        #expect(fixture.committed()?.offset == 5)
        #expect(fixture.committed(1)?.offset == -1)
    }

    /// Tansu drops the metadata.
    @Test(arguments: [true, false])
    func `Brokers keep the text beside an offset or drop it`(keeps: Bool) {
        var rules = ClusterRules()
        rules.keepsOffsetMetadata = keeps
        let fixture = ClusterFixture(rules)
        let offsets = [fixture.partition(0): OffsetToCommit(5, metadata: "text")]
        #expect(fixture.cluster.offsetCommit(OffsetCommitRequest("workers", offsets)).error == .none)
        #expect(fixture.committed()?.offset == 5)
        #expect(fixture.committed()?.metadata == (keeps ? "text" : ""))
        #expect(fixture.cluster.commits(by: "workers")[fixture.partition(0)]?.metadata == (keeps ? "text" : ""))
    }

    @Test func `Only members commit for a group that has some`() {
        let fixture = ClusterFixture()
        let member = fixture.stableMember()
        #expect(fixture.commit(5) == .unknownMemberID)
        #expect(fixture.commit(5, as: MemberName(id: "nobody", generation: 1)) == .unknownMemberID)
        #expect(fixture.commit(5, as: member) == .none)
    }

    @Test func `Group that is not there has no generation`() {
        let fixture = ClusterFixture()
        let member = MemberName(id: "m", generation: 1)
        let offsets = [fixture.partition(0): OffsetToCommit(1)]
        for (version, expected) in [(Int16(8), ErrorCode.illegalGeneration), (9, .groupIDNotFound)] {
            let request = OffsetCommitRequest("workers", as: member, offsets, version: version)
            #expect(fixture.cluster.offsetCommit(request).error == expected)
        }
    }

    @Test func `Commits count while a rebalance is prepared and not while it completes`() throws {
        let fixture = ClusterFixture()
        let member = fixture.stableMember()
        _ = fixture.join()
        #expect(fixture.commit(5, as: member) == .none)

        _ = fixture.join(id: member.id)
        let next = MemberName(id: member.id, generation: 2)
        #expect(fixture.commit(6, as: member) == .illegalGeneration)
        #expect(fixture.commit(6, as: next) == .rebalanceInProgress)
        #expect(fixture.committed()?.offset == 5)
    }

    @Test func `Member commits partitions that it does not own`() {
        // The broker compares generations, not owners.
        let fixture = ClusterFixture()
        let member = fixture.stableMember()
        #expect(fixture.commit(777, of: 1, as: member) == .none)
    }

    @Test(arguments: [
        (Permission.readGroup("workers"), ErrorCode.groupAuthorizationFailed),
        (.readTopic("requests"), .topicAuthorizationFailed),
    ])
    func `Commits need permission`(denied: Permission, expected: ErrorCode) {
        let fixture = ClusterFixture()
        fixture.cluster.denied = [denied]
        #expect(fixture.commit(5) == expected)
    }

    @Test func `Partitions that are not there are refused one by one`() {
        let fixture = ClusterFixture()
        let offsets = [fixture.partition(0): OffsetToCommit(1), fixture.partition(9): OffsetToCommit(1)]
        let answer = fixture.cluster.offsetCommit(OffsetCommitRequest("workers", offsets))
        #expect(answer.results[fixture.partition(0)] == ErrorCode.none)
        #expect(answer.results[fixture.partition(9)] == .unknownTopicOrPartition)
    }

    @Test func `Long metadata is refused`() {
        let fixture = ClusterFixture()
        let offsets = [fixture.partition(0): OffsetToCommit(1, metadata: String(repeating: "x", count: 4_097))]
        let answer = fixture.cluster.offsetCommit(OffsetCommitRequest("workers", offsets))
        #expect(answer.error == .offsetMetadataTooLarge)
    }
}
