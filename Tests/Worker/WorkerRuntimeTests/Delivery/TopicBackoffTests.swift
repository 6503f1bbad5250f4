import TestSupport
import Testing

@testable import Kafka
@testable import WorkerRuntime

/// What a lane does while a topic rejects records, in both ways to deliver.
struct TopicBackoffTests {
    private static let notAuthorized = KafkaError(.authentication, code: 29, "TOPIC_AUTHORIZATION_FAILED")

    static let causes: [(TopicDiagnosis, problem: String, blocked: [String])] = [
        (.noBrokerAnswers, "topic results does not confirm records: no broker answers", []),
        (
            .withoutLeader([3]), "topic results does not confirm records: no broker is the leader of partition 3",
            ["results"]
        ),
        (.refused(notAuthorized), "topic results rejects records: \(notAuthorized)", ["results"]),
    ]

    /// A timeout does not show the state of the topic, so the brokers are queried.
    @Test(arguments: causes)
    func `A topic is blamed only if a broker does`(
        cause: (TopicDiagnosis, problem: String, blocked: [String])
    ) async throws {
        try await LaneFixture.run { fixture in
            let (diagnosis, problem, blocked) = cause
            await fixture.source.change { $0.diagnosis = diagnosis }
            await fixture.sink.refuse { _, _ in KafkaError(.timedOut, "delivery: timed out") }
            await fixture.source.append([LaneFixture.request("a")])
            try await eventually("the lane says what is wrong: \(problem)") {
                await fixture.lane.status.delivery.problem == problem
            }
            #expect(await fixture.lane.status.delivery.blockedTopics == blocked)

            await fixture.sink.refuse { _, _ in nil }
            try await fixture.outcomesAreWritten(["a"])
            try await eventually("nothing is wrong any more") { await fixture.lane.status.delivery.problem == nil }
        }
    }

    /// A dead letter that cannot be written keeps its record open. Neither it nor the records behind it are published, because a
    /// restart would publish them again.
    @Test(arguments: WorkerConfiguration.Delivery.allCases)
    func `A rejected dead letter blocks only its partition`(delivery: WorkerConfiguration.Delivery) async throws {
        try await LaneFixture.run(delivery: delivery, assigned: [0, 1]) { fixture in
            await fixture.refuse { record, _ in record.topic == "dead-letters" ? Self.notAuthorized : nil }
            await fixture.source.append(["no request", LaneFixture.request("behind")], to: 0)
            await fixture.source.append([LaneFixture.request("elsewhere")], to: 1)

            try await fixture.outcomesAreWritten(["elsewhere"])
            try await eventually("the lane says what is wrong") {
                await fixture.lane.status.delivery.problem?.contains("dead-letters") == true
            }
            await fixture.source.append([LaneFixture.request("later")], to: 1)
            try await fixture.outcomesAreWritten(["elsewhere", "later"])
            #expect(await fixture.provider.asked.sorted() == ["elsewhere", "later"])
            #expect(await fixture.source.held == [TopicPartition("requests", 0)])
            #expect(await fixture.count(of: "errors") == 0)

            await fixture.refuse { _, _ in nil }
            try await fixture.outcomesAreWritten(["behind"])
            try await eventually("nothing is wrong any more") { await fixture.lane.status.delivery.problem == nil }
            try await eventually("the partition is read again") { await fixture.source.held.isEmpty }
            #expect(await fixture.count(of: "dead-letters") == 1)
            #expect(await fixture.count(of: "errors") == 1)
        }
    }

    /// One writer tries at a time, and each of them may be the next.
    @Test(arguments: WorkerConfiguration.Delivery.allCases)
    func `All waiting outcomes are written in the end`(delivery: WorkerConfiguration.Delivery) async throws {
        try await LaneFixture.run(delivery: delivery) { fixture in
            await fixture.refuse { record, _ in record.topic == "results" ? Self.notAuthorized : nil }
            await fixture.provider.hold()
            let ids = (0..<5).map { "request-\($0)" }
            await fixture.source.append(ids.map(LaneFixture.request))
            try await eventually("all are asked for") { await fixture.provider.asked.count == ids.count }
            await fixture.provider.release(2)
            try await eventually("the first are refused") { await fixture.handedOver >= 2 }

            // The others find the topic blocked when they finish.
            await fixture.provider.releaseAll()
            let triesSoFar = await fixture.handedOver
            try await eventually("the topic is tried again and again") {
                await fixture.handedOver > triesSoFar + 4
            }
            await fixture.refuse { _, _ in nil }
            try await fixture.outcomesAreWritten(ids)
            #expect(await fixture.written.count == ids.count)
        }
    }

    @Test(arguments: WorkerConfiguration.Delivery.allCases)
    func `A drain ends while outcomes are rejected`(delivery: WorkerConfiguration.Delivery) async throws {
        try await LaneFixture.run(delivery: delivery, { $0.shutdownGrace = .milliseconds(100) }) { fixture in
            await fixture.sink.refuse { _, _ in Self.notAuthorized }
            await fixture.source.append([LaneFixture.request("a")])
            try await eventually("it is refused") { await fixture.sink.handedOver.count > 1 }

            await fixture.lane.drain()
            try await eventually("the lane leaves") { await fixture.source.isClosed }
            #expect(await fixture.source.committed.values.allSatisfy { $0 == 0 })
        }
    }
}
