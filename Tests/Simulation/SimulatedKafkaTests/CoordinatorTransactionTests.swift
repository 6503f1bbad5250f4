import SimulatedKafka
import Testing

/// The rules of transactions that Simulation/conformance.json does not contain: see `ConformanceTests`.
struct CoordinatorTransactionTests {
    @Test func `An empty transaction leaves a marker`() {
        let fixture = ClusterFixture()
        let producer = fixture.transactionalProducer()
        _ = fixture.addPartitions(by: producer)
        _ = fixture.end(.commit, by: producer)
        fixture.pass(.milliseconds(1))
        #expect(fixture.fetch().highWatermark == 1)
    }

    @Test func `An open transaction delays readers of others`() {
        let fixture = ClusterFixture()
        let (first, second) = (fixture.transactionalProducer("one"), fixture.transactionalProducer("two"))
        _ = fixture.addPartitions(by: first, id: "one")
        _ = fixture.addPartitions(by: second, id: "two")
        fixture.produce(["a"], by: first, sequence: 0, transactionalID: "one")
        fixture.produce(["b"], by: second, sequence: 0, transactionalID: "two")
        _ = fixture.end(.commit, by: second, id: "two")
        fixture.pass(.milliseconds(1))
        #expect(fixture.fetch().lastStableOffset == 0)

        _ = fixture.end(.commit, by: first, id: "one")
        fixture.pass(.milliseconds(1))
        #expect(fixture.committedValues() == ["a", "b"])
    }

    // MARK: - The end

    @Test func `The next transaction waits for the markers`() {
        let fixture = ClusterFixture()
        let producer = fixture.transactionalProducer()
        _ = fixture.addPartitions(by: producer)
        _ = fixture.end(.commit, by: producer)
        #expect(fixture.addPartitions(by: producer) == .concurrentTransactions)
        #expect(fixture.cluster.initProducerID(InitProducerIDRequest("tx")).error == .concurrentTransactions)
        fixture.pass(.milliseconds(1))
        #expect(fixture.addPartitions(by: producer) == .none)
    }

    @Test func `Markers wait for a leader`() {
        let fixture = ClusterFixture(partitions: 3) { $0.brokers = 3 }
        let producer = fixture.transactionalProducer()
        let coordinator = fixture.cluster.coordinator(.transaction("tx"))
        let other = coordinator == 1 ? Int32(2) : 1
        _ = fixture.addPartitions([0, 1, 2], by: producer)
        _ = fixture.end(.commit, by: producer)
        fixture.cluster.setBroker(other, isUp: false)
        fixture.pass(.seconds(1))
        #expect(fixture.addPartitions(by: producer) == .concurrentTransactions)
        #expect(fixture.cluster.log(of: fixture.partition(coordinator - 1))?.logEnd == 1)

        fixture.cluster.failOver(from: other)
        fixture.pass(.seconds(1))
        #expect(fixture.addPartitions(by: producer) == .none)
        for number in Int32(0)..<3 { #expect(fixture.cluster.log(of: fixture.partition(number))?.logEnd == 1) }
    }

    // MARK: - Fencing

    @Test func `A client that knows PRODUCER_FENCED receives it`() {
        let fixture = ClusterFixture()
        let old = fixture.transactionalProducer()
        _ = fixture.transactionalProducer()
        #expect(fixture.addPartitions(by: old, knowsFenced: true) == .producerFenced)
    }

    @Test func `Without transactions version 2 a producer whose transaction timed out is fenced`() {
        let fixture = ClusterFixture { $0.hasTransactionsVersion2 = false }
        let producer = fixture.transactionalProducer(timeout: .seconds(15))
        _ = fixture.addPartitions(by: producer)
        fixture.pass(.seconds(21))

        let renewed = fixture.cluster.initProducerID(InitProducerIDRequest("tx", current: producer))
        #expect(renewed.error == .producerFenced)
        #expect(fixture.transactionalProducer().epoch == 2)
    }

    @Test(arguments: [(Int64(0), ErrorCode.invalidTransactionTimeout), (.seconds(901), .invalidTransactionTimeout)])
    func `Transaction timeouts have bounds`(timeout: Int64, expected: ErrorCode) {
        let fixture = ClusterFixture()
        let request = InitProducerIDRequest("tx", transactionTimeout: timeout)
        #expect(fixture.cluster.initProducerID(request).error == expected)
    }

    @Test func `An unused transactional id is forgotten`() {
        let fixture = ClusterFixture()
        let producer = fixture.transactionalProducer()
        fixture.pass(.seconds(8 * 86_400))
        #expect(fixture.addPartitions(by: producer) == .invalidProducerIDMapping)
    }

    // MARK: - Partitions

    @Test func `One forbidden topic forbids all partitions of a request`() {
        let fixture = ClusterFixture()
        _ = fixture.cluster.createTopic(CreateTopicRequest("secret"))
        fixture.cluster.denied = [.writeTopic("secret")]
        let producer = fixture.transactionalProducer()
        let secret = PartitionID("secret", 0)
        let request = AddPartitionsToTxnRequest(TransactionName("tx", producer), [fixture.partition(0), secret])
        let answer = fixture.cluster.addPartitionsToTxn(request)
        #expect(answer.results[secret] == .topicAuthorizationFailed)
        #expect(answer.results[fixture.partition(0)] == .operationNotAttempted)
    }

    @Test func `Transactional ids need permission`() {
        let fixture = ClusterFixture()
        let producer = fixture.transactionalProducer()
        fixture.cluster.denied = [.writeTransactionalID("tx")]
        let expected = ErrorCode.transactionalIDAuthorizationFailed
        #expect(fixture.cluster.initProducerID(InitProducerIDRequest("tx")).error == expected)
        #expect(fixture.addPartitions(by: producer) == expected)
        #expect(fixture.end(.commit, by: producer) == expected)
    }

    // MARK: - Offsets

    /// Returns a producer whose transaction contains the group's offsets.
    private func withOffsets(_ fixture: ClusterFixture) -> ProducerIdentity {
        let producer = fixture.transactionalProducer()
        let name = TransactionName("tx", producer)
        _ = fixture.cluster.addOffsetsToTxn(AddOffsetsToTxnRequest(name, group: "workers"))
        return producer
    }

    @Test func `A later commit wins over a transaction`() {
        let fixture = ClusterFixture()
        let producer = withOffsets(fixture)
        _ = fixture.commit(7, by: producer)
        _ = fixture.commit(9)
        _ = fixture.end(.commit, by: producer)
        fixture.pass(.milliseconds(1))
        #expect(fixture.committed()?.offset == 9)
    }

    /// The protocol's older versions named no member.
    @Test func `A transaction may commit offsets without a member`() {
        let fixture = ClusterFixture()
        _ = fixture.stableMember()
        #expect(fixture.commit(1, by: withOffsets(fixture)) == .none)
    }

    @Test func `A transaction may commit while a rebalance completes`() {
        let fixture = ClusterFixture()
        let member = fixture.stableMember()
        _ = fixture.join(id: member.id)
        let producer = withOffsets(fixture)
        #expect(fixture.commit(1, as: MemberName(id: member.id, generation: 2), by: producer) == .none)
    }

    // MARK: - Moving coordinators

    @Test func `A new coordinator has the end that took effect`() {
        let fixture = ClusterFixture { $0.brokers = 2 }
        let producer = fixture.transactionalProducer()
        _ = fixture.addPartitions(by: producer)
        fixture.produce(["a"], by: producer, sequence: 0, transactionalID: "tx")
        _ = fixture.end(.commit, by: producer)
        let old = fixture.cluster.coordinator(.transaction("tx"))
        fixture.cluster.moveCoordinator(.transaction("tx"), to: old == 1 ? 2 : 1, loading: .seconds(1))

        let request = EndTxnRequest(TransactionName("tx", producer), .commit)
        #expect(fixture.cluster.endTxn(request, at: old).error == .notCoordinator)
        #expect(fixture.cluster.endTxn(request).error == .coordinatorLoadInProgress)
        fixture.pass(.seconds(2))
        #expect(fixture.cluster.endTxn(request).error == .none)
        #expect(fixture.committedValues() == ["a"])
    }
}
