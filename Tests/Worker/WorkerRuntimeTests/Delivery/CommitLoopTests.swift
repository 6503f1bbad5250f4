import EventLoop
import Kafka
import TestSupport
import Testing

@testable import WorkerRuntime

/// A lane's commits, and its behaviour while commits are rejected.
struct CommitLoopTests {
    @Test func `Offsets are committed only after delivery is confirmed`() async throws {
        try await LaneFixture.run { fixture in
            await fixture.sink.holdReports()
            await fixture.source.append([LaneFixture.request("a"), LaneFixture.request("b")])
            try await eventually("both are handed over") { await fixture.sink.handedOver.count == 2 }
            let commits = await fixture.source.commitCount
            try await eventually("more commits") { await fixture.source.commitCount > commits + 1 }
            #expect(await fixture.source.committed[TopicPartition("requests", 0)] == 0)

            await fixture.sink.confirmAll()
            try await fixture.isCommitted(upTo: 2)
        }
    }

    /// Its topic was deleted, or the right to read it was revoked.
    @Test(arguments: [3, 29] as [Int32])  // UNKNOWN_TOPIC_OR_PART, TOPIC_AUTHORIZATION_FAILED
    func `Rejected commits of one topic pause only its own partitions`(code: Int32) async throws {
        let night = TopicPartition("night", 0)
        try await LaneFixture.run(
            assigned: [], { $0.topics.requestTopics = [RequestTopic("requests"), RequestTopic("night")] }
        ) { fixture in
            await fixture.source.assign([TopicPartition("requests", 0), night])
            try await fixture.commitsFirstRequest()
            await fixture.source.append([LaneFixture.request("n")], of: "night")
            try await eventually("it is committed") { await fixture.source.committed[night] == 1 }

            let refusal = KafkaError(librdkafkaCode: code, doing: "commit offset of night[0]")
            await fixture.source.refuseCommits(of: "night", with: refusal)
            await fixture.source.append([LaneFixture.request("o")], of: "night")
            try await eventually("nothing more is read of it") { await fixture.source.held == [night] }
            for (index, id) in ["a", "b", "c"].enumerated() {
                await fixture.source.append([LaneFixture.request(id)])
                try await fixture.isCommitted(upTo: Int64(index) + 2)
            }
            #expect(await fixture.lane.status.delivery.commitOverdue == nil)
            #expect(await fixture.source.committed[night] == 1)

            await fixture.source.refuseCommits(of: "night", with: nil)
            try await eventually("it is read again") { await fixture.source.held.isEmpty }
            try await eventually("it is committed") { await fixture.source.committed[night] == 2 }
        }
    }

    /// Partitions of a rejected topic that were just assigned do not make those of other topics wait for their crash notes.
    @Test func `A topic that is rejected from the start delays no other one`() async throws {
        try await LaneFixture.run(
            assigned: [], { $0.topics.requestTopics = [RequestTopic("requests"), RequestTopic("night")] }
        ) { fixture in
            await fixture.source.refuseCommits(
                of: "night", with: KafkaError(librdkafkaCode: 29, doing: "commit offset of night[0]"))
            await fixture.source.assign([TopicPartition("requests", 0), TopicPartition("night", 0)])
            await fixture.source.append([LaneFixture.request("n")], of: "night")
            try await fixture.commitsFirstRequest()
        }
    }
}
