import Basics
import EventLoop
internal import KafkaTestSupport
import Synchronization
import TestSupport
import Testing

@testable import Kafka

/// Records are gathered into batches under load, and for longer while the loop never rests.
@Suite(.serialized, .closesClients, .timeLimit(.minutes(2)))
struct GatheringTests {
    // MARK: - Conditions

    @Test func `Gathering begins when the loop is busy and ends when it is not`() {
        var gathering = Gathering(linger: .zero, busyLinger: .milliseconds(20), at: .now)
        var (now, asleep) = (Instant.now, Duration.zero)
        func pass(_ time: Duration, asleep rest: Duration) {
            (now, asleep) = (now + time, asleep + rest)
            gathering.look(asleep: asleep, at: now)
        }
        #expect(!gathering.isOn)
        pass(.milliseconds(100), asleep: .milliseconds(7))
        #expect(!gathering.isOn, "more than a sixteenth at rest")
        pass(.milliseconds(10), asleep: .zero)
        #expect(!gathering.isOn, "too short to tell")
        pass(.milliseconds(100), asleep: .milliseconds(6))
        #expect(gathering.isOn)
        pass(.milliseconds(100), asleep: .milliseconds(12))
        #expect(gathering.isOn, "not more than an eighth at rest")
        pass(.milliseconds(100), asleep: .milliseconds(13))
        #expect(!gathering.isOn)
    }

    @Test func `Gathering waits until records that found no room are gone`() {
        var gathering = Gathering(linger: .zero, busyLinger: .milliseconds(20), at: .now)
        gathering.look(asleep: .zero, at: .now + .seconds(1))
        #expect(gathering.isOn)
        gathering.add(ProducerRecord(topic: "t", value: [1]), slot: 3)
        gathering.end()
        gathering.look(asleep: .zero, at: .now + .seconds(2))
        #expect(!gathering.isOn)
        let first = gathering.popFirst()
        if let first { gathering.putBack(first.record, slot: first.slot) }
        gathering.look(asleep: .zero, at: .now + .milliseconds(2500))
        #expect(!gathering.isOn)
        let again = gathering.popFirst()
        #expect(first?.slot == 3 && again?.slot == 3)
        gathering.look(asleep: .zero, at: .now + .seconds(3))
        #expect(gathering.isOn)
    }

    @Test func `A batch is full at 512 records or at a megabyte`() {
        var many = Gathering(linger: .zero, busyLinger: .milliseconds(20), at: .now)
        var large = many
        for place in 0..<511 { many.add(ProducerRecord(topic: "t", value: nil), slot: place) }
        #expect(!many.isFull)
        many.add(ProducerRecord(topic: "t", value: nil), slot: 511)
        #expect(many.isFull)
        large.add(ProducerRecord(topic: "t", value: [UInt8](repeating: 0, count: 1 << 20)), slot: 0)
        #expect(large.isFull)
        _ = large.popFirst()
        #expect(!large.isFull)
    }

    @Test func `Records wait for the linger while eight or more come within it`() {
        var gathering = Gathering(linger: .milliseconds(5), busyLinger: .milliseconds(20), at: .now)
        var now = Instant.now + .seconds(1)
        var asleep = Duration.seconds(1)
        func pass(with records: Int) {
            for _ in 0..<records { gathering.noteRecord() }
            (now, asleep) = (now + .milliseconds(100), asleep + .milliseconds(50))
            gathering.look(asleep: asleep, at: now)
        }
        gathering.look(asleep: asleep, at: now)
        pass(with: 155)
        #expect(!gathering.isOn, "fewer than eight within 5 ms")
        pass(with: 165)
        #expect(gathering.time == .milliseconds(5))
        pass(with: 85)
        #expect(gathering.time == .milliseconds(5), "not fewer than four")
        pass(with: 75)
        #expect(!gathering.isOn)
    }

    @Test func `Records wait longer than the linger while the loop is busy`() {
        var gathering = Gathering(linger: .milliseconds(5), busyLinger: .milliseconds(20), at: .now)
        gathering.look(asleep: .zero, at: .now + .seconds(1))
        #expect(gathering.time == .milliseconds(25))
    }

    @Test func `Gathering never begins when its times are zero`() {
        var gathering = Gathering(linger: .zero, busyLinger: .zero, at: .now)
        gathering.look(asleep: .zero, at: .now + .seconds(1))
        #expect(!gathering.isOn)
    }

    // MARK: - A producer on a busy loop

    /// Keeps the loop busy until the test ends, by jobs that each take longer than a poll for events.
    private func keepBusy(_ loop: EventLoop) throws {
        let work = Task(executorPreference: loop) {
            while !Task.isCancelled {
                let end = Instant.now + .microseconds(500)
                while Instant.now < end {}
                await Task.yield()
            }
        }
        try Cleanup.add {
            work.cancel()
            await work.value
        }
    }

    /// Sends records one after another until they are gathered.
    private func gathers(_ producer: KafkaProducer, _ fixture: KafkaFixture) async throws {
        try await eventually("records are gathered") {
            _ = try await producer.send(fixture.record([0], partition: 0))
            return await producer.isGathering
        }
    }

    /// Enqueues records at once; each must be confirmed, in the order in which they were enqueued.
    private func allArrive(
        _ count: Int, _ change: (inout ProducerConfiguration) -> Void = { _ in }
    ) async throws {
        let fixture = try KafkaFixture()
        let producer = try fixture.producer {
            $0.busyLinger = .milliseconds(20)
            change(&$0)
        }
        try keepBusy(fixture.loop)
        try await gathers(producer, fixture)
        var receipts: [KafkaProducer.Receipt] = []
        for number in 0..<count {
            receipts.append(try await producer.handOver(fixture.record([UInt8(number % 256)], partition: 0)))
        }
        var offsets: [Int64] = []
        for receipt in receipts { offsets.append(try await producer.confirm(receipt).offset) }
        #expect(offsets == (0..<count).map { offsets[0] + Int64($0) })
        #expect(await producer.undelivered == 0)
    }

    @Test func `Gathered records are written in the order of their enqueuing`() async throws {
        try await allArrive(2000)
    }

    @Test func `Gathered records wait when the local queue is full`() async throws {
        try await allArrive(500) { $0.properties["queue.buffering.max.messages"] = "10" }
    }

    @Test func `Only the gathered record that is too large is refused`() async throws {
        let fixture = try KafkaFixture()
        let producer = try fixture.producer {
            $0.busyLinger = .milliseconds(20)
            $0.properties["message.max.bytes"] = "2000"
        }
        try keepBusy(fixture.loop)
        try await gathers(producer, fixture)
        var receipts: [KafkaProducer.Receipt] = []
        for size in [10, 3000, 10] {
            receipts.append(try await producer.handOver(fixture.record([UInt8](repeating: 1, count: size))))
        }
        _ = try await producer.confirm(receipts[0])
        let error = await #expect(throws: KafkaError.self) { try await producer.confirm(receipts[1]) }
        #expect(error?.kind == .recordTooLarge)
        _ = try await producer.confirm(receipts[2])
        #expect(await producer.undelivered == 0)
    }

    /// The record fills the batch, so librdkafka gets it, and rejects it, before the enqueuing call returns.
    @Test func `A record that fills its batch and is refused at once has a report`() async throws {
        let fixture = try KafkaFixture()
        let producer = try fixture.producer {
            $0.busyLinger = .seconds(60)
            $0.properties["message.max.bytes"] = "1000000"
        }
        try keepBusy(fixture.loop)
        try await gathers(producer, fixture)

        let report = Mutex<KafkaProducer.Report?>(nil)
        let isTaken = await Task(executorPreference: fixture.loop) {
            let large = fixture.record([UInt8](repeating: 1, count: 1 << 20))
            return producer.handOverAtOnce(large) { result in report.withLock { $0 = result } }
        }.value

        #expect(isTaken)
        try await eventually("the report is told", within: .seconds(5)) { report.withLock { $0 != nil } }
        let error = #expect(throws: KafkaError.self) { try report.withLock { $0 }?.get() }
        #expect(error?.kind == .recordTooLarge)
        #expect(await producer.undelivered == 0)
    }

    @Test func `A flush writes gathered records and close fails them`() async throws {
        let fixture = try KafkaFixture()
        let producer = try fixture.producer { $0.busyLinger = .seconds(60) }
        try keepBusy(fixture.loop)
        try await gathers(producer, fixture)
        let first = try await producer.handOver(fixture.record([1]))
        #expect(await producer.flush(within: .seconds(20)))
        _ = try await producer.confirm(first)
        let second = try await producer.handOver(fixture.record([2]))
        #expect(await producer.undelivered == 1)
        await producer.close()
        let error = await #expect(throws: KafkaError.self) { try await producer.confirm(second) }
        #expect(error?.kind == .closed)
    }

    @Test func `Records of a transaction are never gathered`() async throws {
        let fixture = try KafkaFixture()
        let producer = try fixture.producer {
            $0.busyLinger = .milliseconds(20)
            $0.transactionalID = fixture.broker.name("x")
        }
        try keepBusy(fixture.loop)
        try await producer.initTransactions()
        for _ in 0..<20 {
            try await producer.beginTransaction()
            try await producer.send(fixture.record([1]))
            try await producer.commitTransaction()
            #expect(await !producer.isGathering)
        }
    }
}
