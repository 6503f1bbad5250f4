import Kafka
import ProviderCalls
import Synchronization
import TestSupport
import Testing

@testable import WorkerRuntime

/// Outcomes that wait for requests that have not begun, and outcomes without room.
@Suite(.serialized, .timeLimit(.minutes(1)))
struct WaitingOutcomesTests {
    /// The amount of metadata that the brokers keep.
    enum Metadata: CaseIterable {
        case full
        case tiny
        case dropped
        case off

        var doneSetBytes: Int {
            switch self {
            case .full, .dropped: 4096
            case .tiny: 24
            case .off: 0
            }
        }
    }

    private static let orderings: [WorkerConfiguration.Ordering] = [.unordered, .key, .partition]

    static let cases = [WorkerConfiguration.Delivery.atLeastOnce, .exactlyOnce].flatMap { delivery in
        orderings.flatMap { ordering in Metadata.allCases.map { (delivery, ordering, $0) } }
    }

    /// Runs a lane in which interactive requests precede all batch requests.
    private static func run(
        delivery: WorkerConfiguration.Delivery, lines: WaitingRoomTests.Lines = WaitingRoomTests.Lines(),
        _ change: (inout WorkerConfiguration) -> Void, _ body: (LaneFixture) async throws -> Void
    ) async throws {
        try await LaneFixture.run(
            delivery: delivery, calls: lines, assigned: [],
            {
                $0.concurrency = 2
                $0.flows.fairness.batchFloor = 0
                $0.topics.requestTopics = [RequestTopic("requests", classes: [.interactive, .batch])]
                change(&$0)
            }, body)
    }

    /// With exactly-once there is room for the outcomes of 2,000 requests. If the offset's metadata cannot list them, they wait for
    /// the ten batch requests before them. 24 bytes are enough for one gap, but not for ten.
    @Test(arguments: cases)
    func `Outcomes behind a request that has not begun are all published`(
        delivery: WorkerConfiguration.Delivery, ordering: WorkerConfiguration.Ordering, metadata: Metadata
    ) async throws {
        let gaps = 10
        let count = 2_030 + gaps
        try await Self.run(delivery: delivery) {
            $0.ordering = ordering
            $0.doneSetBytes = metadata.doneSetBytes
        } _: { fixture in
            if metadata == .dropped { await fixture.source.change { $0.dropsMetadata = true } }
            await fixture.source.assign([0])
            await fixture.provider.hold()
            await fixture.source.append((0..<2).map { WaitingRoomTests.request("first-\($0)", .interactive) })
            try await eventually("both places are taken") { await fixture.provider.asked.count == 2 }
            let requests = (0..<count).map { number in
                WaitingRoomTests.request("\(number)", number < 10 * gaps && number % 10 == 0 ? .batch : .interactive)
            }
            await fixture.source.append(requests)
            try await fixture.waits(count: count)

            await fixture.provider.releaseAll()
            try await eventually("all are committed", within: .seconds(30)) {
                await fixture.source.committed[TopicPartition("requests", 0)] == Int64(count + 2)
            }
            #expect(await fixture.written.count == count + 2)
            #expect(await fixture.provider.asked.count == count + 2)
        }
    }

    /// The interactive request waits for the first dead letter, which waits for the commit of the batch
    /// request, which waits for a permit.
    @Test func `An invalid record keeps no permit while it waits for its order`() async throws {
        try await Self.run(delivery: .exactlyOnce) {
            $0.concurrency = 1
            $0.ordering = .partition
            $0.doneSetBytes = 0
        } _: { fixture in
            await fixture.source.assign([0])
            await fixture.provider.hold()
            await fixture.source.append([WaitingRoomTests.request("first", .interactive)])
            try await eventually("the place is taken") { await fixture.provider.asked.count == 1 }
            await fixture.source.append([
                WaitingRoomTests.request("batch", .batch), "no request", WaitingRoomTests.request("last", .interactive),
                "no request",
            ])
            try await fixture.waits(count: 4)

            await fixture.provider.releaseAll()
            try await fixture.isCommitted(upTo: 5)
        }
    }

    /// There is room for twelve open requests, and more than that wait behind the first dead letter of partition 0.
    @Test(arguments: orderings)
    func `A dead letter that cannot be written leaves other partitions their room`(
        ordering: WorkerConfiguration.Ordering
    ) async throws {
        try await Self.run(delivery: .atLeastOnce) {
            $0.ordering = ordering
            $0.unconfirmedOutcomes = 10
        } _: { fixture in
            await fixture.sink.change { $0.silentTopics = ["dead-letters"] }
            await fixture.source.assign([0, 1])
            let behind = (0..<40).map { WaitingRoomTests.request("behind-\($0)", .interactive) }
            await fixture.source.append(["no request"] + behind + (0..<8).map { "no request \($0)" })
            try await fixture.allWaitForDeadLetters()

            await fixture.source.append((0..<40).map { WaitingRoomTests.request("other-\($0)", .interactive) }, to: 1)
            try await fixture.isCommitted(upTo: 40, partition: 1)
            #expect(await !fixture.provider.asked.contains { $0.hasPrefix("behind") })

            await fixture.sink.change { $0.silentTopics = [] }
            await fixture.sink.confirmAll()
            try await fixture.isCommitted(upTo: 49)
            #expect(await fixture.provider.asked.filter { $0.hasPrefix("behind") } == (0..<40).map { "behind-\($0)" })
            #expect(await fixture.count(of: "dead-letters") == 9)
            #expect(await fixture.written.count == 9 + 9 + 40 + 40)
        }
    }

    /// Each dead letter is written while requests before it, which waited for the one before, have not begun yet.
    @Test(arguments: orderings)
    func `Requests behind several dead letters begin in their order`(ordering: WorkerConfiguration.Ordering)
        async throws
    {
        try await Self.run(delivery: .atLeastOnce) {
            $0.ordering = ordering
        } _: { fixture in
            await fixture.sink.change { $0.silentTopics = ["dead-letters"] }
            await fixture.source.assign([0])
            await fixture.provider.hold()
            await fixture.source.append(
                (0..<40).map { $0 % 10 == 0 ? "no request" : WaitingRoomTests.request("\($0)", .batch) })
            try await fixture.allWaitForDeadLetters()

            await fixture.sink.change { $0.silentTopics = [] }
            await fixture.sink.confirmAll()
            await fixture.provider.releaseAll()
            try await fixture.isCommitted(upTo: 40)
            #expect(await fixture.provider.asked == (0..<40).filter { $0 % 10 != 0 }.map { "\($0)" })
        }
    }

    /// The second invalid record has begun, and waits in the order for the request before it, which is left to the next
    /// owner. The batch request, whose call is under way, is finished.
    @Test func `No invalid record is published before a request that is left to the next owner`() async throws {
        try await Self.run(delivery: .atLeastOnce) {
            $0.ordering = .partition
            $0.flows.fairness.batchFloor = 1
        } _: { fixture in
            await fixture.sink.change { $0.silentTopics = ["errors"] }
            await fixture.source.assign([0])
            await fixture.provider.hold()
            await fixture.source.append([
                "no request", WaitingRoomTests.request("first", .interactive), "no request",
                WaitingRoomTests.request("batch", .batch),
            ])
            try await fixture.allWaitForDeadLetters()
            try await eventually("the batch request is asked") { await fixture.provider.asked == ["batch"] }
            try await eventually("the first error event is sent") { await fixture.count(ofSent: "errors") == 1 }

            await fixture.provider.releaseAll()
            await fixture.source.revoke([0])
            #expect(await fixture.provider.asked == ["batch"])
            #expect(await fixture.count(ofSent: "dead-letters") == 1)
        }
    }

    @Test func `Requests behind a dead letter are left to the next owner`() async throws {
        try await Self.run(delivery: .atLeastOnce) { _ in
        } _: { fixture in
            await fixture.sink.change { $0.silentTopics = ["dead-letters"] }
            await fixture.source.assign([0])
            await fixture.source.append(
                ["no request"] + (0..<40).map { WaitingRoomTests.request("behind-\($0)", .interactive) })
            try await fixture.allWaitForDeadLetters()

            await fixture.sink.change { $0.silentTopics = [] }
            await fixture.source.revoke([0])
            #expect(await fixture.provider.asked.isEmpty)
        }
    }

    /// The outcomes of partition 1 occupy all room, and wait for its batch request. The outcome of partition 0 is
    /// refused, so no request begins. Once its topic accepts it, the room is still full, but the batch request begins.
    @Test func `The oldest request begins without room after a topic has refused records`() async throws {
        let mayWrite = Mutex(false)
        let lines = WaitingRoomTests.Lines()
        lines.fillForBatch()
        try await Self.run(delivery: .exactlyOnce, lines: lines) {
            $0.doneSetBytes = 0
            $0.unconfirmedOutcomes = 1
        } _: { fixture in
            await fixture.refuse { _, _ in
                mayWrite.withLock { $0 } ? nil : KafkaError(.authentication, code: 29, "TOPIC_AUTHORIZATION_FAILED")
            }
            await fixture.source.assign([0, 1])
            let waiting = (0..<3).map { WaitingRoomTests.request("waiting-\($0)", .interactive) }
            await fixture.source.append([WaitingRoomTests.request("oldest", .batch)] + waiting, to: 1)
            try await eventually("outcomes occupy all room") { await fixture.lane.status.unconfirmed == 3 }
            await fixture.source.append([WaitingRoomTests.request("refused", .interactive)], to: 0)
            try await eventually("the topic refuses an outcome") {
                await fixture.lane.status.delivery.problem?.contains("rejects records") == true
            }
            #expect(await fixture.provider.asked.count == 4, "the one without room, too")

            await lines.empty(on: fixture.lane)
            mayWrite.withLock { $0 = true }
            try await fixture.isCommitted(upTo: 1, partition: 0)
            try await fixture.isCommitted(upTo: 4, partition: 1)
        }
    }

    @Test func `Requests that need no call wait for room for their outcomes`() async throws {
        try await Self.run(delivery: .atLeastOnce) {
            $0.unconfirmedOutcomes = 4
        } _: { fixture in
            await fixture.sink.holdReports()
            await fixture.source.assign([0])
            let request = WaitingRoomTests.request("none", .interactive)
            await fixture.source.append(
                Array(repeating: request.replacing("hotpepper", with: "google-places"), count: 50))
            try await fixture.waits(count: 44)
            #expect(await fixture.sink.handedOver.count == 6, "two places, and four outcomes")

            await fixture.sink.confirmAll()
            try await fixture.isCommitted(upTo: 50)
        }
    }
}

extension LaneFixture {
    fileprivate func count(ofSent topic: String) async -> Int { await sink.handedOver.count { $0.topic == topic } }

    /// Returns once a dead letter is on its way, and all other requests that were read wait for it.
    fileprivate func allWaitForDeadLetters() async throws {
        try await eventually("a dead letter is sent, and all wait for it") {
            guard await sink.handedOver.contains(where: { $0.topic == "dead-letters" }) else { return false }
            let status = await lane.status
            return status.heldBack == status.waiting.reduce(0) { $0 + $1.count }
        }
    }
}
