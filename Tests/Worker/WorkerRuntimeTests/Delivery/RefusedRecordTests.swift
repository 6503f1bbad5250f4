import EventContract
import EventLoop
import Synchronization
import TestSupport
import Testing

@testable import Kafka
@testable import WorkerRuntime

/// A lane's handling of rejected records, in both deliveries.
struct RefusedRecordTests {
    private static let tooLarge = KafkaError(.recordTooLarge, "MSG_SIZE_TOO_LARGE")
    private static let notAuthorized = KafkaError(.authentication, code: 29, "TOPIC_AUTHORIZATION_FAILED")

    /// Returns whether the topic is to reject this record for its size.
    private static func isLarge(_ record: ProducerRecord) -> Bool {
        record.topic == "results" && record.text.contains("large")
    }

    private static func event(_ record: ProducerRecord) -> OutcomeEvent? {
        try? OutcomeReader().read(
            value: record.value, headers: record.headers)
    }

    private static func codes(_ records: [ProducerRecord]) -> [String: String] {
        var codes: [String: String] = [:]
        for record in records {
            guard let event = event(record) else { continue }
            if case .failed(let failure) = event.body {
                codes[event.requestID] = failure.code
            } else {
                codes[event.requestID] = "ok"
            }
        }
        return codes
    }

    @Test(arguments: WorkerConfiguration.Delivery.allCases)
    func `Only the record that is too large alone is truncated`(delivery: WorkerConfiguration.Delivery) async throws {
        try await LaneFixture.run(delivery: delivery) { fixture in
            await fixture.refuse { record, company in company > 1 || Self.isLarge(record) ? Self.tooLarge : nil }
            await fixture.sink.holdReports()
            await fixture.source.append(["a", "large", "b", "c"].map(LaneFixture.request))
            if delivery == .atLeastOnce {
                try await eventually("all are handed over") { await fixture.sink.handedOver.count == 4 }
            }
            await fixture.sink.confirmAll()

            try await fixture.outcomesAreWritten(["a", "large", "b", "c"])
            let codes = Self.codes(await fixture.written)
            #expect(codes == ["a": "ok", "large": "bad-response", "b": "ok", "c": "ok"])
            #expect(await fixture.provider.asked.count == 4)
            #expect(fixture.metrics.value("locsearch_requests_failed_total", ["code": "bad-response"]) == 1)
        }
    }

    /// It is invalid only in a topic whose requests choose their class.
    @Test(arguments: WorkerConfiguration.Delivery.allCases)
    func `A truncated dead letter keeps its error`(delivery: WorkerConfiguration.Delivery) async throws {
        try await LaneFixture.run(delivery: delivery, calls: WaitingRoomTests.Lines()) {
            $0.topics.requestTopics = [RequestTopic("requests", classes: [.interactive, .batch])]
        } _: { fixture in
            await fixture.refuse { record, _ in
                record.topic == "dead-letters" && record.value?.isEmpty == false ? Self.tooLarge : nil
            }
            let request = LaneFixture.request("a").replacing("{", with: #"{"priority":"urgent","#, maxReplacements: 1)
            await fixture.source.append([request])
            try await eventually("the letter is written") { await fixture.count(of: "dead-letters") == 1 }
            try await eventually("the event is written") { await fixture.count(of: "errors") == 1 }
            #expect(Self.codes(await fixture.written) == ["a": "invalid-request"])
        }
    }

    /// Readers of a session compare these times with those of the session's other searches.
    @Test(arguments: WorkerConfiguration.Delivery.allCases)
    func `A truncated outcome keeps its times and calls`(delivery: WorkerConfiguration.Delivery) async throws {
        try await LaneFixture.run(delivery: delivery) { fixture in
            await fixture.refuse { record, _ in Self.isLarge(record) ? Self.tooLarge : nil }
            await fixture.sink.holdReports()
            await fixture.source.append([LaneFixture.request("large").replacing(#""hotpepper""#, with: #""auto""#)])
            try await eventually("it is handed over") { await fixture.sink.handedOver.contains(where: Self.isLarge) }
            let first = await fixture.sink.handedOver.first(where: Self.isLarge)
            let whole = try #require(first.flatMap(Self.event))

            // The brokers' rejection comes in another millisecond than the answer.
            let completedAt = try #require(whole.completedAt)
            try await eventually("time has passed") { WallTime.now() > completedAt }
            await fixture.sink.confirmAll()
            try await fixture.outcomesAreWritten(["large"])

            let last = await fixture.written.last { $0.topic == "errors" }
            let brief = try #require(last.flatMap(Self.event))
            #expect(brief.receivedAt == whole.receivedAt)
            #expect(brief.completedAt == whole.completedAt)
            #expect(brief.provider == "hotpepper")
            #expect(brief.upstream == whole.upstream)
            #expect(brief.upstream == .milliseconds(7))
            #expect(brief.attempts == whole.attempts)
        }
    }

    /// No outcome becomes ready after the one that is sent alone, so no other event triggers its delivery.
    @Test func `An outcome that is sent alone follows the ones before it`() async throws {
        try await LaneFixture.run(delivery: .exactlyOnce) { fixture in
            await fixture.refuse { record, _ in Self.isLarge(record) ? Self.tooLarge : nil }
            await fixture.sink.holdReports()
            await fixture.source.append(["a", "large"].map(LaneFixture.request))
            try await eventually("both are in one transaction") {
                await fixture.sink.handedOver.contains(where: Self.isLarge)
            }
            await fixture.sink.confirmAll()

            try await fixture.outcomesAreWritten(["a", "large"])
            #expect(Self.codes(await fixture.written) == ["a": "ok", "large": "bad-response"])
        }
    }

    /// An unconfirmed dead letter blocks its own partition, and no outcome of another one.
    ///
    /// That holds for the outcomes of a rejected batch, for the one that is too large, and for the following ones.
    @Test func `An outcome that is too large waits for no unconfirmed dead letter`() async throws {
        // The dead letter delays the lane's end up to the limit.
        try await LaneFixture.run(assigned: [0, 1]) {
            $0.shutdownGrace = .milliseconds(100)
        } _: { fixture in
            await fixture.sink.change { $0.silentTopics = ["dead-letters"] }
            await fixture.source.append(["no request"], to: 1)
            try await eventually("the dead letter is on its way") {
                await fixture.sink.handedOver.map(\.topic) == ["dead-letters"]
            }

            // Every batch of several records is rejected, and the dead letter is part of all batches.
            await fixture.refuse { record, company in company > 1 || Self.isLarge(record) ? Self.tooLarge : nil }
            await fixture.source.append(["large", "small"].map(LaneFixture.request))
            try await fixture.outcomesAreWritten(["large", "small"])
            try await fixture.isCommitted(upTo: 2)
            #expect(Self.codes(await fixture.written) == ["large": "bad-response", "small": "ok"])

            await fixture.refuse { _, _ in nil }
            await fixture.source.append(["after"].map(LaneFixture.request))
            try await fixture.outcomesAreWritten(["after"])
        }
    }

    /// With ordering, an outcome follows the earlier one of its key to the same producer.
    @Test func `Outcomes of a key follow the one that is sent again alone`() async throws {
        try await LaneFixture.run {
            $0.ordering = .key
        } _: { fixture in
            await fixture.sink.refuse { record, _ in record.text.contains("first") ? Self.tooLarge : nil }
            await fixture.singleSink.holdReports()
            await fixture.source.append(["first"].map(LaneFixture.request))
            try await eventually("the first is sent again") { await fixture.singleSink.handedOver.count == 1 }

            await fixture.source.append(["second"].map(LaneFixture.request))
            try await eventually("the second follows it") { await fixture.singleSink.handedOver.count == 2 }
            await fixture.singleSink.confirmAll()
            try await fixture.outcomesAreWritten(["first", "second"])
            #expect(await fixture.singleSink.written.map { $0.text.contains("first") } == [true, false])

            // There is no earlier one to follow.
            await fixture.source.append(["third"].map(LaneFixture.request))
            try await eventually("the third leaves with others again") { await fixture.sink.count(of: "results") == 1 }
        }
    }

    /// A permanently failed producer may still report that it had written the record. So the topic accepts records.
    @Test func `A retry that turns out to be written releases the others`() async throws {
        try await LaneFixture.run { fixture in
            let isOver = Mutex(false)
            let persisted = Mutex<String?>(nil)
            await fixture.sink.refuse { record, _ in
                guard isOver.withLock({ $0 }) else { return Self.notAuthorized }
                let isFirst = persisted.withLock { id in
                    defer { id = id ?? record.text }
                    return id == nil
                }
                return isFirst ? KafkaError(.fatal, "producer: made to fail").with(.persisted) : nil
            }
            await fixture.provider.hold()
            let ids = (0..<5).map { "request-\($0)" }
            await fixture.source.append(ids.map(LaneFixture.request))
            try await eventually("all are asked for") { await fixture.provider.asked.count == ids.count }
            await fixture.provider.releaseAll()
            try await eventually("all are refused") { await fixture.sink.handedOver.count >= ids.count }

            isOver.withLock { $0 = true }
            try await eventually("the others are written") { await fixture.sink.written.count == ids.count - 1 }
            try await fixture.isCommitted(upTo: Int64(ids.count))
        }
    }

    /// A topic that also rejects truncated records would end one worker after another.
    @Test(arguments: WorkerConfiguration.Delivery.allCases)
    func `A rejected truncated record waits for its topic`(delivery: WorkerConfiguration.Delivery) async throws {
        try await LaneFixture.run(delivery: delivery) { fixture in
            for sink in [fixture.sink, fixture.singleSink] { await sink.refuse { _, _ in Self.tooLarge } }
            await fixture.source.append([LaneFixture.request("a")])
            try await eventually("the lane says what is wrong") {
                await fixture.lane.status.delivery.problem?.contains("rejects records") == true
            }
            #expect(await fixture.lane.status.delivery.blockedTopics == ["errors"])

            for sink in [fixture.sink, fixture.singleSink] { await sink.refuse { _, _ in nil } }
            try await fixture.outcomesAreWritten(["a"])
            #expect(await fixture.provider.asked == ["a"])
        }
    }

    /// The only outcome that waits for a topic turns out to be too large, and its error goes to another topic.
    @Test(arguments: WorkerConfiguration.Delivery.allCases)
    func `A topic without waiting records delays nothing`(delivery: WorkerConfiguration.Delivery) async throws {
        try await LaneFixture.run(delivery: delivery) { fixture in
            let mayWrite = Mutex(false)
            for sink in [fixture.sink, fixture.singleSink] {
                await sink.refuse { record, _ in
                    guard mayWrite.withLock({ $0 }) else { return Self.notAuthorized }
                    return Self.isLarge(record) ? Self.tooLarge : nil
                }
            }
            await fixture.source.append([LaneFixture.request("large")])
            try await eventually("the lane says what is wrong") {
                await fixture.lane.status.delivery.problem?.contains("rejects records") == true
            }

            mayWrite.withLock { $0 = true }
            try await fixture.outcomesAreWritten(["large"])
            await fixture.source.append([LaneFixture.request("b")])
            try await fixture.outcomesAreWritten(["large", "b"])
        }
    }

    /// When the lane has left its group, an outcome that still waits for its topic is not written. It could not be committed, so
    /// another worker would publish it too.
    @Test func `An outcome that waits at the end is not written`() async throws {
        let hasLeft = Mutex(false)
        try await LaneFixture.run({ $0.shutdownGrace = .milliseconds(100) }) { fixture in
            await fixture.source.change { $0.onClose = { hasLeft.withLock { $0 = true } } }
            await fixture.sink.refuse { _, _ in hasLeft.withLock { $0 } ? nil : Self.notAuthorized }
            await fixture.source.append([LaneFixture.request("a")])
            // After the fifth attempt the next one is four seconds away, so it cannot fall between leaving the group and the end.
            try await eventually("it is refused again and again") { await fixture.sink.handedOver.count >= 5 }

            await fixture.lane.drain()
            try await eventually("the producer is closed") { await fixture.sink.isClosed }
            #expect(await fixture.sink.written.isEmpty)
        }
    }

    @Test func `A drain during the transactional start ends the lane`() async throws {
        let fixture = try LaneFixture(delivery: .exactlyOnce)
        defer { fixture.loop.stop() }
        await fixture.sink.change { $0.isInitHeld = true }
        let running = Task { try await fixture.lane.run() }
        await fixture.lane.drain()
        try await running.value
        #expect(await !fixture.source.isSubscribed)
    }
}
