import SimulatedKafka
import Testing

struct CommitTests {
    /// Tansu drops the metadata.
    @Test(arguments: [true, false])
    func `Brokers keep the metadata of an offset or drop it`(keeps: Bool) {
        let fixture = ClusterFixture { $0.keepsOffsetMetadata = keeps }
        let offsets = [fixture.partition(0): OffsetToCommit(5, metadata: "text")]
        #expect(fixture.cluster.offsetCommit(OffsetCommitRequest("workers", offsets)).error == .none)
        #expect(fixture.committed()?.offset == 5)
        #expect(fixture.committed()?.metadata == (keeps ? "text" : ""))
        #expect(fixture.cluster.commits(by: "workers")[fixture.partition(0)]?.metadata == (keeps ? "text" : ""))
    }

    @Test func `A commit of a member to an unknown group is rejected`() {
        let fixture = ClusterFixture()
        let member = MemberName(id: "m", generation: 1)
        let offsets = [fixture.partition(0): OffsetToCommit(1)]
        let request = OffsetCommitRequest("workers", as: member, offsets, version: 9)
        #expect(fixture.cluster.offsetCommit(request).error == .groupIDNotFound)
    }

    @Test(arguments: [
        (Permission.readGroup("workers"), ErrorCode.groupAuthorizationFailed),
        (.readTopic("requests"), .topicAuthorizationFailed),
    ])
    func `A commit needs permission`(denied: Permission, expected: ErrorCode) {
        let fixture = ClusterFixture()
        fixture.cluster.denied = [denied]
        #expect(fixture.commit(5) == expected)
    }

    @Test func `Only commits of unknown partitions are rejected`() {
        let fixture = ClusterFixture()
        let offsets = [fixture.partition(0): OffsetToCommit(1), fixture.partition(9): OffsetToCommit(1)]
        let answer = fixture.cluster.offsetCommit(OffsetCommitRequest("workers", offsets))
        #expect(answer.results[fixture.partition(0)] == ErrorCode.none)
        #expect(answer.results[fixture.partition(9)] == .unknownTopicOrPartition)
    }
}
