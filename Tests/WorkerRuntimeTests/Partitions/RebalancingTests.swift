import EventContract
import EventLoop
import Kafka
import LocationSearch
import Resilience
import Synchronization
import TestSupport
import Testing

@testable import WorkerRuntime

/// What a lane finishes, commits and abandons when the group takes a partition back.
struct RebalancingTests {
    @Test func revokedPartitionWaitsForItsDeliveryReportsAndCommits() async throws {
        try await LaneBench.run { bench in
            await bench.sink.holdReports()
            await bench.source.append([LaneBench.request("a")])
            try await eventually("it is handed over") { await bench.sink.handedOver.count == 1 }

            async let revoked: Void = bench.source.revoke([0])
            let commits = await bench.source.commitCount
            try await eventually("the revocation commits first") { await bench.source.commitCount > commits }
            #expect(await bench.source.committed.isEmpty)
            await bench.sink.confirmAll()
            await revoked
            #expect(await bench.source.committed == [TopicPartition("requests", 0): 1])
        }
    }

    @Test func revokedPartitionGivesUpWhatHasCostNothing() async throws {
        try await LaneBench.run(
            assigned: [0, 1], { $0.ordering = .unordered },
            { bench in
                await bench.provider.hold()
                await bench.source.append([LaneBench.request("paid")])
                try await eventually("it is asked for") { await bench.provider.asked == ["paid"] }
                async let lost: Void = bench.source.lose([0])
                await lost
                await bench.provider.releaseAll()

                await bench.source.append([LaneBench.request("other")], to: 1)
                try await bench.outcomesAreWritten(["other"])
                #expect(await bench.sink.written.count == 1, "a lost partition's outcome is not published")
                #expect(await bench.source.committed[TopicPartition("requests", 0)] == nil)
            })
    }
}
