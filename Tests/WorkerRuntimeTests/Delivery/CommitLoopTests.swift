import EventContract
import EventLoop
import Kafka
import LocationSearch
import Resilience
import Synchronization
import TestSupport
import Testing

@testable import WorkerRuntime

/// When a lane commits, and what it does while commits are refused.
struct CommitLoopTests {
    @Test func offsetsAreCommittedOnlyAfterDeliveryIsConfirmed() async throws {
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

    @Test func refusedCommitsHoldUpNewRequestsUntilOneIsTaken() async throws {
        try await LaneFixture.run { fixture in
            try await fixture.commitsFirstRequest()
            await fixture.source.refuseCommits(with: KafkaError(.retriable, "the group is rebalancing"))
            await fixture.source.append([LaneFixture.request("a")])
            try await fixture.outcomesAreWritten(["a"])
            try await eventually("commits are overdue") { await fixture.lane.status.commitOverdue != nil }

            await fixture.source.append([LaneFixture.request("b"), LaneFixture.request("c")])
            let commits = await fixture.source.commitCount
            try await eventually("more commits are refused") { await fixture.source.commitCount > commits + 2 }
            #expect(await fixture.provider.asked == ["first", "a"])

            await fixture.source.refuseCommits(with: nil)
            try await fixture.isCommitted(upTo: 4)
        }
    }
}
