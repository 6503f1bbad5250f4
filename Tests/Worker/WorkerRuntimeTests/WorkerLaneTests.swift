import EventLoop
import Kafka
import TestSupport
import Testing
import WorkerRuntime

@testable import QuotaSharing

/// A whole lane, with a source and a sink without brokers.
struct WorkerLaneTests {
    @Test func `A producer that fails permanently ends an ordered lane`() async throws {
        await #expect(throws: KafkaError.self) {
            try await LaneFixture.run({ $0.ordering = .partition }) { fixture in
                await fixture.sink.failForGood()
                await fixture.source.append([LaneFixture.request("a")])
                try await eventually("the lane leaves") { await fixture.source.isClosed }
                #expect(await fixture.source.committed == [TopicPartition("requests", 0): 0])
            }
        }
    }

    // MARK: - The end, at each step

    /// The state of a request when the drain begins.
    enum Step: CaseIterable {
        case idle
        case searching
        case delivering
        case commitRefused

        var committedAtTheEnd: Int64? {
            switch self {
            case .idle: nil
            case .searching, .delivering: 1
            case .commitRefused: 2
            }
        }
    }

    @Test(arguments: Step.allCases)
    func `A drain finishes and commits the requests in progress`(step: Step) async throws {
        try await LaneFixture.run { fixture in
            switch step {
            case .idle: break
            case .searching:
                await fixture.provider.hold()
                await fixture.source.append([LaneFixture.request("a")])
                try await eventually("it is asked for") { await fixture.provider.asked.count == 1 }
            case .delivering:
                await fixture.sink.holdReports()
                await fixture.source.append([LaneFixture.request("a")])
                try await eventually("it is handed over") { await fixture.sink.handedOver.count == 1 }
            case .commitRefused:
                try await fixture.commitsFirstRequest()
                await fixture.source.refuseCommits(with: KafkaError(.retriable, "the group is rebalancing"))
                await fixture.source.append([LaneFixture.request("a")])
                try await fixture.outcomesAreWritten(["a"])
            }

            await fixture.lane.drain()
            #expect(await fixture.lane.status.isDraining)
            #expect(await !fixture.source.isClosed || step == .idle)
            await fixture.source.append([LaneFixture.request("late")])
            await fixture.provider.releaseAll()
            await fixture.sink.confirmAll()
            await fixture.source.refuseCommits(with: nil)

            try await eventually("the lane leaves") { await fixture.source.isClosed }
            #expect(await fixture.source.unreadCount == 1, "nothing is taken any more")
            #expect(await fixture.source.committed[TopicPartition("requests", 0)] == step.committedAtTheEnd)
        }
    }

    @Test func `A drain abandons requests that outlast the grace`() async throws {
        try await LaneFixture.run {
            $0.shutdownGrace = .milliseconds(50)
        } _: { fixture in
            await fixture.provider.hold()
            await fixture.source.append([LaneFixture.request("a")])
            try await eventually("it is asked for") { await fixture.provider.asked.count == 1 }

            await fixture.lane.drain()
            try await eventually("the lane leaves") { await fixture.source.isClosed }
            #expect(await fixture.source.committed == [TopicPartition("requests", 0): 0])
            #expect(await fixture.sink.written.isEmpty)
        }
    }

    @Test func `A lane that fails to prepare never joins`() async throws {
        let fixture = try LaneFixture(delivery: .exactlyOnce)
        defer { fixture.loop.stop() }
        let error = KafkaError(.authentication, "TRANSACTIONAL_ID_AUTHORIZATION_FAILED")
        await fixture.sink.change { $0.initError = error }

        #expect(await fixture.lane.prepare() == false)
        await #expect(throws: KafkaError.self) { try await fixture.lane.run() }
        #expect(await !fixture.source.isSubscribed)
    }

    @Test func `Unknown topics are named`() async throws {
        let fixture = try LaneFixture(delivery: .atLeastOnce)
        defer { fixture.loop.stop() }
        await fixture.source.change { $0.existing = ["requests", "errors", "others"] }
        #expect(await fixture.lane.missingTopics() == ["results", "dead-letters"])

        await fixture.source.change { $0.existing = nil }
        #expect(await fixture.lane.missingTopics().isEmpty, "no broker answers, which says nothing about topics")
        await fixture.lane.drain()
        try await fixture.lane.run()
    }

    // MARK: - The share of the rate

    @Test func `No request begins while the share is unknown`() async throws {
        try await LaneFixture.run(fleet: FakeFleet(), assigned: []) { fixture in
            // A lane that learns of its partitions before it reads records does not read while its share is unknown.
            try await eventually("the lane waits for records") { await fixture.source.isAskedForRecords }
            await fixture.source.setPartitionCount(nil)
            await fixture.source.assign([0])
            await fixture.source.append(["a", "b"].map(LaneFixture.request))
            try await eventually("the records are read") { await fixture.source.unreadCount == 0 }
            try await eventually("the lane has asked again") { await fixture.source.partitionCountQuestions > 1 }
            #expect(await fixture.provider.asked.isEmpty)

            await fixture.source.setPartitionCount(4)
            try await fixture.outcomesAreWritten(["a", "b"])
        }
    }

    /// Other members may need its share.
    @Test func `A member without requests asks again for the number of partitions`() async throws {
        let fleet = FakeFleet()
        try await LaneFixture.run(fleet: fleet, assigned: []) { fixture in
            await fixture.source.setPartitionCount(nil)
            await fixture.source.assign([0])
            try await eventually("no share is known") { fleet.last?.count == 0 }

            await fixture.source.setPartitionCount(4)
            try await eventually("the share is known") { fleet.last?.count == 4 }
        }
    }

    /// Its remaining calls count against its share, which becomes a smaller part of the limit.
    @Test func `A draining member uses the new number of partitions`() async throws {
        let fleet = FakeFleet()
        try await LaneFixture.run(fleet: fleet, assigned: [0, 1, 2, 3]) {
            $0.shutdownGrace = .seconds(30)
        } _: { fixture in
            await fixture.provider.hold()
            await fixture.source.append([LaneFixture.request("a")])
            try await eventually("a call is under way") { await fixture.provider.asked == ["a"] }

            await fixture.lane.drain()
            await fixture.source.setPartitionCount(8)
            try await eventually("the share is that of the new number") { fleet.last?.count == 8 }
        }
    }

    @Test func `Requests begin without a share if none is needed`() async throws {
        try await LaneFixture.run(fleet: FakeFleet(sharesByPartitions: false), assigned: []) { fixture in
            await fixture.source.setPartitionCount(nil)
            await fixture.source.assign([0])
            await fixture.source.append([LaneFixture.request("a")])
            try await fixture.outcomesAreWritten(["a"])
        }
    }
}
