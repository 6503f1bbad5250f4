import Kafka
import SimulatedKafka
import SimulatedKafkaClients
internal import TestSupport
import Testing

struct SimulatedTransactionTests {
    private func transactional(_ id: String, in fixture: ClientFixture, timeout: Int64 = .seconds(60))
        -> SimulatedProducer
    {
        let producer = fixture.producer(id) {
            $0.transactionalID = "tx"
            $0.transactionTimeout = timeout
        }
        #expect(fixture.call { producer.initTransactions(within: .seconds(30), reply: $0) } == nil)
        return producer
    }

    private func write(_ value: String, by producer: SimulatedProducer) {
        #expect(producer.handOverAtOnce(ProducerRecord(topic: "results", value: Array(value.utf8))) { _ in })
    }

    private func commit(_ producer: SimulatedProducer, in fixture: ClientFixture) -> KafkaError? {
        fixture.call { producer.commitTransaction(within: .seconds(30), reply: $0) }
    }

    private func abort(_ producer: SimulatedProducer, in fixture: ClientFixture) -> KafkaError? {
        fixture.call { producer.abortTransaction(within: .seconds(30), reply: $0) }
    }

    private func sendOffsets(
        _ next: Int64, as membership: GroupMembership, by producer: SimulatedProducer, in fixture: ClientFixture
    ) -> KafkaError? {
        fixture.call {
            producer.sendOffsets(
                [(TopicPartition("requests", 0), CommittedOffset(next))], as: membership, group: "workers",
                within: .seconds(30),
                reply: $0)
        }
    }

    @Test func `Transactions follow each other`() {
        let fixture = ClientFixture()
        let producer = transactional("p", in: fixture)
        for value in ["a", "b", "c"] {
            #expect(producer.beginTransaction() == nil)
            write(value, by: producer)
            let error = value == "b" ? abort(producer, in: fixture) : commit(producer, in: fixture)
            #expect(error == nil)
        }
        fixture.pass(.seconds(1))
        #expect(fixture.results == ["a", "c"])
    }

    @Test func `A record outside of a transaction is rejected`() {
        let fixture = ClientFixture()
        let producer = transactional("p", in: fixture)
        #expect(!producer.handOverAtOnce(ProducerRecord(topic: "results", value: [1])) { _ in })
    }

    /// The same behaviour as librdkafka's in `KafkaTests.TransactionTests`.
    @Test func `A rejected record ends the flush of its transaction`() {
        let fixture = ClientFixture()
        let producer = transactional("p", in: fixture)
        _ = producer.beginTransaction()
        var reports: [String: KafkaProducer.Report] = [:]
        for (topic, value) in [("nowhere", [UInt8]()), ("results", [UInt8](repeating: 0, count: 2 << 20))] {
            #expect(producer.handOverAtOnce(ProducerRecord(topic: topic, value: value)) { reports[topic] = $0 })
        }

        #expect(fixture.wait { producer.flush(within: .seconds(5), reply: $0) } == true)
        #expect(reports["results"]?.failure?.kind == .recordTooLarge)
        #expect(reports["nowhere"]?.failure?.kind == .other)
        #expect(reports["nowhere"]?.failure?.isTopicRefusal == false)
        #expect(abort(producer, in: fixture) == nil)
    }

    /// The brokers have the record, unknown to the client. The next record with the same number would be treated as a duplicate.
    @Test func `No record reuses the number of one whose answer was lost`() {
        let fixture = ClientFixture()
        let producer = transactional("p", in: fixture)
        var isLost = false
        fixture.network.fate = { message in
            var fate = SimulatedNetwork.Fate(requestDelay: .milliseconds(1), answerDelay: .milliseconds(1))
            if message.kind == .produce, !isLost {
                isLost = true
                fate.answerDelay = nil
                fixture.scheduler.schedule(after: .milliseconds(5)) {
                    fixture.cluster.denied = [.writeTopic("results")]
                }
            }
            return fate
        }
        _ = producer.beginTransaction()
        var report: KafkaProducer.Report?
        #expect(producer.handOverAtOnce(ProducerRecord(topic: "results", value: [97])) { report = $0 })
        fixture.pass(.seconds(5))
        #expect(throws: KafkaError.self) { try report?.get() }
        #expect(fixture.cluster.log(of: PartitionID("results", 0))?.logEnd == 1)
        #expect(abort(producer, in: fixture) == nil)

        fixture.cluster.denied = []
        _ = producer.beginTransaction()
        write("b", by: producer)
        #expect(commit(producer, in: fixture) == nil)
        fixture.pass(.seconds(1))
        #expect(fixture.results == ["b"])
    }

    @Test func `Records of a transaction are retried no longer than it lasts`() {
        let fixture = ClientFixture()
        let producer = transactional("p", in: fixture, timeout: .seconds(15))
        _ = producer.beginTransaction()
        var report: KafkaProducer.Report?
        #expect(producer.handOverAtOnce(ProducerRecord(topic: "nowhere", value: [])) { report = $0 })
        fixture.pass(.seconds(14))
        #expect(report == nil)
        fixture.pass(.seconds(2))
        #expect(throws: KafkaError.self) { try report?.get() }
    }

    @Test func `Offsets are committed with the transaction`() throws {
        let fixture = ClientFixture()
        let (consumer, _) = fixture.consumer("c")
        fixture.pass(.seconds(3))
        let producer = transactional("p", in: fixture)
        _ = producer.beginTransaction()
        write("a", by: producer)
        let membership = try #require(consumer.membership)
        #expect(sendOffsets(5, as: membership, by: producer, in: fixture) == nil)
        #expect(commit(producer, in: fixture) == nil)

        let partition = AssignedPartition(TopicPartition("requests", 0), epoch: 1)
        let answer: Result<[AssignedPartition: CommittedOffset], KafkaError>? = fixture.wait {
            consumer.committedOffsets(of: [partition], within: .seconds(5), reply: $0)
        }
        #expect(answer == .success([partition: CommittedOffset(5)]))
    }

    @Test func `A transaction with offsets of an old generation can only be aborted`() throws {
        let fixture = ClientFixture()
        let (consumer, _) = fixture.consumer("c")
        fixture.pass(.seconds(3))
        let old = try #require(consumer.membership)
        _ = fixture.consumer("other")
        fixture.pass(.seconds(20))

        let producer = transactional("p", in: fixture)
        _ = producer.beginTransaction()
        write("a", by: producer)
        let error = sendOffsets(5, as: old, by: producer, in: fixture)
        #expect(error?.kind == .abortable)
        #expect(error?.code == 22)
        #expect(commit(producer, in: fixture)?.kind == .abortable)
        #expect(abort(producer, in: fixture) == nil)

        #expect(producer.beginTransaction() == nil)
        write("b", by: producer)
        let new = try #require(consumer.membership)
        #expect(sendOffsets(6, as: new, by: producer, in: fixture) == nil)
        #expect(commit(producer, in: fixture) == nil)
        fixture.pass(.seconds(1))
        #expect(fixture.results == ["b"])
    }

    @Test func `A new instance fences the old one`() {
        let fixture = ClientFixture()
        let old = transactional("old", in: fixture)
        _ = old.beginTransaction()
        write("a", by: old)
        fixture.pass(.seconds(1))
        let new = transactional("new", in: fixture)
        let error = commit(old, in: fixture)
        #expect(error?.kind == .fenced)
        #expect(old.failure?.kind == .fenced)

        _ = new.beginTransaction()
        write("b", by: new)
        #expect(commit(new, in: fixture) == nil)
        fixture.pass(.seconds(1))
        #expect(fixture.results == ["b"])
    }

    @Test func `A transaction that times out fences its own producer`() {
        let fixture = ClientFixture()
        let producer = transactional("p", in: fixture, timeout: .seconds(15))
        _ = producer.beginTransaction()
        write("a", by: producer)
        fixture.pass(.seconds(30))
        #expect(abort(producer, in: fixture)?.kind == .fenced)

        // A new producer goes on.
        let next = transactional("next", in: fixture)
        _ = next.beginTransaction()
        write("b", by: next)
        #expect(commit(next, in: fixture) == nil)
    }

    /// The fates of the first EndTxn.
    static let fates: [SimulatedNetwork.Fate] = [
        .init(requestDelay: nil, answerDelay: .milliseconds(1)),
        .init(requestDelay: .milliseconds(1), answerDelay: nil),
    ]

    @Test(arguments: fates)
    func `A commit whose answer is lost takes effect once`(fate: SimulatedNetwork.Fate) {
        let fixture = ClientFixture()
        let producer = transactional("p", in: fixture)
        _ = producer.beginTransaction()
        write("a", by: producer)
        var ends = 0
        fixture.network.fate = { message in
            if message.kind == .endTxn { ends += 1 }
            if message.kind == .endTxn, ends == 1 { return fate }
            return .init(requestDelay: .milliseconds(1), answerDelay: .milliseconds(1))
        }
        #expect(commit(producer, in: fixture) == nil)
        fixture.pass(.seconds(1))
        #expect(fixture.results == ["a"])
    }

    /// librdkafka: `rd_kafka_txn_op_begin_abort`.
    @Test func `A commit whose result is unknown can only be called again`() {
        let fixture = ClientFixture()
        let producer = transactional("p", in: fixture)
        _ = producer.beginTransaction()
        write("a", by: producer)
        fixture.pass(.seconds(1))
        fixture.network.cut("p", from: 1, [.answers])
        let unknown = fixture.call { producer.commitTransaction(within: .seconds(5), reply: $0) }
        #expect(unknown?.kind == .retriable)
        #expect(abort(producer, in: fixture)?.code == -172)
        fixture.network.mend("p", and: 1)
        fixture.pass(.seconds(70))

        #expect(commit(producer, in: fixture) == nil)
        #expect(producer.beginTransaction() == nil)
        #expect(fixture.results == ["a"])
    }

    /// Otherwise the late answer could end the next call. librdkafka: `rd_kafka_send_offsets_to_transaction`.
    @Test func `A late answer about offsets ends no later call`() throws {
        let fixture = ClientFixture()
        let (consumer, _) = fixture.consumer("c")
        fixture.pass(.seconds(3))
        let producer = transactional("p", in: fixture)
        _ = producer.beginTransaction()
        write("a", by: producer)
        fixture.pass(.seconds(1))
        let membership = try #require(consumer.membership)
        fixture.network.fate = { message in
            .init(
                requestDelay: .milliseconds(1),
                answerDelay: message.kind == .addOffsetsToTxn ? .seconds(32) : .milliseconds(1))
        }
        let late = sendOffsets(5, as: membership, by: producer, in: fixture)
        #expect(late?.kind == .retriable)
        #expect(late?.code == -185)
        fixture.network.fate = { _ in .init(requestDelay: .milliseconds(1), answerDelay: .milliseconds(1)) }
        #expect(abort(producer, in: fixture) == nil)

        #expect(producer.beginTransaction() == nil)
        write("b", by: producer)
        #expect(sendOffsets(6, as: membership, by: producer, in: fixture) == nil)
        #expect(commit(producer, in: fixture) == nil)
        fixture.pass(.seconds(1))
        #expect(fixture.results == ["b"])
    }

    /// A second request could arrive late and end the next transaction. librdkafka: `rd_kafka_txn_op_abort_transaction`.
    @Test func `An abort that is called again sends no second request`() {
        let fixture = ClientFixture()
        let producer = transactional("p", in: fixture)
        _ = producer.beginTransaction()
        write("a", by: producer)
        fixture.pass(.seconds(1))
        var ends = 0
        fixture.network.fate = { message in
            if message.kind == .endTxn { ends += 1 }
            let isFirst = message.kind == .endTxn && ends == 1
            return .init(requestDelay: isFirst ? .seconds(8) : .milliseconds(1), answerDelay: .milliseconds(1))
        }
        let unknown = fixture.call { producer.abortTransaction(within: .seconds(5), reply: $0) }
        #expect(unknown?.kind == .retriable)
        #expect(abort(producer, in: fixture) == nil)
        #expect(ends == 1)

        #expect(producer.beginTransaction() == nil)
        write("b", by: producer)
        #expect(commit(producer, in: fixture) == nil)
        fixture.pass(.seconds(1))
        #expect(fixture.results == ["b"])
    }

    @Test func `A rejected record fails the transaction`() {
        let fixture = ClientFixture()
        let producer = transactional("p", in: fixture)
        _ = producer.beginTransaction()
        #expect(
            producer.handOverAtOnce(ProducerRecord(topic: "results", value: [UInt8](repeating: 1, count: 2_000_000))) {
                _ in
            })
        #expect(commit(producer, in: fixture)?.kind == .abortable)
        #expect(abort(producer, in: fixture) == nil)
        #expect(producer.beginTransaction() == nil)
        write("b", by: producer)
        #expect(commit(producer, in: fixture) == nil)
    }

    @Test func `A transaction without records needs no broker`() {
        let fixture = ClientFixture()
        let producer = transactional("p", in: fixture)
        _ = producer.beginTransaction()
        fixture.network.stop(1)
        #expect(abort(producer, in: fixture) == nil)
    }

    @Test func `A coordinator that moves is found again`() {
        let fixture = ClientFixture { $0.brokers = 3 }
        let producer = transactional("p", in: fixture)
        _ = producer.beginTransaction()
        write("a", by: producer)
        fixture.pass(.seconds(1))
        let broker = fixture.cluster.coordinator(.transaction("tx"))
        fixture.network.reach { $0.moveCoordinator(.transaction("tx"), to: broker % 3 + 1, loading: .seconds(2)) }
        #expect(commit(producer, in: fixture) == nil)
    }
}
