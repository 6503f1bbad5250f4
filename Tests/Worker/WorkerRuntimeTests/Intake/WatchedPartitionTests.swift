import Kafka
import ProviderCalls
import TestSupport
import Testing

@testable import WorkerRuntime

/// If the last owner of one partition crashed, a lane goes on with its other partitions.
@Suite(.timeLimit(.minutes(1)))
struct WatchedPartitionTests {
    private static let refusal = KafkaError(.retriable, "the group is rebalancing")

    /// Assigns a partition whose last owner crashed.
    private static func assignWatched(_ fixture: LaneFixture) async {
        await fixture.source.setCommit(CommittedOffset(0, metadata: "locsearch1;at=0;tries=1"))
        await fixture.source.assign([0])
    }

    /// Runs a lane with three partitions that no longer need small steps.
    private static func run(
        delivery: WorkerConfiguration.Delivery = .atLeastOnce, calls: (any CallQueues & Sendable)? = nil,
        _ change: (inout WorkerConfiguration) -> Void = { _ in }, _ body: (LaneFixture) async throws -> Void
    ) async throws {
        try await LaneFixture.run(
            delivery: delivery, calls: calls, assigned: [1, 2, 3],
            {
                $0.commitInterval = .seconds(30)  // Overdue commits would block the lane as well.
                change(&$0)
            },
            { fixture in
                for partition: Int32 in 1...3 {
                    await fixture.source.append([LaneFixture.request("first-\(partition)")], to: partition)
                }
                try await eventually("all three are asked for") { await fixture.provider.asked.count == 3 }
                try await body(fixture)
            })
    }

    private static func asked(_ fixture: LaneFixture, _ prefix: String) async -> Int {
        await fixture.provider.asked.count { $0.hasPrefix(prefix) }
    }

    @Test func `Other partitions go on while a watched one waits for its note`() async throws {
        try await Self.run { fixture in
            await fixture.source.refuseCommits(with: Self.refusal)
            await Self.assignWatched(fixture)
            await fixture.source.append((0..<100).map { LaneFixture.request("watched-\($0)") })
            for partition: Int32 in 1...3 {
                await fixture.source.append((0..<100).map { LaneFixture.request("other-\($0)") }, to: partition)
            }
            try await eventually("all others are asked for") { await Self.asked(fixture, "other") == 300 }
            #expect(await Self.asked(fixture, "watched") == 0)
            #expect(await fixture.source.held == [TopicPartition("requests", 0)])

            await fixture.source.refuseCommits(with: nil)
            try await eventually("those of the watched one are too", within: .seconds(20)) {
                await Self.asked(fixture, "watched") == 100
            }
        }
    }

    /// A step that ends with a slow request takes a second. If the other partitions waited for it, they would take half a minute.
    @Test(arguments: [WorkerConfiguration.Delivery.atLeastOnce, .exactlyOnce])
    func `Other partitions go on while one takes small steps`(delivery: WorkerConfiguration.Delivery) async throws {
        let count = 500
        try await Self.run(delivery: delivery) {
            $0.concurrency = 1024
        } _: { fixture in
            await fixture.provider.hold(prefix: "watched")
            await Self.assignWatched(fixture)
            for _ in 0..<(count / 10) {
                await fixture.source.append((0..<10).map { LaneFixture.request("watched-\($0)") })
                for partition: Int32 in 1...3 {
                    await fixture.source.append((0..<10).map { LaneFixture.request("other-\($0)") }, to: partition)
                }
            }
            try await eventually("all others are asked for") { await Self.asked(fixture, "other") == 3 * count }
            #expect(await Self.asked(fixture, "watched") < count, "64 in each step")
        }
    }

    @Test func `Other requests begin while those of a watched partition wait for their notes`() async throws {
        try await Self.run(calls: WaitingRoomTests.Lines()) {
            $0.concurrency = 64
            $0.topics.requestTopics = [RequestTopic("requests", classes: [.interactive, .batch])]
        } _: { fixture in
            await fixture.provider.hold()
            await fixture.source.append((0..<64).map { WaitingRoomTests.request("busy-\($0)", .interactive) }, to: 1)
            try await eventually("all places are taken") { await Self.asked(fixture, "busy") == 64 }
            await Self.assignWatched(fixture)
            await fixture.source.append((0..<10).map { WaitingRoomTests.request("watched-\($0)", .interactive) })
            try await fixture.waits(count: 10)

            await fixture.source.refuseCommits(with: Self.refusal)
            await fixture.provider.releaseAll()
            for partition: Int32 in 1...3 {
                let others = (0..<100).map { WaitingRoomTests.request("other-\($0)", .interactive) }
                await fixture.source.append(others, to: partition)
            }
            try await eventually("all others are asked for") { await Self.asked(fixture, "other") == 300 }
            #expect(await Self.asked(fixture, "watched") == 0)

            await fixture.source.refuseCommits(with: nil)
            try await eventually("those of the watched one are too", within: .seconds(20)) {
                await Self.asked(fixture, "watched") == 10
            }
        }
    }

    @Test func `Records that waited for a note begin only with free permits`() async throws {
        try await Self.run {
            $0.concurrency = 8
        } _: { fixture in
            await fixture.provider.hold()
            await fixture.source.refuseCommits(with: Self.refusal)
            await Self.assignWatched(fixture)
            await fixture.source.append((0..<20).map { LaneFixture.request("watched-\($0)") })
            try await eventually("they are held") { await fixture.source.held == [TopicPartition("requests", 0)] }
            await fixture.source.append((0..<20).map { LaneFixture.request("other-\($0)") }, to: 1)
            try await eventually("all places are taken") { await Self.asked(fixture, "other") == 8 }

            await fixture.source.refuseCommits(with: nil)
            for ended in 1...32 {
                await fixture.provider.release(1)
                try await eventually("another one is asked for") { await fixture.provider.asked.count >= 11 + ended }
                #expect(await fixture.provider.asked.count == 11 + ended)
            }
        }
    }

    @Test func `Records that wait for a note are left to the next owner`() async throws {
        try await Self.run { fixture in
            await fixture.source.refuseCommits(with: Self.refusal)
            await Self.assignWatched(fixture)
            await fixture.source.append((0..<20).map { LaneFixture.request("watched-\($0)") })
            try await eventually("they are held") { await fixture.source.held == [TopicPartition("requests", 0)] }
            await fixture.source.revoke([0])

            await fixture.source.refuseCommits(with: nil)
            await fixture.source.append((0..<20).map { LaneFixture.request("other-\($0)") }, to: 1)
            try await eventually("all others are asked for") { await Self.asked(fixture, "other") == 20 }
            #expect(await Self.asked(fixture, "watched") == 0)
        }
    }
}
