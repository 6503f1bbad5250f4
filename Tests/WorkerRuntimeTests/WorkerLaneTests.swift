import EventContract
import EventLoop
import Kafka
import Synchronization
import TestSupport
import Testing
import WorkerRuntime

@testable import QuotaSharing

/// A whole lane at work, between a source and a sink that have no brokers behind them.
struct WorkerLaneTests {
    @Test func producerThatFailsHalfwayIsReplacedWithoutAskingAgain() async throws {
        try await LaneBench.run { bench in
            await bench.sink.holdReports()
            await bench.source.append(["a", "b", "c"].map(LaneBench.request))
            try await eventually("all are handed over") { await bench.sink.handedOver.count == 3 }
            await bench.sink.failForGood()

            try await bench.isCommitted(upTo: 3)
            #expect(await bench.nextSink.written.count == 3)
            #expect(await bench.provider.asked.count == 3)
        }
    }

    @Test func producerThatFailsForGoodEndsAnOrderedLane() async throws {
        await #expect(throws: KafkaError.self) {
            try await LaneBench.run({ $0.ordering = .partition }) { bench in
                await bench.sink.failForGood()
                await bench.source.append([LaneBench.request("a")])
                try await eventually("the lane leaves") { await bench.source.isClosed }
                #expect(await bench.source.committed.isEmpty)
            }
        }
    }

    // MARK: - The end, at each step

    /// Where a request stands when the lane is told to drain.
    enum Step: CaseIterable {
        case idle
        case searching
        case delivering
        case commitRefused
    }

    @Test(arguments: Step.allCases)
    func drainFinishesAndCommitsWhatIsUnderWay(step: Step) async throws {
        let bench = try LaneBench(delivery: .atLeastOnce)
        defer { bench.loop.stop() }
        let running = Task { try await bench.lane.run() }
        try await eventually("the lane joins") { await bench.source.isSubscribed }
        await bench.source.assign([0])

        switch step {
        case .idle: break
        case .searching:
            await bench.provider.hold()
            await bench.source.append([LaneBench.request("a")])
            try await eventually("it is asked for") { await bench.provider.asked.count == 1 }
        case .delivering:
            await bench.sink.holdReports()
            await bench.source.append([LaneBench.request("a")])
            try await eventually("it is handed over") { await bench.sink.handedOver.count == 1 }
        case .commitRefused:
            await bench.source.refuseCommits(with: KafkaError(.retriable, "the group is rebalancing"))
            await bench.source.append([LaneBench.request("a")])
            try await bench.outcomesAreWritten(["a"])
        }

        await bench.lane.drain()
        #expect(await bench.lane.status.isDraining)
        #expect(await !bench.source.isClosed || step == .idle)
        await bench.source.append([LaneBench.request("late")])
        await bench.provider.releaseAll()
        await bench.sink.confirmAll()
        await bench.source.refuseCommits(with: nil)

        try await running.value
        #expect(await bench.source.isClosed)
        #expect(await bench.source.unreadCount == 1, "nothing is taken any more")
        #expect(await bench.source.committed[TopicPartition("requests", 0)] == (step == .idle ? nil : 1))
    }

    @Test func drainGivesUpWhatOutlastsTheGrace() async throws {
        let bench = try LaneBench(delivery: .atLeastOnce) { $0.shutdownGrace = .milliseconds(50) }
        defer { bench.loop.stop() }
        let running = Task { try await bench.lane.run() }
        try await eventually("the lane joins") { await bench.source.isSubscribed }
        await bench.source.assign([0])
        await bench.provider.hold()
        await bench.source.append([LaneBench.request("a")])
        try await eventually("it is asked for") { await bench.provider.asked.count == 1 }

        await bench.lane.drain()
        try await running.value
        #expect(await bench.source.committed.isEmpty)
        #expect(await bench.sink.written.isEmpty)
        await bench.provider.releaseAll()
    }

    @Test func laneThatFailsToPrepareNeverJoins() async throws {
        let bench = try LaneBench(delivery: .exactlyOnce)
        defer { bench.loop.stop() }
        await bench.sink.failTransactionInit(with: KafkaError(.authentication, "TRANSACTIONAL_ID_AUTHORIZATION_FAILED"))

        #expect(await bench.lane.prepare() == false)
        await #expect(throws: KafkaError.self) { try await bench.lane.run() }
        #expect(await !bench.source.isSubscribed)
    }

    @Test func topicsThatTheBrokersDoNotKnowAreNamed() async throws {
        let bench = try LaneBench(delivery: .atLeastOnce)
        defer { bench.loop.stop() }
        await bench.source.forgetTopics(["results", "dead-letters"])
        #expect(await bench.lane.missingTopics() == ["results", "dead-letters"])

        await bench.source.setPartitionCount(nil)
        #expect(await bench.lane.missingTopics().isEmpty, "no broker answers, which says nothing about topics")
        await bench.lane.drain()
        try await bench.lane.run()
    }

    // MARK: - The share of the rate

    private final class Fleet: FleetMember {
        let sharesByPartitions: Bool
        /// The numbers of partitions that it was told of.
        let counts = Mutex<[Int]>([])
        var usesMessages: Bool { false }

        init(sharesByPartitions: Bool) { self.sharesByPartitions = sharesByPartitions }

        func assign(_ assigned: [Int32], of partitions: Int, wasTaken: Bool) async {
            counts.withLock { $0.append(partitions) }
        }
        func tick() async -> FleetTick { FleetTick() }
        func onWakeUp(_ wake: @escaping @Sendable () -> Void) async {}
        func topicOpened(_ extent: FleetTopicExtent) async {}
        var needsOlderRecords: Bool { false }
        func receive(_ records: [FleetRecord]) async {}
        func leave() async -> [FleetMessage] { [] }
    }

    @Test func nothingIsTakenWhileTheShareIsUnknown() async throws {
        let bench = try LaneBench(delivery: .atLeastOnce, fleet: Fleet(sharesByPartitions: true))
        defer { bench.loop.stop() }
        let running = Task { try await bench.lane.run() }
        try await eventually("the lane joins") { await bench.source.isSubscribed }
        await bench.source.setPartitionCount(nil)
        await bench.source.append(["a", "b"].map(LaneBench.request))
        await bench.source.assign([0])
        try await eventually("the records are read") { await bench.source.unreadCount == 0 }
        try await eventually("the lane has asked again") { await bench.source.partitionCountQuestions > 1 }
        #expect(await bench.provider.asked.isEmpty)

        await bench.source.setPartitionCount(4)
        try await bench.outcomesAreWritten(["a", "b"])
        await bench.lane.drain()
        try await running.value
    }

    /// With the protocol of KIP-848, a member whose partitions stay the same hears nothing of a topic that grows.
    @Test func memberGoesByTheNewNumberOfPartitionsWithoutARebalance() async throws {
        let fleet = Fleet(sharesByPartitions: true)
        let bench = try LaneBench(delivery: .atLeastOnce, fleet: fleet)
        defer { bench.loop.stop() }
        let running = Task { try await bench.lane.run() }
        try await eventually("the lane joins") { await bench.source.isSubscribed }
        await bench.source.assign([0, 1, 2, 3])
        try await eventually("the share is known") { fleet.counts.withLock { $0.last } == 4 }

        await bench.source.setPartitionCount(8)
        try await eventually("the share is that of the new number") { fleet.counts.withLock { $0.last } == 8 }
        await bench.lane.drain()
        try await running.value
    }

    @Test func requestsBeginWithoutTheShareWhereNoneIsNeeded() async throws {
        let bench = try LaneBench(delivery: .atLeastOnce, fleet: Fleet(sharesByPartitions: false))
        defer { bench.loop.stop() }
        let running = Task { try await bench.lane.run() }
        try await eventually("the lane joins") { await bench.source.isSubscribed }
        await bench.source.setPartitionCount(nil)
        await bench.source.assign([0])
        await bench.source.append([LaneBench.request("a")])
        try await bench.outcomesAreWritten(["a"])
        await bench.lane.drain()
        try await running.value
    }
}
