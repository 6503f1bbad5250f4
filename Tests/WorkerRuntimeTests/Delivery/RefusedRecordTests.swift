import EventContract
import EventLoop
import Kafka
import TestSupport
import Testing

@testable import WorkerRuntime

/// What a lane does with records that the brokers refuse, in both ways to deliver.
struct RefusedRecordTests {
    private static let tooLarge = KafkaError(.recordTooLarge, "MSG_SIZE_TOO_LARGE")
    private static let notAuthorized = KafkaError(.authentication, code: 29, "TOPIC_AUTHORIZATION_FAILED")

    private static func codes(_ records: [ProducerRecord]) -> [String: String] {
        var codes: [String: String] = [:]
        for record in records {
            let event = try? OutcomeReader().read(
                value: record.value, headers: record.headers.map { EventHeader($0.name, $0.value) })
            guard let event else { continue }
            if case .failed(let failure) = event.body {
                codes[event.requestID] = failure.code
            } else {
                codes[event.requestID] = "ok"
            }
        }
        return codes
    }

    @Test(arguments: WorkerConfiguration.Delivery.allCases)
    func batchRefusedAsTooLargeLosesOnlyTheRecordThatIsTooLargeAlone(
        delivery: WorkerConfiguration.Delivery
    ) async throws {
        try await LaneBench.run(delivery: delivery) { bench in
            await bench.sink.refuse { record, company in
                let isLarge = record.topic == "results" && record.text.contains("large")
                return company > 1 || isLarge ? Self.tooLarge : nil
            }
            await bench.sink.holdReports()
            await bench.source.append(["a", "large", "b", "c"].map(LaneBench.request))
            if delivery == .atLeastOnce {
                try await eventually("all are handed over") { await bench.sink.handedOver.count == 4 }
            }
            await bench.sink.confirmAll()

            try await bench.outcomesAreWritten(["a", "large", "b", "c"])
            let codes = Self.codes(await bench.sink.written)
            #expect(codes == ["a": "ok", "large": "bad-response", "b": "ok", "c": "ok"])
            #expect(await bench.provider.asked.count == 4)
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

    @Test func drainDuringTheTransactionalStartEndsTheLane() async throws {
        let bench = try LaneBench(delivery: .exactlyOnce)
        defer { bench.loop.stop() }
        await bench.sink.holdTransactionInit()
        let running = Task { try await bench.lane.run() }
        await bench.lane.drain()
        try await running.value
        #expect(await !bench.source.isSubscribed)
    }

    @Test func transactionCommitsOffsetsOfTheUnbrokenRunOnly() async throws {
        try await LaneBench.run(delivery: .exactlyOnce) { bench in
            await bench.source.append(["a", "b"].map(LaneBench.request))
            try await bench.outcomesAreWritten(["a", "b"])
            try await eventually("the offsets are part of it") {
                await bench.sink.transactionOffsets == [TopicPartition("requests", 0): 2]
            }
            try await bench.isCommitted(upTo: 2)
        }
    }
}
