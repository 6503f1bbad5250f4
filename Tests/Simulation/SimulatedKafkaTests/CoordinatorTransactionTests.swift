import SimulatedKafka
import Testing

struct CoordinatorTransactionTests {
    @Test func `Committed records appear with the marker`() {
        let fixture = ClusterFixture()
        let producer = fixture.transactionalProducer()
        #expect(fixture.addPartitions(by: producer) == .none)
        fixture.produce(["a", "b"], by: producer, sequence: 0, transactionalID: "tx")
        fixture.produce(["plain"])
        #expect(fixture.fetch().lastStableOffset == 0)
        #expect(fixture.fetch().entries.isEmpty)
        #expect(fixture.fetch(isolation: .readUncommitted).entries.count == 3)

        #expect(fixture.end(.commit, by: producer) == .none)
        #expect(fixture.fetch().entries.isEmpty)
        fixture.pass(.milliseconds(1))
        #expect(fixture.fetch().lastStableOffset == 4)
        #expect(fixture.fetch().entries.map(\.marker) == [nil, nil, nil, .commit])
        #expect(fixture.committedValues() == ["a", "b", "plain"])
    }

    @Test func `Aborted records are named`() {
        let fixture = ClusterFixture()
        let producer = fixture.transactionalProducer()
        _ = fixture.addPartitions(by: producer)
        fixture.produce(["a"], by: producer, sequence: 0, transactionalID: "tx")
        _ = fixture.end(.abort, by: producer)
        fixture.pass(.milliseconds(1))

        let expected = AbortedTransaction(producerID: producer.id, firstOffset: 0, lastOffset: 1)
        #expect(fixture.fetch().aborted == [expected])
        #expect(fixture.fetch(isolation: .readUncommitted).aborted.isEmpty)
        #expect(fixture.committedValues().isEmpty)
    }

    @Test func `Transaction that wrote nothing leaves a marker`() {
        let fixture = ClusterFixture()
        let producer = fixture.transactionalProducer()
        _ = fixture.addPartitions(by: producer)
        _ = fixture.end(.commit, by: producer)
        fixture.pass(.milliseconds(1))
        #expect(fixture.fetch().highWatermark == 1)
    }

    @Test func `Open transaction holds back others`() {
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

    @Test(arguments: [
        (TransactionResult.commit, TransactionResult.commit, ErrorCode.none), (.commit, .abort, .invalidTxnState),
        (.abort, .abort, .none), (.abort, .commit, .invalidTxnState),
    ])
    func `End that is repeated must be the same`(
        first: TransactionResult, second: TransactionResult, expected: ErrorCode
    ) {
        let fixture = ClusterFixture()
        let producer = fixture.transactionalProducer()
        _ = fixture.addPartitions(by: producer)
        #expect(fixture.end(first, by: producer) == .none)
        #expect(fixture.end(second, by: producer) == .concurrentTransactions)
        fixture.pass(.milliseconds(1))
        #expect(fixture.end(second, by: producer) == expected)
    }

    @Test(arguments: [TransactionResult.commit, .abort])
    func `End of nothing is refused`(result: TransactionResult) {
        let fixture = ClusterFixture()
        let producer = fixture.transactionalProducer()
        #expect(fixture.end(result, by: producer) == .invalidTxnState)
    }

    @Test func `Next transaction waits for the markers`() {
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
        var rules = ClusterRules()
        rules.brokers = 3
        let fixture = ClusterFixture(rules, partitions: 3)
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

    @Test func `New instance fences the old one`() {
        let fixture = ClusterFixture()
        let old = fixture.transactionalProducer()
        let new = fixture.transactionalProducer()
        #expect(new.id == old.id)
        #expect(new.epoch == old.epoch + 1)
        #expect(fixture.addPartitions(by: old) == .invalidProducerEpoch)
        #expect(fixture.addPartitions(by: old, knowsFenced: true) == .producerFenced)
        #expect(fixture.end(.commit, by: old) == .invalidProducerEpoch)
        #expect(fixture.addPartitions(by: ProducerIdentity(id: 1, epoch: 0)) == .invalidProducerIDMapping)
        #expect(fixture.addPartitions(by: old, id: "other") == .invalidProducerIDMapping)
    }

    @Test func `New instance aborts an open transaction`() {
        let fixture = ClusterFixture()
        let old = fixture.transactionalProducer()
        _ = fixture.addPartitions(by: old)
        fixture.produce(["a"], by: old, sequence: 0, transactionalID: "tx")
        #expect(fixture.cluster.initProducerID(InitProducerIDRequest("tx")).error == .concurrentTransactions)
        fixture.pass(.milliseconds(1))
        #expect(fixture.transactionalProducer().epoch == 2)
        #expect(fixture.committedValues().isEmpty)
        // The marker has fenced the producer at the partition.
        #expect(fixture.produce(["b"], by: old, sequence: 1, transactionalID: "tx").error == .invalidProducerEpoch)
    }

    @Test func `Transaction whose time is up is aborted and fenced`() {
        let fixture = ClusterFixture()
        let producer = fixture.transactionalProducer(timeout: .seconds(15))
        _ = fixture.addPartitions(by: producer)
        fixture.produce(["a"], by: producer, sequence: 0, transactionalID: "tx")
        fixture.pass(.seconds(19))
        #expect(fixture.fetch().lastStableOffset == 0)
        fixture.pass(.seconds(2))

        #expect(fixture.fetch().lastStableOffset == 2)
        #expect(fixture.committedValues().isEmpty)
        #expect(fixture.end(.commit, by: producer) == .invalidProducerEpoch)
        #expect(fixture.transactionalProducer().epoch == 2)
        let renewal = InitProducerIDRequest("tx", current: producer)
        #expect(fixture.cluster.initProducerID(renewal).error == .producerFenced)
    }

    @Test(arguments: [(true, ErrorCode.none, Int16(1)), (false, .producerFenced, -1)])
    func `Producer of a transaction whose time was up asks for its next epoch`(
        version2: Bool, expected: ErrorCode, epoch: Int16
    ) {
        var rules = ClusterRules()
        rules.hasTransactionsVersion2 = version2
        let fixture = ClusterFixture(rules)
        let producer = fixture.transactionalProducer(timeout: .seconds(15))
        _ = fixture.addPartitions(by: producer)
        fixture.pass(.seconds(21))

        let renewed = fixture.cluster.initProducerID(InitProducerIDRequest("tx", current: producer))
        #expect(renewed.error == expected)
        #expect(renewed.producer.epoch == epoch)
        #expect(fixture.transactionalProducer().epoch == 2)
    }

    @Test func `Producer gets a new epoch for its own`() {
        let fixture = ClusterFixture()
        let producer = fixture.transactionalProducer()
        let renewal = InitProducerIDRequest("tx", current: producer)
        #expect(fixture.cluster.initProducerID(renewal).producer.epoch == 1)
        // The same call again is a retry.
        #expect(fixture.cluster.initProducerID(renewal).producer.epoch == 1)
        _ = fixture.transactionalProducer()
        #expect(fixture.cluster.initProducerID(renewal).error == .producerFenced)
    }

    @Test(arguments: [(Int64(0), ErrorCode.invalidTransactionTimeout), (.seconds(901), .invalidTransactionTimeout)])
    func `Timeouts have bounds`(timeout: Int64, expected: ErrorCode) {
        let fixture = ClusterFixture()
        let request = InitProducerIDRequest("tx", transactionTimeout: timeout)
        #expect(fixture.cluster.initProducerID(request).error == expected)
    }

    @Test func `Id that is not used is forgotten`() {
        let fixture = ClusterFixture()
        let producer = fixture.transactionalProducer()
        fixture.pass(.seconds(8 * 86_400))
        #expect(fixture.addPartitions(by: producer) == .invalidProducerIDMapping)
    }

    // MARK: - Partitions

    @Test func `Partition must be part of the transaction`() {
        let fixture = ClusterFixture()
        let producer = fixture.transactionalProducer()
        _ = fixture.addPartitions([0], by: producer)
        let result = fixture.produce(["a"], to: 1, by: producer, sequence: 0, transactionalID: "tx")
        #expect(result.error == .invalidTxnState)
        #expect(fixture.produce(["a"], by: producer, sequence: 0, transactionalID: "tx").error == .none)
    }

    @Test func `One forbidden topic forbids all`() {
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

    @Test func `Transactional i ds need permission`() {
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

    @Test(arguments: [(TransactionResult.commit, Int64(7)), (.abort, 3)])
    func `Offsets are unstable until the marker`(result: TransactionResult, expected: Int64) {
        let fixture = ClusterFixture()
        _ = fixture.commit(3)
        let producer = withOffsets(fixture)
        #expect(fixture.commit(7, by: producer) == .none)
        #expect(fixture.committed()?.error == .unstableOffsetCommit)
        #expect(fixture.committed(requireStable: false)?.offset == 3)

        #expect(fixture.end(result, by: producer) == .none)
        #expect(fixture.committed()?.error == .unstableOffsetCommit)
        fixture.pass(.milliseconds(1))
        #expect(fixture.committed()?.offset == expected)
    }

    @Test func `Later commit wins over a transaction`() {
        let fixture = ClusterFixture()
        let producer = withOffsets(fixture)
        _ = fixture.commit(7, by: producer)
        _ = fixture.commit(9)
        _ = fixture.end(.commit, by: producer)
        fixture.pass(.milliseconds(1))
        #expect(fixture.committed()?.offset == 9)
    }

    @Test func `Offsets are refused by generation`() {
        let fixture = ClusterFixture()
        let member = fixture.stableMember()
        let producer = withOffsets(fixture)
        var stale = member
        stale.generation = 0
        #expect(fixture.commit(1, as: stale, by: producer) == .illegalGeneration)
        #expect(fixture.commit(1, as: MemberName(id: "x", generation: 1), by: producer) == .unknownMemberID)
        #expect(fixture.commit(1, as: member, by: producer) == .none)
        // A commit without a member is not checked: the protocol's older versions had none.
        #expect(fixture.commit(1, by: producer) == .none)
    }

    @Test func `Transaction commits while a rebalance completes`() {
        let fixture = ClusterFixture()
        let member = fixture.stableMember()
        _ = fixture.join(id: member.id)
        let producer = withOffsets(fixture)
        #expect(fixture.commit(1, as: MemberName(id: member.id, generation: 2), by: producer) == .none)
    }

    @Test func `Offsets must be part of the transaction`() {
        let fixture = ClusterFixture()
        let producer = fixture.transactionalProducer()
        #expect(fixture.commit(1, by: producer) == .invalidTxnState)
    }

    // MARK: - Moving coordinators

    @Test func `End that took effect is found by a new coordinator`() {
        var rules = ClusterRules()
        rules.brokers = 2
        let fixture = ClusterFixture(rules)
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
