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
        try await LaneBench.run { bench in
            await bench.sink.holdReports()
            await bench.source.append([LaneBench.request("a"), LaneBench.request("b")])
            try await eventually("both are handed over") { await bench.sink.handedOver.count == 2 }
            let commits = await bench.source.commitCount
            try await eventually("more commits") { await bench.source.commitCount > commits + 1 }
            #expect(await bench.source.committed.isEmpty)

            await bench.sink.confirmAll()
            try await bench.isCommitted(upTo: 2)
        }
    }

    @Test func refusedCommitsHoldUpNewRequestsUntilOneIsTaken() async throws {
        try await LaneBench.run { bench in
            await bench.source.refuseCommits(with: KafkaError(.retriable, "the group is rebalancing"))
            await bench.source.append([LaneBench.request("a")])
            try await bench.outcomesAreWritten(["a"])
            try await eventually("commits are overdue") { await bench.lane.status.commitOverdue != nil }

            await bench.source.append([LaneBench.request("b"), LaneBench.request("c")])
            let commits = await bench.source.commitCount
            try await eventually("more commits are refused") { await bench.source.commitCount > commits + 2 }
            #expect(await bench.provider.asked == ["a"])

            await bench.source.refuseCommits(with: nil)
            try await bench.isCommitted(upTo: 3)
        }
    }
}
