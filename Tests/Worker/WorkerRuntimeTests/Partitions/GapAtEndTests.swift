import Kafka
import TestSupport
import Testing

@testable import WorkerRuntime

/// The offsets at the end of a partition that hold no request: transaction markers and aborted records.
@Suite(.timeLimit(.minutes(1)))
struct GapAtEndTests {
    @Test(arguments: [WorkerConfiguration.Delivery.atLeastOnce, .exactlyOnce])
    func `The group's offset passes a gap at the end`(delivery: WorkerConfiguration.Delivery) async throws {
        try await LaneFixture.run(delivery: delivery) { fixture in
            try await fixture.commitsFirstRequest()
            await fixture.reachEnd(behind: 1..<3)
            try await fixture.isCommitted(upTo: 3)
            let positions = await fixture.lane.status.positions
            #expect(positions.map(\.lag) == [0])
            #expect(positions.map(\.waiting) == [0])

            await fixture.source.append([LaneFixture.request("next")])
            try await fixture.isCommitted(upTo: 4)
        }
    }

    @Test(arguments: [WorkerConfiguration.Delivery.atLeastOnce, .exactlyOnce])
    func `The offset passes a gap once the requests before it are done`(
        delivery: WorkerConfiguration.Delivery
    ) async throws {
        try await LaneFixture.run(delivery: delivery) { fixture in
            try await fixture.commitsFirstRequest()
            await fixture.provider.hold()
            await fixture.source.append(["a", "b"].map(LaneFixture.request))
            try await eventually("both are asked for") { await fixture.provider.asked.count == 3 }
            await fixture.reachEnd(behind: 3..<5)

            await fixture.provider.release(1)
            try await fixture.isCommitted(upTo: 2)
            await fixture.provider.releaseAll()
            try await fixture.isCommitted(upTo: 5)
        }
    }

    /// The group has committed nothing yet, and the partition begins with an aborted transaction.
    @Test(arguments: [WorkerConfiguration.Delivery.atLeastOnce, .exactlyOnce])
    func `The offset passes a gap before the first request`(delivery: WorkerConfiguration.Delivery) async throws {
        try await LaneFixture.run(delivery: delivery) { fixture in
            await fixture.reachEnd(behind: 0..<7)
            try await fixture.isCommitted(upTo: 7)
        }
    }

    @Test func `A gap of a former assignment changes nothing`() async throws {
        try await LaneFixture.run { fixture in
            try await fixture.commitsFirstRequest()
            let former = AssignedPartition(TopicPartition("requests", 0), epoch: 99)
            await fixture.lane.passed(1..<9, of: former)
            await fixture.source.append([LaneFixture.request("next")])
            try await fixture.isCommitted(upTo: 2)
        }
    }
}

extension LaneFixture {
    /// Reports that reading has reached the end of the partition, behind offsets that hold no record.
    fileprivate func reachEnd(behind gap: Range<Int64>) async {
        await source.skip(to: gap.upperBound)
        await lane.passed(gap, of: AssignedPartition(TopicPartition("requests", 0), epoch: 1))
    }
}
