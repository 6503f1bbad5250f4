import SimulatedKafka
import Testing

/// The rules of logs and idempotence that Simulation/conformance.json does not contain: see `ConformanceTests`.
struct LogTests {
    @Test func `Deletion up to offset -1 empties the log`() {
        let fixture = ClusterFixture()
        fixture.produce(["a", "b", "c"])
        let answer = fixture.cluster.deleteRecords(DeleteRecordsRequest([fixture.partition(0): -1]))
        #expect(answer.results[fixture.partition(0)]?.lowWatermark == 3)
    }

    @Test func `Compaction leaves gaps`() {
        let fixture = ClusterFixture()
        let records = [("k1", "a"), ("k2", "b"), ("k1", "c")].map { ClusterFixture.record($0.1, key: $0.0) }
        _ = fixture.cluster.produce(ProduceRequest([.init(fixture.partition(0), records)]))
        fixture.cluster.compact(fixture.partition(0))

        #expect(fixture.fetch(from: 0).entries.map(\.offset) == [1, 2])
        #expect(fixture.fetch(from: 0).error == .none)
    }

    @Test func `Retention deletes old records`() {
        var settings = TopicSettings()
        settings.retention = .seconds(10)
        let fixture = ClusterFixture(settings: settings)
        fixture.produce(["a"])
        fixture.pass(.seconds(8))
        fixture.produce(["b"])
        fixture.pass(.seconds(5))

        #expect(fixture.fetch(from: 0).error == .offsetOutOfRange)
        #expect(fixture.fetch(from: 1).entries.count == 1)
    }

    @Test func `The first record ends a waiting fetch`() {
        let fixture = ClusterFixture()
        let answer = Box<FetchResponse>()
        let request = FetchRequest([.init(fixture.partition(0), offset: 0)], maxWait: .milliseconds(500))
        fixture.cluster.fetch(request) { answer.value = $0 }
        fixture.pass(.milliseconds(100))
        #expect(answer.value == nil)

        fixture.produce(["a"])
        #expect(answer.value?.partitions[0].entries.count == 1)
    }

    /// A combined fetch of ten steps of 100 ms each ends with the third step, in which its client needs something else.
    @Test func `A combined fetch ends with its current step`() {
        let fixture = ClusterFixture()
        let answer = Box<FetchResponse>()
        let (request, fetchTimeout) = (
            FetchRequest([.init(fixture.partition(0), offset: 0)], maxWait: .milliseconds(100)),
            FetchTimeout(step: .milliseconds(100))
        )
        fixture.cluster.fetch(request, fetchTimeout: fetchTimeout) { answer.value = $0 }
        fixture.pass(.milliseconds(250))
        fixture.cluster.endSoon(fetchTimeout)
        fixture.pass(.milliseconds(49))
        #expect(answer.value == nil)
        fixture.pass(.milliseconds(1))
        #expect(answer.value?.partitions[0].entries.isEmpty == true)

        // A fetch that has not arrived yet waits for one step only.
        answer.value = nil
        fixture.cluster.fetch(request, fetchTimeout: fetchTimeout) { answer.value = $0 }
        fixture.pass(.milliseconds(100))
        #expect(answer.value != nil)
    }

    @Test func `Records that are not replicated are lost with their leader`() {
        let fixture = ClusterFixture { $0.brokers = 3 }
        fixture.produce(["kept"])
        let answer = Box<ProduceResponse>()
        fixture.cluster.holdReplication(of: fixture.partition(0), true)
        let batch = ProduceRequest.Batch(fixture.partition(0), [ClusterFixture.record("gone")])
        fixture.cluster.produce(ProduceRequest([batch])) { answer.value = $0 }
        fixture.cluster.moveLeader(of: fixture.partition(0), to: 3)

        #expect(answer.value?.results[0].error == .notLeaderOrFollower)
        #expect(fixture.committedValues() == ["kept"])
        #expect(fixture.cluster.log(of: fixture.partition(0))?.leaderEpoch == 1)
    }

    /// A coordinator writes markers with acks=all, and again if the leader that had one is gone.
    @Test func `A marker that was not replicated is written again`() {
        let fixture = ClusterFixture { $0.brokers = 3 }
        let producer = fixture.transactionalProducer()
        #expect(fixture.addPartitions(by: producer) == .none)
        fixture.produce(["a"], by: producer, sequence: 0, transactionalID: "tx")
        fixture.cluster.holdReplication(of: fixture.partition(0), true)
        #expect(fixture.end(.commit, by: producer) == .none)
        fixture.pass(.seconds(1))
        #expect(fixture.committedValues().isEmpty)
        #expect(fixture.addPartitions(by: producer) == .concurrentTransactions, "the former one has not ended")

        fixture.cluster.moveLeader(of: fixture.partition(0), to: 3)
        fixture.cluster.holdReplication(of: fixture.partition(0), false)
        fixture.pass(.seconds(1))
        #expect(fixture.committedValues() == ["a"])
        #expect(fixture.addPartitions(by: producer) == .none)
    }

    @Test func `A batch that times out is in the log all the same`() {
        let fixture = ClusterFixture()
        let answer = Box<ProduceResponse>()
        fixture.cluster.holdReplication(of: fixture.partition(0), true)
        let batch = ProduceRequest.Batch(fixture.partition(0), [ClusterFixture.record("a")])
        fixture.cluster.produce(ProduceRequest([batch])) { answer.value = $0 }
        fixture.pass(.seconds(30))
        #expect(answer.value?.results[0].error == .requestTimedOut)

        fixture.cluster.holdReplication(of: fixture.partition(0), false)
        #expect(fixture.committedValues() == ["a"])
    }

    /// All rejections.
    enum Refusal: CaseIterable {
        case tooLarge, notAllowed, notLeader, noSuchPartition, tooFewReplicas, fromTheFuture, withoutKey
    }

    @Test(
        arguments: zip(
            Refusal.allCases,
            [
                ErrorCode.messageTooLarge, .topicAuthorizationFailed, .notLeaderOrFollower, .unknownTopicOrPartition,
                .notEnoughReplicas, .invalidTimestamp, .invalidRecord,
            ]))
    func `Records are rejected with the protocol's errors`(refusal: Refusal, expected: ErrorCode) {
        var settings = TopicSettings()
        settings.maxMessageBytes = 200
        settings.isCompacted = refusal == .withoutKey
        let fixture = ClusterFixture(settings: settings) { $0.brokers = 2 }

        var number: Int32 = 0
        var broker: Int32 = 1
        var record = ClusterFixture.record("a")
        switch refusal {
        case .tooLarge: record = ClusterFixture.record(String(repeating: "x", count: 300))
        case .notAllowed: fixture.cluster.denied = [.writeTopic(fixture.topic)]
        case .notLeader: broker = 2
        case .noSuchPartition: number = 7
        case .tooFewReplicas: fixture.cluster.setInSyncReplicas(of: fixture.partition(0), to: 0)
        case .fromTheFuture: record = ClusterFixture.record("a", timestamp: .seconds(7_200))
        case .withoutKey: break
        }
        let batch = ProduceRequest.Batch(fixture.partition(number), [record])
        let result = fixture.cluster.produce(ProduceRequest([batch]), at: broker).results[0]
        #expect(result.error == expected)
        #expect(result.baseOffset == -1)
    }

    @Test func `A recreated topic has another id`() {
        let fixture = ClusterFixture()
        let id = fixture.cluster.metadata().topics[0].id
        _ = fixture.cluster.deleteTopic(DeleteTopicRequest(fixture.topic))
        _ = fixture.cluster.createTopic(CreateTopicRequest(fixture.topic))
        let stale = FetchRequest.Partition(fixture.partition(0), offset: 0, topicID: id)
        #expect(fixture.cluster.fetch(FetchRequest([stale])).partitions[0].error == .unknownTopicID)
    }

    @Test(arguments: [(Int64.seconds(3), Int64(1)), (.seconds(9), -1)])
    func `Offsets are found by time`(time: Int64, expected: Int64) {
        let fixture = ClusterFixture()
        fixture.produce(["a"])
        fixture.pass(.seconds(5))
        fixture.produce(["b"])
        let answer = fixture.cluster.listOffsets(ListOffsetsRequest([fixture.partition(0): .time(time)]))
        #expect(answer.results[fixture.partition(0)]?.offset == expected)
    }

    @Test(arguments: [(Int32(-1), ErrorCode.none), (0, .fencedLeaderEpoch), (1, .none), (2, .unknownLeaderEpoch)])
    func `Fetches with another leader epoch are rejected`(epoch: Int32, expected: ErrorCode) {
        let fixture = ClusterFixture()
        fixture.cluster.moveLeader(of: fixture.partition(0), to: 1)
        let request = FetchRequest.Partition(fixture.partition(0), offset: 0, leaderEpoch: epoch)
        #expect(fixture.cluster.fetch(FetchRequest([request])).partitions[0].error == expected)
    }

    // MARK: - Idempotence

    @Test func `Only the last batches are remembered`() {
        let fixture = ClusterFixture()
        let producer = fixture.cluster.initProducerID(InitProducerIDRequest(nil)).producer
        for sequence in Int32(0)..<6 { fixture.produce(["a"], by: producer, sequence: sequence) }

        #expect(fixture.produce(["a"], by: producer, sequence: 1).baseOffset == 1)
        #expect(fixture.produce(["a"], by: producer, sequence: 0).error == .outOfOrderSequenceNumber)
    }

    @Test func `Sequence numbers go on from zero after the largest`() {
        let fixture = ClusterFixture()
        let producer = ProducerIdentity(id: 77, epoch: 0)
        #expect(fixture.produce(["a"], by: producer, sequence: .max).error == .none)
        #expect(fixture.produce(["b"], by: producer, sequence: 0).error == .none)
    }

    @Test func `A forgotten producer may go on with any number`() {
        let fixture = ClusterFixture()
        let producer = ProducerIdentity(id: 5, epoch: 0)
        fixture.produce(["a"], by: producer, sequence: 0)
        fixture.pass(.seconds(86_401))
        #expect(fixture.produce(["b"], by: producer, sequence: 9).error == .none)
    }
}
