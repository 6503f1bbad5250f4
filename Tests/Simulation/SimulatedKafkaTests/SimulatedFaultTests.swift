import Kafka
import SimulatedKafka
import SimulatedKafkaClients
internal import TestSupport
import Testing

/// Faults of brokers and whole processes: full disks, stopped replication, clients that stand still.
struct SimulatedFaultTests {
    private static let results = PartitionID("results", 0)

    private func send(_ value: String, by producer: SimulatedProducer) -> Box<KafkaProducer.Report> {
        let report = Box<KafkaProducer.Report>()
        let record = ProducerRecord(topic: "results", value: Array(value.utf8))
        #expect(producer.handOverAtOnce(record) { report.value = $0 })
        return report
    }

    private func isDelivered(_ report: Box<KafkaProducer.Report>) -> Bool? {
        report.value.map { $0.failure == nil }
    }

    // MARK: - Brokers

    @Test func `A broker with a full disk accepts and returns no records`() {
        let fixture = ClientFixture()
        let (consumer, _) = fixture.consumer("c")
        let producer = fixture.producer("p")
        fixture.append(["before"])
        fixture.pass(.seconds(3))
        #expect(values(consumer.takeRecords(max: 10)) == ["before"])

        fixture.network.reach { $0.fullDisks = $0.brokers.reduce(into: []) { $0.insert($1) } }
        let report = send("a", by: producer)
        fixture.pass(.seconds(10))
        #expect(isDelivered(report) == nil)
        #expect(fixture.results.isEmpty)

        fixture.network.reach { $0.fullDisks = [] }
        fixture.append(["after"])
        fixture.pass(.seconds(3))
        #expect(isDelivered(report) == true)
        #expect(fixture.results == ["a"])
        #expect(values(consumer.takeRecords(max: 10)) == ["after"])
    }

    @Test func `Other brokers take over from one with a full disk`() throws {
        let fixture = ClientFixture { $0.brokers = 3 }
        let leader = try #require(fixture.cluster.log(of: Self.results)).leader
        let producer = fixture.producer("p")
        fixture.network.reach { _ = $0.fullDisks.insert(leader) }
        let report = send("a", by: producer)
        fixture.pass(.seconds(3))
        #expect(isDelivered(report) == nil)

        fixture.network.reach { $0.moveLeaders(from: leader) }
        fixture.pass(.seconds(3))
        #expect(isDelivered(report) == true)
        #expect(fixture.cluster.log(of: Self.results)?.leader != leader)
    }

    /// Only the leader has the record: it is neither confirmed nor visible to readers.
    @Test func `A record that is not replicated is neither confirmed nor read`() {
        let fixture = ClientFixture()
        let producer = fixture.producer("p")
        fixture.network.reach { $0.holdReplication(of: Self.results, true) }
        let report = send("a", by: producer)
        fixture.pass(.seconds(3))
        #expect(fixture.cluster.log(of: Self.results)?.logEnd == 1)
        #expect(fixture.cluster.log(of: Self.results)?.highWatermark == 0)
        #expect(fixture.results.isEmpty)
        #expect(isDelivered(report) == nil)

        fixture.network.reach { $0.holdReplication(of: Self.results, false) }
        fixture.pass(.seconds(3))
        #expect(fixture.results == ["a"])
        #expect(isDelivered(report) == true)
    }

    // MARK: - A deleted topic

    /// A classic member itself notices the deletion: a cooperative one loses its partitions.
    @Test(arguments: zip([SimulatedConsumerSettings.Assignor.range, .cooperativeSticky], ["revoked", "lost"]))
    func `Partitions of a deleted topic are given up`(assignor: SimulatedConsumerSettings.Assignor, event: String) {
        let fixture = ClientFixture()
        let (consumer, events) = fixture.consumer("c") { $0.assignor = assignor }
        fixture.append(["a", "b"])
        fixture.pass(.seconds(3))
        #expect(values(consumer.takeRecords(max: 10)) == ["a", "b"])

        fixture.network.reach { _ = $0.deleteTopic(DeleteTopicRequest("requests")) }
        fixture.pass(.seconds(10))
        #expect(events.events.contains("\(event) [0, 1]"))
        #expect(consumer.positions.isEmpty)

        let settings = TopicSettings(partitions: 2)
        fixture.network.reach { _ = $0.createTopic(CreateTopicRequest("requests", settings)) }
        fixture.append(["c"])
        fixture.pass(.seconds(10))
        #expect(values(consumer.takeRecords(max: 10)) == ["c"])
    }

    /// The topic exists again before the client has refreshed its metadata. The group's commits went with the former topic.
    @Test func `A recreated topic is read from its first record`() throws {
        let fixture = ClientFixture()
        let (consumer, events) = fixture.consumer("c")
        fixture.append(["a", "b"])
        fixture.pass(.seconds(3))
        let former = try #require(consumer.takeRecords(max: 10).first).partition

        fixture.remakeTopic()
        fixture.append(["c"])
        fixture.pass(.seconds(3))
        #expect(consumer.takeRecords(max: 10).isEmpty)
        fixture.pass(.seconds(1))
        let records = consumer.takeRecords(max: 10)
        #expect(values(records) == ["c"])
        #expect(records.first?.partition.id == former.id)
        #expect(records.first?.partition != former)
        #expect(events.events.last == "restarted [0]")
    }

    /// The client has returned no record of the former topic, but its position is behind an aborted record and its marker.
    @Test func `A client skips records of a recreated topic below its position`() {
        let fixture = ClientFixture()
        let (consumer, _) = fixture.consumer("c")
        var (begins, waits): ([Int64], [Int64]) = ([], [])
        consumer.onRead = { _, begin, _, _ in begins.append(begin) }
        consumer.onWaiting = { partition, begin, _ in if partition.partition == 0 { waits.append(begin) } }
        fixture.appendInTransactions([.abort])
        fixture.pass(.seconds(3))
        #expect(waits.last == 0)

        fixture.remakeTopic(with: ["a", "b"])
        fixture.pass(.seconds(3))
        #expect(consumer.takeRecords(max: 10).isEmpty)
        #expect(waits.last == 2)
        fixture.append(["c", "d"])
        fixture.pass(.seconds(3))
        #expect(values(consumer.takeRecords(max: 10)) == ["c", "d"])
        #expect(begins == [2, 3])
    }

    /// A commit that was rejected because the topic did not exist is not retried if the topic has been recreated by then.
    @Test func `An offset of a topic is not committed to the recreated one`() throws {
        let fixture = ClientFixture()
        let (consumer, _) = fixture.consumer("c")
        fixture.append(["a", "b", "c"])
        fixture.pass(.seconds(3))
        let former = try #require(consumer.takeRecords(max: 10).first).partition
        consumer.store([(former, CommittedOffset(3))])

        fixture.network.reach { _ = $0.deleteTopic(DeleteTopicRequest("requests")) }
        #expect(fixture.call { consumer.commit(within: .seconds(5), reply: $0) } == nil)
        #expect(consumer.refusedCommits.keys.map(\.self) == [former])
        let settings = TopicSettings(partitions: 2)
        fixture.network.reach { _ = $0.createTopic(CreateTopicRequest("requests", settings)) }
        fixture.pass(.seconds(2))
        fixture.append(["d", "e", "f"])
        fixture.pass(.seconds(70))

        #expect(fixture.call { consumer.commit(within: .seconds(5), reply: $0) } == nil)
        #expect(fixture.cluster.committed(by: "workers").isEmpty)
        #expect(consumer.refusedCommits.isEmpty)
        _ = consumer.takeRecords(max: 10)
        fixture.pass(.seconds(1))
        #expect(values(consumer.takeRecords(max: 10)) == ["d", "e", "f"])
    }

    /// A commit reached the new topic: it looks like a truncated log.
    @Test func `A partition whose offset is beyond its end is read no more`() {
        let fixture = ClientFixture()
        let (consumer, events) = fixture.consumer("c")
        var paused: [PartitionID] = []
        consumer.onPaused = { paused.append($0) }
        fixture.append(["a", "b"])
        fixture.pass(.seconds(3))
        let taken = consumer.takeRecords(max: 10)

        fixture.remakeTopic()
        consumer.store(taken.map { ($0.partition, CommittedOffset($0.offset + 1)) })
        #expect(fixture.call { consumer.commit(within: .seconds(5), reply: $0) } == nil)
        fixture.append(["c"])
        for _ in 0..<3 {
            fixture.pass(.seconds(2))
            #expect(consumer.takeRecords(max: 10).isEmpty)
        }
        #expect(paused == [PartitionID("requests", 0)])
        #expect(!events.events.contains { $0.hasPrefix("restarted") })
    }

    // MARK: - A client that stands still

    /// None of its code runs, not even for an answer in flight, which would make it send the next request.
    @Test func `A frozen client sends nothing`() {
        let fixture = ClientFixture()
        var sent: [Int64] = []
        fixture.network.fate = { message in
            if message.client == "c" { sent.append(fixture.scheduler.now) }
            return SimulatedNetwork.Fate(requestDelay: .milliseconds(20), answerDelay: .milliseconds(20))
        }
        let (_, events) = fixture.consumer("c")
        fixture.pass(.seconds(5) + .milliseconds(10))
        #expect(events.events == ["assigned [0, 1]"])

        let (start, end) = (fixture.scheduler.now, fixture.scheduler.now + .seconds(4))
        fixture.network.freeze("c", until: end)
        fixture.pass(.seconds(10))
        #expect(!sent.contains { start < $0 && $0 < end })
        #expect(sent.contains { $0 >= end })
        // Shorter than its session timeout, so that the group has noticed nothing.
        #expect(events.events == ["assigned [0, 1]"])
    }

    @Test func `Answers reach a frozen client in their order`() {
        let fixture = ClientFixture()
        fixture.network.fate = { _ in
            SimulatedNetwork.Fate(requestDelay: .milliseconds(20), answerDelay: .milliseconds(20))
        }
        var answered: [Int] = []
        for number in 1...3 {
            fixture.send(from: "c", answer: number) { result in
                if case .success(let answer) = result { answered.append(answer) }
            }
        }
        // The answers are in flight.
        fixture.pass(.milliseconds(30))
        fixture.network.freeze("c", until: fixture.scheduler.now + .seconds(2))
        fixture.pass(.seconds(1))
        #expect(answered.isEmpty)
        fixture.pass(.seconds(2))
        #expect(answered == [1, 2, 3])
    }

    /// The group removes a member that stands still for longer than its session timeout, and accepts it again afterwards.
    @Test(arguments: SimulatedConsumerTests.kinds)
    func `A member that is frozen for too long loses its partitions`(
        kind: @Sendable (inout SimulatedConsumerSettings) -> Void
    ) {
        let fixture = ClientFixture {
            $0.consumerSessionTimeout = .seconds(6)
            $0.consumerHeartbeatInterval = .seconds(1)
        }
        let (frozen, events) = fixture.consumer("frozen", kind)
        fixture.pass(.seconds(3))
        let (other, _) = fixture.consumer("other", kind)
        fixture.pass(.seconds(20))
        #expect(frozen.positions.count == 1)
        #expect(other.positions.count == 1)

        fixture.network.freeze("frozen", until: fixture.scheduler.now + .seconds(15))
        fixture.pass(.seconds(14))
        #expect(other.positions.count == 2)
        // It has not noticed the removal, and still has its partitions.
        #expect(frozen.positions.count == 1)
        #expect(!events.events.contains { $0.hasPrefix("lost") })

        fixture.pass(.seconds(30))
        #expect(events.events.contains { $0.hasPrefix("lost [") })
        #expect(frozen.positions.count == 1)
        #expect(other.positions.count == 1)
    }

    // MARK: - KIP-848

    /// A partition belongs to its member until a heartbeat confirms the revocation, however long that takes.
    @Test func `A partition belongs to its member until the revocation has completed`() {
        let fixture = ClientFixture()
        let (first, events) = fixture.consumer("first") { $0.groupProtocol = .consumer }
        fixture.pass(.seconds(3))
        #expect(first.positions.count == 2)

        events.isHolding = true
        let (second, _) = fixture.consumer("second") { $0.groupProtocol = .consumer }
        fixture.pass(.seconds(20))
        #expect(events.events.last?.hasPrefix("revoked [") == true)
        #expect(second.positions.isEmpty)

        events.release()
        fixture.pass(.seconds(20))
        #expect(first.positions.count == 1)
        #expect(second.positions.count == 1)
        #expect(Set((first.positions + second.positions).map(\.partition.id.partition)) == [0, 1])
    }
}
