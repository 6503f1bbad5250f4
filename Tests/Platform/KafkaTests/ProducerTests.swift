import EventLoop
import KafkaTestSupport
import TestSupport
import Testing

@testable import Kafka

/// Back-pressure, failures and their kinds, on a real connection.
@Suite(.serialized, .closesClients)
struct ProducerTests {
    @Test func `Senders wait in order when the local queue is full`() async throws {
        let fixture = try KafkaFixture(partitions: 1)
        let producer = try fixture.producer { $0.properties["queue.buffering.max.messages"] = "10" }
        let consumer = try fixture.consumer()
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<500 {
                group.addTask {
                    try await producer.send(fixture.record(Array("\(number)".utf8), partition: 0))
                }
            }
            try await group.waitForAll()
        }
        #expect(await producer.undelivered == 0)
        // The order of one caller's records survives a full queue.
        try await fixture.fill(500, partition: 0, with: producer)
        try await fixture.join(consumer)
        let values = try await consumer.read(1000).map { String(decoding: $0.value ?? [], as: UTF8.self) }
        #expect(Set(values.prefix(500)).count == 500)
        #expect(values.suffix(500).map { Int($0) } == Array(0..<500))
    }

    /// The brokers reject a whole batch. If each record has a separate batch, only one record is rejected.
    @Test(
        .enabled(if: TestBroker.isEmbedded, "only the embedded broker can be told to fail"), arguments: [true, false])
    func `A refused batch has no other record if records are sent singly`(areSingle: Bool) async throws {
        let fixture = try KafkaFixture(partitions: 1)
        let producer = try fixture.producer {
            $0.sendsRecordsSingly = areSingle
            // Long enough for all of them to be in the queue together.
            $0.properties["linger.ms"] = "300"
        }
        try await producer.send(fixture.record([0], partition: 0))
        fixture.broker.embedded?.fail(.produce, with: 10)  // MSG_SIZE_TOO_LARGE

        var receipts: [KafkaProducer.Receipt] = []
        for number in 1...50 {
            let record = fixture.record([UInt8(number)], partition: 0)
            receipts.append(try await producer.handOver(record))
        }
        var refusals: [KafkaError.Kind] = []
        for receipt in receipts {
            do throws(KafkaError) { _ = try await producer.confirm(receipt) } catch { refusals.append(error.kind) }
        }

        #expect(areSingle ? refusals.count == 1 : refusals.count > 1)
        #expect(refusals.allSatisfy { $0 == .recordTooLarge })
    }

    @Test func `A delivered record ends an outage of the brokers`() async throws {
        let fixture = try KafkaFixture(partitions: 1)
        let producer = try fixture.producer()
        await producer.noteOutage()
        #expect(await producer.missesBrokers)
        try await producer.send(fixture.record([1], partition: 0))
        #expect(await !producer.missesBrokers)
    }

    @Test func `A producer refuses a record that is too large and writes the next`() async throws {
        let fixture = try KafkaFixture()
        let producer = try fixture.producer()
        let error = await #expect(throws: KafkaError.self) {
            try await producer.send(fixture.record([UInt8](repeating: 0, count: 20_000_000)))
        }
        #expect(error?.kind == .recordTooLarge)
        try await producer.send(fixture.record([1]))
        await producer.close()
        await #expect(throws: KafkaError.self) {
            try await producer.send(fixture.record([2]))
        }
    }

    @Test(.enabled(if: TestBroker.isEmbedded, "only the embedded broker can be told to fail"))
    func `An undelivered record fails, and its error tells whether it may be in the log`() async throws {
        let fixture = try KafkaFixture()
        let producer = try fixture.producer { $0.properties["message.timeout.ms"] = "500" }
        fixture.broker.embedded?.set(broker: 1, isUp: false)
        let error = await #expect(throws: KafkaError.self) {
            try await producer.send(fixture.record([1]))
        }
        #expect(error?.kind == .timedOut)
        #expect(error?.status == .notPersisted)
        fixture.broker.embedded?.set(broker: 1, isUp: true)
        // The client may be waiting to reconnect during the first attempts.
        try await eventually("the broker takes records again") {
            (try? await producer.send(fixture.record([2]))) != nil
        }
    }

    @Test(.enabled(if: TestBroker.isEmbedded, "only the embedded broker can be told to fail"))
    func `Every send fails after a fatal error`() async throws {
        let fixture = try KafkaFixture(partitions: 1)
        let producer = try fixture.producer()
        try await producer.send(fixture.record([1]))
        fixture.broker.embedded?.fail(.produce, with: 45, count: 5)  // OUT_OF_ORDER_SEQUENCE_NUMBER
        for _ in 0..<2 {
            let error = await #expect(throws: KafkaError.self) {
                try await producer.send(fixture.record([2]))
            }
            #expect(error?.kind == .fatal)
        }
    }

    @Test func `A flush writes a record that still lingers`() async throws {
        let fixture = try KafkaFixture()
        let producer = try fixture.producer { $0.properties["linger.ms"] = "60000" }
        let receipt = try await producer.handOver(fixture.record([1]))
        #expect(await producer.undelivered == 1)
        #expect(await producer.flush(within: .seconds(20)))
        #expect(try await producer.confirm(receipt).offset == 0)
    }

    /// Kafka's own test vectors of murmur2, from `UtilsTest.testMurmur2`.
    private static let hashes: [(key: String, hash: Int32)] = [
        ("21", -973_932_308), ("foobar", -790_332_482), ("a-little-bit-long-string", -985_981_536),
        ("a-little-bit-longer-string", -1_486_304_829), ("abc", 479_470_107),
        ("lkjh234lh9fiuh90y23oiuhsafujhadof229phr9h19h89h8", -58_897_971),
    ]

    /// docs/clients.md promises that the worker and its tools choose partitions as Kafka's Java clients do.
    @Test func `A key determines the same partition as in Java`() async throws {
        let fixture = try KafkaFixture(partitions: 12)
        let producer = try fixture.producer()
        for (key, hash) in Self.hashes {
            let position = try await producer.send(
                ProducerRecord(topic: fixture.topic, key: Array(key.utf8), value: [1]))
            #expect(position.partition == (hash & 0x7FFF_FFFF) % 12, "\(key)")
        }
    }

    // MARK: - At once

    /// Enqueues a record on the loop.
    /// - Returns: its report, and whether that arrived on the loop; `nil` if the record could not be enqueued at once.
    private func reportAtOnce(
        _ record: ProducerRecord, by producer: KafkaProducer, on loop: EventLoop
    ) async -> (report: KafkaProducer.Report, isOnLoop: Bool)? {
        await Task(executorPreference: loop) {
            await withCheckedContinuation { told in
                let isTaken = producer.handOverAtOnce(record) { told.resume(returning: ($0, loop.isCurrent)) }
                if !isTaken { told.resume(returning: nil) }
            }
        }.value
    }

    @Test func `A record enqueued at once is reported on the loop`() async throws {
        let fixture = try KafkaFixture()
        let producer = try fixture.producer()
        for offset in 0..<3 as Range<Int64> {
            let record = fixture.record([1], partition: 0)
            let told = try #require(await reportAtOnce(record, by: producer, on: fixture.loop))
            #expect(told.isOnLoop)
            #expect(try told.report.get().offset == offset)
        }
        #expect(await producer.undelivered == 0)
    }

    @Test(.enabled(if: TestBroker.isEmbedded, "only the embedded broker can be told to fail"))
    func `A record enqueued at once is reported as closed with its producer`() async throws {
        let fixture = try KafkaFixture()
        let producer = try fixture.producer()
        try await producer.send(fixture.record([1]))
        fixture.broker.embedded?.set(broker: 1, isUp: false)
        async let told = reportAtOnce(fixture.record([2]), by: producer, on: fixture.loop)
        try await eventually("the record is on its way") { await producer.undelivered == 1 }
        await producer.close()
        let report = try #require(await told?.report)
        let error = #expect(throws: KafkaError.self) { try report.get() }
        #expect(error?.kind == .closed)
    }

    @Test func `No record is enqueued at once without room or outside of the loop`() async throws {
        let fixture = try KafkaFixture()
        let producer = try fixture.producer { $0.properties["message.max.bytes"] = "2000" }
        #expect(!producer.handOverAtOnce(fixture.record([1])) { _ in })
        let tooLarge = fixture.record([UInt8](repeating: 1, count: 3000))
        #expect(await reportAtOnce(tooLarge, by: producer, on: fixture.loop) == nil)
        #expect(await producer.undelivered == 0)
    }

    /// The client is freed, so no call may use it.
    @Test func `A producer that is closed before its first record refuses every call`() async throws {
        let fixture = try KafkaFixture()
        let producer = try fixture.producer { $0.transactionalID = "t" }
        await producer.close()
        for _ in 0..<2 {
            let error = await #expect(throws: KafkaError.self) {
                try await producer.send(ProducerRecord(topic: "t", value: [1]))
            }
            #expect(error?.kind == .closed)
        }
        let error = await #expect(throws: KafkaError.self) { try await producer.initTransactions() }
        #expect(error?.kind == .closed)
    }
}

extension KafkaProducer {
    /// Simulates librdkafka's event that all brokers are down.
    fileprivate func noteOutage() { brokers.report(KafkaError(.unreachable, code: -187, "all brokers are down")) }

    fileprivate var missesBrokers: Bool { brokers.areDown }
}
