import EventLoop
import Kafka
import TestSupport
import Testing

@testable import WorkerRuntime

struct SupersededRequestTests {
    /// A request that waits for a dead letter may begin after a newer one of its session.
    @Test func `A request that begins after a newer one of its session makes no call`() async throws {
        let fixture = try LaneFixture(delivery: .atLeastOnce)
        defer { fixture.loop.stop() }
        let sessions = ["older", "newer"].map { WaitingRoomTests.request($0, .interactive, session: "s") }
        let outcomes = try await fixture.lane.beginNewestFirst(sessions)
        #expect(outcomes.count == 2 && outcomes[0] == nil)
        #expect(outcomes[1]?.contains(#""superseded""#) == true)
        try await eventually("the newer one is searched for") { await fixture.provider.asked == ["newer"] }
    }
}

extension WorkerLane {
    /// Begins the searches of requests, the newest first.
    /// - Returns: the outcomes of requests for which no search began, in the order in which they began.
    fileprivate func beginNewestFirst(_ texts: [String]) throws -> [String?] {
        let id = AssignedPartition(TopicPartition("requests", 0), epoch: 1)
        partitions.add([id])
        let partition = try #require(partitions[id.id])
        let arrival = RecordArrival(instant: loop.now, time: .now())
        let requests = texts.enumerated().compactMap { offset, text in
            let record = ConsumerRecord(partition: id, offset: Int64(offset), value: Array(text.utf8))
            return partitions.take(record, of: partition, at: arrival)
        }
        return requests.reversed().map { request in
            #expect(runner.read(request))
            #expect(runner.begin(request) { _ in } == (request.outcome.event == nil))
            return request.outcome.event?.value.map { String(decoding: $0, as: UTF8.self) }
        }
    }
}
