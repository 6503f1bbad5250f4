import EventContract
import EventLoop
import Synchronization
import TestSupport
import Testing

@testable import Kafka
@testable import WorkerRuntime

/// What a lane does while a topic takes no records, in both ways to deliver.
struct TopicBackoffTests {
    private static let notAuthorized = KafkaError(.authentication, code: 29, "TOPIC_AUTHORIZATION_FAILED")

    static let causes: [(TopicDiagnosis, problem: String, blocked: [String])] = [
        (.noBrokerAnswers, "topic results confirms no records: no broker answers", []),
        (.withoutLeader([3]), "topic results confirms no records: no broker leads partition 3", ["results"]),
        (.refused(notAuthorized), "topic results takes no records: \(notAuthorized)", ["results"]),
    ]

    /// A time-out says nothing of the topic, so the brokers are asked.
    @Test(arguments: causes)
    func topicIsBlamedOnlyWhereABrokerDoes(
        cause: (TopicDiagnosis, problem: String, blocked: [String])
    ) async throws {
        try await LaneBench.run { bench in
            let (diagnosis, problem, blocked) = cause
            await bench.source.setDiagnosis(diagnosis)
            await bench.sink.refuse { _, _ in KafkaError(.timedOut, "delivery: timed out") }
            await bench.source.append([LaneBench.request("a")])
            try await eventually("the lane says what is wrong: \(problem)") {
                await bench.lane.status.deliveryProblem == problem
            }
            #expect(await bench.lane.status.blockedTopics == blocked)

            await bench.sink.refuse { _, _ in nil }
            try await bench.outcomesAreWritten(["a"])
            try await eventually("nothing is wrong any more") { await bench.lane.status.deliveryProblem == nil }
        }
    }

    /// A dead letter that cannot be written keeps its record undelivered. Nothing is published for it, or for what is
    /// behind it, because a restart would publish that again.
    @Test(arguments: WorkerConfiguration.Delivery.allCases)
    func refusedDeadLetterHoldsItsPartitionOnly(delivery: WorkerConfiguration.Delivery) async throws {
        try await LaneBench.run(delivery: delivery, assigned: [0, 1]) { bench in
            await bench.sink.refuse { record, _ in record.topic == "dead-letters" ? Self.notAuthorized : nil }
            await bench.source.append(["no request", LaneBench.request("behind")], to: 0)
            await bench.source.append([LaneBench.request("elsewhere")], to: 1)

            try await bench.outcomesAreWritten(["elsewhere"])
            try await eventually("the lane says what is wrong") {
                await bench.lane.status.deliveryProblem?.contains("dead-letters") == true
            }
            await bench.source.append([LaneBench.request("later")], to: 1)
            try await bench.outcomesAreWritten(["elsewhere", "later"])
            #expect(await bench.provider.asked.sorted() == ["elsewhere", "later"])
            #expect(await bench.source.held == [TopicPartition("requests", 0)])
            #expect(await bench.sink.count(of: "errors") == 0)

            await bench.sink.refuse { _, _ in nil }
            try await bench.outcomesAreWritten(["behind"])
            try await eventually("nothing is wrong any more") { await bench.lane.status.deliveryProblem == nil }
            try await eventually("the partition is read again") { await bench.source.held.isEmpty }
            #expect(await bench.sink.count(of: "dead-letters") == 1)
            #expect(await bench.sink.count(of: "errors") == 1)
        }
    }

    @Test(arguments: WorkerConfiguration.Delivery.allCases)
    func refusedOutcomesEndTakingAndPaying(delivery: WorkerConfiguration.Delivery) async throws {
        try await LaneBench.run(delivery: delivery) { bench in
            await bench.sink.refuse { record, _ in record.topic == "results" ? Self.notAuthorized : nil }
            await bench.source.append([LaneBench.request("a")])
            try await eventually("the lane says what is wrong") {
                await bench.lane.status.deliveryProblem?.contains("results") == true
            }
            await bench.source.append((0..<200).map { LaneBench.request("later-\($0)") })
            #expect(await bench.provider.asked == ["a"])

            await bench.sink.refuse { _, _ in nil }
            try await bench.outcomesAreWritten(["a", "later-199"])
            #expect(await bench.provider.asked.count == 201, "nothing is asked for twice")
        }
    }

    /// One writer tries at a time, and each of them may be the next.
    @Test(arguments: WorkerConfiguration.Delivery.allCases)
    func allOutcomesThatWaitForATopicAreWrittenOnceItTakesThem(
        delivery: WorkerConfiguration.Delivery
    ) async throws {
        try await LaneBench.run(delivery: delivery) { bench in
            await bench.sink.refuse { record, _ in record.topic == "results" ? Self.notAuthorized : nil }
            await bench.provider.hold()
            let ids = (0..<5).map { "request-\($0)" }
            await bench.source.append(ids.map(LaneBench.request))
            try await eventually("all are asked for") { await bench.provider.asked.count == ids.count }
            await bench.provider.release(2)
            try await eventually("the first are refused") { await bench.sink.handedOver.count >= 2 }

            // The others find the topic refusing when they are done.
            await bench.provider.releaseAll()
            let triesSoFar = await bench.sink.handedOver.count
            try await eventually("the topic is tried again and again") {
                await bench.sink.handedOver.count > triesSoFar + 4
            }
            await bench.sink.refuse { _, _ in nil }
            try await bench.outcomesAreWritten(ids)
            #expect(await bench.sink.written.count == ids.count)
        }
    }

    @Test(arguments: WorkerConfiguration.Delivery.allCases)
    func drainEndsWhileOutcomesAreRefused(delivery: WorkerConfiguration.Delivery) async throws {
        let bench = try LaneBench(delivery: delivery) { $0.shutdownGrace = .milliseconds(100) }
        defer { bench.loop.stop() }
        let running = Task { try await bench.lane.run() }
        try await eventually("the lane joins") { await bench.source.isSubscribed }
        await bench.source.assign([0])
        await bench.sink.refuse { _, _ in Self.notAuthorized }
        await bench.source.append([LaneBench.request("a")])
        try await eventually("it is refused") { await bench.sink.handedOver.count > 1 }

        await bench.lane.drain()
        try await running.value
        #expect(await bench.source.committed.isEmpty)
    }
}
