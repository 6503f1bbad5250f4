import SimulatedKafka
import Testing

struct LogTests {
    @Test func `Records are read in the order in which they were written`() {
        let fixture = ClusterFixture()
        #expect(fixture.produce(["a", "b"]).baseOffset == 0)
        #expect(fixture.produce(["c"]).baseOffset == 2)

        let read = fixture.fetch(from: 1)
        #expect(read.entries.map(\.offset) == [1, 2])
        #expect(read.highWatermark == 3)
        #expect(fixture.fetch(from: 3).entries.isEmpty)
    }

    @Test(arguments: [
        (Int64(-1), ErrorCode.offsetOutOfRange), (0, .offsetOutOfRange), (2, .none), (3, .none), (4, .offsetOutOfRange),
    ])
    func `Offsets outside of the log are refused`(offset: Int64, expected: ErrorCode) {
        let fixture = ClusterFixture()
        fixture.produce(["a", "b", "c"])
        _ = fixture.cluster.deleteRecords(DeleteRecordsRequest([fixture.partition(0): 2]))
        #expect(fixture.fetch(from: offset).error == expected)
    }

    @Test(arguments: [
        (Int64(1), ErrorCode.none, Int64(1)), (-1, .none, 3), (4, .offsetOutOfRange, -1),
    ])
    func `Deleted records move the start of the log`(offset: Int64, error: ErrorCode, start: Int64) {
        let fixture = ClusterFixture()
        fixture.produce(["a", "b", "c"])
        let answer = fixture.cluster.deleteRecords(DeleteRecordsRequest([fixture.partition(0): offset]))
        #expect(answer.results[fixture.partition(0)]?.error == error)
        #expect(answer.results[fixture.partition(0)]?.lowWatermark == start)
    }

    @Test func `Compaction leaves gaps`() {
        let fixture = ClusterFixture()
        let records = [("k1", "a"), ("k2", "b"), ("k1", "c")].map { ClusterFixture.record($0.1, key: $0.0) }
        _ = fixture.cluster.produce(ProduceRequest([.init(fixture.partition(0), records)]))
        fixture.cluster.compact(fixture.partition(0))

        #expect(fixture.fetch(from: 0).entries.map(\.offset) == [1, 2])
        #expect(fixture.fetch(from: 0).error == .none)
    }

    @Test func `Retention deletes what is old`() {
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

    @Test func `Waiting fetch is answered by the first record`() {
        let fixture = ClusterFixture()
        let answer = Box<FetchResponse>()
        let request = FetchRequest([.init(fixture.partition(0), offset: 0)], maxWait: .milliseconds(500))
        fixture.cluster.fetch(request) { answer.value = $0 }
        fixture.pass(.milliseconds(100))
        #expect(answer.value == nil)

        fixture.produce(["a"])
        #expect(answer.value?.partitions[0].entries.count == 1)
    }

    @Test func `Waiting fetch is answered empty in the end`() {
        let fixture = ClusterFixture()
        let answer = Box<FetchResponse>()
        let request = FetchRequest([.init(fixture.partition(0), offset: 0)], maxWait: .milliseconds(500))
        fixture.cluster.fetch(request) { answer.value = $0 }
        fixture.pass(.milliseconds(500))
        #expect(answer.value?.partitions[0].entries.isEmpty == true)
    }

    /// A combined fetch of ten steps of 100 ms each ends with the third step, in which its client needs something else.
    @Test func `Fetch that stands for several ends with the one that is under way`() {
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

    @Test func `Records that not all replicas have are not read`() {
        let fixture = ClusterFixture()
        let answer = Box<ProduceResponse>()
        fixture.cluster.holdReplication(of: fixture.partition(0), true)
        let batch = ProduceRequest.Batch(fixture.partition(0), [ClusterFixture.record("a")])
        fixture.cluster.produce(ProduceRequest([batch])) { answer.value = $0 }

        #expect(fixture.fetch().entries.isEmpty)
        #expect(answer.value == nil)
        fixture.cluster.holdReplication(of: fixture.partition(0), false)
        #expect(answer.value?.results[0].error == ErrorCode.none)
        #expect(fixture.fetch().entries.count == 1)
    }

    @Test func `Records that not all replicas have go with their leader`() {
        var rules = ClusterRules()
        rules.brokers = 3
        let fixture = ClusterFixture(rules)
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
    @Test func `Marker that not all replicas had is written again`() {
        var rules = ClusterRules()
        rules.brokers = 3
        let fixture = ClusterFixture(rules)
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

    @Test func `Produce that waits too long is in the log all the same`() {
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
    func `Records are refused`(refusal: Refusal, expected: ErrorCode) {
        var rules = ClusterRules()
        rules.brokers = 2
        var settings = TopicSettings()
        settings.maxMessageBytes = 200
        settings.isCompacted = refusal == .withoutKey
        let fixture = ClusterFixture(rules, settings: settings)

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

    @Test func `Topic that is made again is another one`() {
        let fixture = ClusterFixture()
        fixture.produce(["a"])
        _ = fixture.commit(1)
        let id = fixture.cluster.metadata().topics[0].id
        #expect(fixture.cluster.deleteTopic(DeleteTopicRequest(fixture.topic)).error == .none)
        #expect(fixture.fetch().error == .unknownTopicOrPartition)
        #expect(fixture.cluster.createTopic(CreateTopicRequest(fixture.topic)).error == .none)

        let stale = FetchRequest.Partition(fixture.partition(0), offset: 0, topicID: id)
        #expect(fixture.cluster.fetch(FetchRequest([stale])).partitions[0].error == .unknownTopicID)
        #expect(fixture.fetch(from: 1).error == .offsetOutOfRange)
        #expect(fixture.committed()?.offset == -1)
    }

    @Test(arguments: [
        ("requests", Int32(1), ErrorCode.topicAlreadyExists), ("a b", 1, .invalidTopicException),
        ("", 1, .invalidTopicException), ("new", 0, .invalidPartitions), ("new", 3, .none),
    ])
    func `Topics are made`(name: String, partitions: Int32, expected: ErrorCode) {
        let fixture = ClusterFixture()
        let request = CreateTopicRequest(name, TopicSettings(partitions: partitions))
        #expect(fixture.cluster.createTopic(request).error == expected)
    }

    @Test(arguments: [(Int32(2), ErrorCode.invalidPartitions), (1, .invalidPartitions), (5, .none)])
    func `Partitions are added`(count: Int32, expected: ErrorCode) {
        let fixture = ClusterFixture()
        let answer = fixture.cluster.createPartitions(CreatePartitionsRequest(fixture.topic, count: count))
        #expect(answer.error == expected)
        #expect(fixture.cluster.metadata().topics[0].partitions.count == (expected == .none ? 5 : 2))
    }

    @Test(arguments: [
        (ListOffsetsRequest.Query.earliest, Int64(0)), (.latest, 2), (.time(.seconds(3)), 1), (.time(.seconds(9)), -1),
    ])
    func `Offsets are found`(query: ListOffsetsRequest.Query, expected: Int64) {
        let fixture = ClusterFixture()
        fixture.produce(["a"])
        fixture.pass(.seconds(5))
        fixture.produce(["b"])
        let answer = fixture.cluster.listOffsets(ListOffsetsRequest([fixture.partition(0): query]))
        #expect(answer.results[fixture.partition(0)]?.offset == expected)
    }

    @Test(arguments: [(Int32(-1), ErrorCode.none), (0, .fencedLeaderEpoch), (1, .none), (2, .unknownLeaderEpoch)])
    func `Readers of an other leader epoch are refused`(epoch: Int32, expected: ErrorCode) {
        let fixture = ClusterFixture()
        fixture.cluster.moveLeader(of: fixture.partition(0), to: 1)
        let request = FetchRequest.Partition(fixture.partition(0), offset: 0, leaderEpoch: epoch)
        #expect(fixture.cluster.fetch(FetchRequest([request])).partitions[0].error == expected)
    }
}
