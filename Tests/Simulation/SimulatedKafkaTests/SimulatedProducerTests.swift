import Kafka
import SimulatedKafka
import SimulatedKafkaClients
import Testing

struct SimulatedProducerTests {
    private func record(_ value: String, size: Int = 0) -> ProducerRecord {
        ProducerRecord(topic: "results", value: Array(value.utf8) + [UInt8](repeating: 32, count: size))
    }

    private func send(_ value: String, by producer: SimulatedProducer, in fixture: ClientFixture) -> KafkaProducer
        .Report?
    {
        fixture.wait { done in _ = producer.handOverAtOnce(record(value), report: done) }
    }

    @Test func `Records are reported with their offsets`() {
        let fixture = ClientFixture()
        let producer = fixture.producer("p")
        #expect(send("a", by: producer, in: fixture) == .success(RecordPosition(partition: 0, offset: 0)))
        #expect(send("b", by: producer, in: fixture) == .success(RecordPosition(partition: 0, offset: 1)))
        #expect(producer.undelivered == 0)
    }

    /// The fates of the first Produce request.
    static let fates: [SimulatedNetwork.Fate] = [
        .init(requestDelay: nil, answerDelay: .milliseconds(1)),
        .init(requestDelay: .milliseconds(1), answerDelay: nil),
        .init(requestDelay: .seconds(5), answerDelay: .seconds(70)),
    ]

    @Test(arguments: fates)
    func `A record is written once although messages are lost or late`(fate: SimulatedNetwork.Fate) {
        let fixture = ClientFixture()
        let producer = fixture.producer("p")
        var produces = 0
        fixture.network.fate = { message in
            if message.kind == .produce { produces += 1 }
            if message.kind == .produce, produces == 1 { return fate }
            return .init(requestDelay: .milliseconds(1), answerDelay: .milliseconds(1))
        }
        var report: KafkaProducer.Report?
        #expect(producer.handOverAtOnce(record("a")) { report = $0 })
        fixture.pass(.seconds(100))
        #expect(report == .success(RecordPosition(partition: 0, offset: 0)))
        #expect(fixture.results == ["a"])
    }

    @Test func `A record that times out may be written`() {
        let fixture = ClientFixture()
        let producer = fixture.producer("p") { $0.messageTimeout = .seconds(90) }
        fixture.network.cut("p", from: 1, [.answers])
        #expect(producer.handOverAtOnce(record("unplaced")) { _ in })
        fixture.network.mend("p", and: 1)
        fixture.pass(.seconds(1))
        _ = send("first", by: producer, in: fixture)
        fixture.network.cut("p", from: 1, [.answers])
        var report: KafkaProducer.Report?
        #expect(producer.handOverAtOnce(record("a")) { report = $0 })
        fixture.pass(.seconds(200))
        let error = report?.failure
        #expect(error?.kind == .timedOut)
        #expect(error?.status == .possiblyPersisted)

        // The broker still accepts the sequence number of the next record.
        fixture.network.mend("p", and: 1)
        fixture.pass(.seconds(100))
        #expect((try? send("b", by: producer, in: fixture)?.get()) != nil)
        #expect(fixture.results.contains("a"))
    }

    @Test func `A record that was never sent is not written`() {
        let fixture = ClientFixture()
        let producer = fixture.producer("p") { $0.messageTimeout = .seconds(5) }
        fixture.network.stop(1)
        let report = send("a", by: producer, in: fixture)
        let error = report?.failure
        #expect(error?.status == .notPersisted)
        #expect(error?.kind == .timedOut)
    }

    @Test func `A full queue accepts no record until there is room`() {
        let fixture = ClientFixture()
        let producer = fixture.producer("p") { $0.queueRecords = 2 }
        #expect(producer.handOverAtOnce(record("a")) { _ in })
        #expect(producer.handOverAtOnce(record("b")) { _ in })
        #expect(!producer.handOverAtOnce(record("c")) { _ in })
        #expect(producer.refusal(of: record("c")) == nil)
        var hasRoom = false
        producer.whenThereIsRoom { hasRoom = true }
        #expect(!hasRoom)
        fixture.pass(.seconds(1))
        #expect(hasRoom)
    }

    @Test(arguments: [(true, KafkaError.Kind.recordTooLarge), (false, .authentication)])
    func `Records that are too large or forbidden are rejected`(isTooLarge: Bool, expected: KafkaError.Kind) {
        let fixture = ClientFixture()
        let producer = fixture.producer("p")
        if !isTooLarge { fixture.cluster.denied = [.writeTopic("results")] }
        let report: KafkaProducer.Report? = fixture.wait { done in
            _ = producer.handOverAtOnce(record("a", size: isTooLarge ? 2_000_000 : 0), report: done)
        }
        let error = report?.failure
        #expect(error?.kind == expected)
        #expect(error?.status == .notPersisted)

        fixture.cluster.denied = []
        #expect((try? send("b", by: producer, in: fixture)?.get()) != nil)
    }

    @Test func `Lost sequence numbers end the producer`() {
        let fixture = ClientFixture()
        let producer = fixture.producer("p")
        _ = send("a", by: producer, in: fixture)
        // A record of the same producer that this client did not send.
        let entry = fixture.cluster.log(of: PartitionID("results", 0))?.entries.first
        let identity = ProducerIdentity(id: entry?.producerID ?? 0, epoch: 0)
        let batch = ProduceRequest.Batch(
            PartitionID("results", 0), [SimulatedRecord(value: [1]), SimulatedRecord(value: [2])], producer: identity,
            baseSequence: 1)
        _ = fixture.cluster.produce(ProduceRequest([batch]))

        _ = send("b", by: producer, in: fixture)
        #expect(producer.failure?.kind == .fatal)
        #expect(producer.failure?.code == 45)
        #expect(producer.refusal(of: record("c"))?.kind == .fatal)
    }

    @Test func `A closed producer reports the remaining records`() {
        let fixture = ClientFixture()
        let producer = fixture.producer("p")
        var report: KafkaProducer.Report?
        _ = producer.handOverAtOnce(record("a")) { report = $0 }
        producer.close()
        let error = report?.failure
        #expect(error?.kind == .closed)
    }

    @Test func `A flush waits for all reports`() {
        let fixture = ClientFixture()
        let producer = fixture.producer("p")
        _ = producer.handOverAtOnce(record("a")) { _ in }
        #expect(fixture.wait { producer.flush(within: .seconds(5), reply: $0) } == true)
        fixture.network.stop(1)
        _ = producer.handOverAtOnce(record("b")) { _ in }
        #expect(fixture.wait { producer.flush(within: .seconds(5), reply: $0) } == false)
    }
}
