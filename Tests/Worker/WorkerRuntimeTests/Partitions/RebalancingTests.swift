import Kafka
import TestSupport
import Testing

@testable import WorkerRuntime

/// The requests that a lane finishes, commits and abandons at a revocation.
struct RebalancingTests {
    @Test func `A revoked partition waits for its delivery reports and commits`() async throws {
        try await LaneFixture.run { fixture in
            await fixture.sink.holdReports()
            await fixture.source.append([LaneFixture.request("a")])
            try await eventually("it is handed over") { await fixture.sink.handedOver.count == 1 }

            async let revoked: Void = fixture.source.revoke([0])
            let commits = await fixture.source.commitCount
            try await eventually("the revocation commits first") { await fixture.source.commitCount > commits }
            #expect(await fixture.source.committed == [TopicPartition("requests", 0): 0])
            await fixture.sink.confirmAll()
            await revoked
            #expect(await fixture.source.committed == [TopicPartition("requests", 0): 1])
        }
    }

    @Test func `A lost partition's outcome is not published`() async throws {
        try await LaneFixture.run(
            assigned: [0, 1], { $0.ordering = .unordered },
            { fixture in
                await fixture.provider.hold()
                await fixture.source.append([LaneFixture.request("paid")])
                try await eventually("it is asked for") { await fixture.provider.asked == ["paid"] }
                async let lost: Void = fixture.source.lose([0])
                await lost
                await fixture.provider.releaseAll()

                await fixture.source.append([LaneFixture.request("other")], to: 1)
                try await fixture.outcomesAreWritten(["other"])
                #expect(await fixture.sink.written.count == 1, "a lost partition's outcome is not published")
                #expect(await fixture.source.committed[TopicPartition("requests", 0)] == 0)
            })
    }
}
