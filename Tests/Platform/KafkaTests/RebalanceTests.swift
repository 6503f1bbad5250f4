import EventLoop
import InMemoryLogging
import KafkaTestSupport
import TestSupport
import Testing

@testable import Kafka

/// Assignments and revocations. The embedded coordinator takes seconds for each rebalance.
@Suite(.serialized, .closesClients)
struct RebalanceTests {
    /// Offsets that are stored while a revocation waits are committed before the other member reads, so nothing is read twice.
    @Test func `The next member reads only after the last offset is committed`() async throws {
        // A heartbeat during the rebalance makes its member join once more. The mock rejects commits until the group is stable again
        // (a real broker accepts them). That is rare, so the test is repeated with another group.
        for _ in 1...3 {
            if try await commitsBeforeHandingOver() { return }
        }
        Issue.record("every commit before a handover was refused")
    }

    /// - Returns: False if the group rejected the commit. Then the consumer logged that, and the other member reads everything again.
    private func commitsBeforeHandingOver() async throws -> Bool {
        let fixture = try KafkaFixture(partitions: 2)
        fixture.broker.embedded?.setGroupDelay(.milliseconds(100))
        let producer = try fixture.producer()
        // The mock rejects eager commits during a revocation (a real broker accepts them), but not cooperative ones. This version's
        // cooperative-sticky assignor suffices for two members.
        let notebook = InMemoryLogHandler()
        let first = try fixture.consumer(session: 10_000, assignor: "cooperative-sticky", notebook: notebook)
        let second = try fixture.consumer(session: 10_000, assignor: "cooperative-sticky")
        for partition in [Int32(0), 1] { try await fixture.fill(20, partition: partition, with: producer) }
        let firstNotes = Notes { @Sendable [first] in
            // Stands for requests in flight that finish only now.
            let notes = await first.positions.map { (partition: $0.partition, next: CommittedOffset(15)) }
            await first.store(notes)
        }
        try await fixture.join(first, as: firstNotes)
        #expect(try await first.read(40).count == 40)
        try await fixture.join(second)
        let read = try await second.read(5, within: .seconds(60))
        let isRefused = notebook.entries.contains { "\($0.message)".contains("revoked partitions were not committed") }
        #expect(read.map(\.offset) == (isRefused ? [0, 1, 2, 3, 4] : [15, 16, 17, 18, 19]))
        let moved = try #require(read.first).partition
        #expect(await firstNotes.revoked.map(\.id) == [moved.id])
        // An offset for an ended assignment is skipped, and the new owner's offsets are not changed.
        let stale = await first.staleOffsets
        let old = try #require(await firstNotes.revoked.first)
        await first.store([(partition: old, next: 3)])
        #expect(await first.staleOffsets == stale + 1)
        return !isRefused
    }

    /// librdkafka leaves a group only after the revocation is acknowledged.
    @Test(arguments: ["range", "cooperative-sticky"])
    func `A member that leaves does not wait for its time limit`(assignor: String) async throws {
        let fixture = try KafkaFixture(partitions: 2)
        let producer = try fixture.producer()
        try await fixture.fill(5, partition: 0, with: producer)
        let consumer = try fixture.consumer(session: 10_000, assignor: assignor)
        let notes = try await fixture.join(consumer)
        #expect(try await consumer.read(5, within: .seconds(60)).count == 5)

        let (bound, start) = (Duration.seconds(60), ContinuousClock.now)
        await consumer.close(within: bound)
        #expect(start.duration(to: .now) < bound / 2)
        #expect(await notes.revoked.count == 2)
    }

    /// librdkafka does not wait for the answer to an assignment then, and may drop it.
    @Test(.timeLimit(.minutes(2)), arguments: [0, 1, 3, 9])
    func `A member can leave while its assignment is not answered`(delay: Int) async throws {
        let fixture = try KafkaFixture(partitions: 2)
        let consumer = try fixture.consumer(session: 10_000, assignor: "range")
        let (released, release) = AsyncStream<Void>.makeStream()
        let notes = Notes(whileAssigning: { for await _ in released {} })
        try await consumer.subscribe(to: [fixture.topic], listener: notes)
        try await eventually("an assignment", within: .seconds(60)) { await !notes.assigned.isEmpty }

        let (bound, start) = (Duration.seconds(5), ContinuousClock.now)
        async let closing: Void = consumer.close(within: bound)
        // The answers to LeaveGroup and to the assignment meet within milliseconds.
        try await Task.sleep(for: .milliseconds(delay))
        release.finish()
        await closing
        // If librdkafka drops the answer, freeing the client takes the whole bound.
        #expect(start.duration(to: .now) < bound * 2)
    }

    /// A coordinator that assigns partitions of unknown topics, as one with broken patterns did: the client subscribes to a second
    /// topic without the consumer.
    @Test(arguments: ["range", "cooperative-sticky"])
    func `Partitions of unsubscribed topics are released unread`(assignor: String) async throws {
        let fixture = try KafkaFixture(partitions: 2, others: ["outcomes": 2])
        fixture.broker.embedded?.setGroupDelay(.milliseconds(100))
        let producer = try fixture.producer()
        for partition in [Int32(0), 1] {
            try await fixture.fill(5, partition: partition, with: producer)
            try await producer.send(
                ProducerRecord(topic: fixture.broker.name("outcomes"), partition: partition, value: Array("own".utf8)))
        }

        let notebook = InMemoryLogHandler()
        let consumer = try fixture.consumer(session: 10_000, assignor: assignor, notebook: notebook)
        let notes = try await fixture.join(consumer)
        try await consumer.subscribeBehindItsBack(to: [fixture.topic, fixture.broker.name("outcomes")])
        let read = try await consumer.read(10, within: .seconds(60))
        #expect(read.allSatisfy { $0.partition.id.topic == fixture.topic })
        try await eventually("the log names what is given back", within: .seconds(60)) {
            notebook.entries.contains { "\($0.message)".contains("released unread") }
        }

        // Records of the other topic would have arrived by then: there are none.
        try await fixture.fill(5, partition: 0, with: producer)
        #expect(try await consumer.read(5).allSatisfy { $0.partition.id.topic == fixture.topic })
        #expect(await consumer.positions.allSatisfy { $0.partition.id.topic == fixture.topic })
        #expect(await notes.assigned.allSatisfy { $0.id.topic == fixture.topic })
        #expect(notebook.entries.count { "\($0.message)".contains("released unread") } == 1)
    }

    @Test(.enabled(if: TestBroker.isEmbedded, "only the embedded broker can be told to fail"))
    func `A member that lost its partitions is notified and commits nothing`() async throws {
        let fixture = try KafkaFixture(partitions: 1)
        fixture.broker.embedded?.setGroupDelay(.milliseconds(100))
        let (producer, consumer) = (try fixture.producer(), try fixture.consumer())
        try await fixture.fill(10, partition: 0, with: producer)
        let notes = try await fixture.join(consumer)
        let partition = try #require(try await consumer.read(10).first).partition
        await consumer.store([(partition: partition, next: 10)])
        fixture.broker.embedded?.fail(.heartbeat, with: 25, count: 1)  // UNKNOWN_MEMBER_ID
        try await eventually("the partition is lost") { await notes.lost == [partition] }
        // It comes back as a new assignment, from the beginning.
        let again = try await consumer.read(10)
        #expect(again.map(\.offset) == Array(0..<10))
        #expect(again.allSatisfy { $0.partition.id == partition.id && $0.partition.epoch > partition.epoch })
    }

    /// librdkafka is in a generation from the answer to JoinGroup, but the answer to SyncGroup names the partitions that
    /// it has lost. Brokers would accept offsets of those in between.
    @Test(.enabled(if: TestBroker.isEmbedded, "only the embedded broker can delay an answer"))
    func `A member has no membership before the assignment of its generation has arrived`() async throws {
        let fixture = try KafkaFixture(partitions: 2)
        fixture.broker.embedded?.setGroupDelay(.milliseconds(100))
        let first = try fixture.consumer(session: 10_000, assignor: "cooperative-sticky")
        try await fixture.join(first)
        try await eventually("partitions are assigned", within: .seconds(90)) { await first.membership != nil }

        let answers = [Int32](repeating: 0, count: 2)
        try fixture.broker.embedded?.fail(.syncGroup, with: answers, broker: 1, delay: .seconds(3))
        let former = await first.generations
        let second = try fixture.consumer(session: 10_000, assignor: "cooperative-sticky")
        try await fixture.join(second)
        try await eventually("a generation without a membership", within: .seconds(90)) {
            let now = await first.generations
            return now.joined != former.joined && now.ofMembership == nil
        }
        try await eventually("a membership of a later generation", within: .seconds(90)) {
            let now = await first.generations
            return now.ofMembership == now.joined && now.joined != former.joined
        }
        // librdkafka before 2.3 crashes if a cooperative member is closed before its first assignment. On a busy machine the
        // group may have to form several times: the embedded broker refuses a SyncGroup that comes after the leader's.
        try await eventually("the second member's assignment", within: .seconds(90)) { await second.membership != nil }
    }

    /// No records are read for longer than `max.poll.interval.ms`. The member stays in the group, and its prefetch waits.
    @Test func `A member that reads nothing stays in the group`() async throws {
        let fixture = try KafkaFixture(partitions: 1)
        fixture.broker.embedded?.setGroupDelay(.milliseconds(100))
        let producer = try fixture.producer()
        // Other brokers than the embedded one require sessions of at least 6 s.
        let interval = TestBroker.isEmbedded ? 3000 : 6000
        let consumer = try fixture.consumer(session: interval) {
            $0.properties["max.poll.interval.ms"] = "\(interval)"
        }
        try await fixture.fill(10, partition: 0, with: producer)
        let notes = try await fixture.join(consumer)
        #expect(try await consumer.read(1).map(\.offset) == [0])
        // The test checks that so much time changes nothing, so there is no condition to wait for.
        try await Task.sleep(for: .milliseconds(interval + interval / 2))
        #expect(try await consumer.read(9).map(\.offset) == Array(1..<10))
        #expect(await notes.lost.isEmpty)
        #expect(await notes.revoked.isEmpty)
    }

    @Test(.enabled(if: TestBroker.isEmbedded, "only the embedded broker can be told to fail"))
    func `A consumer notices that a broker is unreachable and reachable again`() async throws {
        let fixture = try KafkaFixture(partitions: 1)
        let (producer, consumer) = (try fixture.producer(), try fixture.consumer(session: 30_000))
        try await fixture.fill(1, partition: 0, with: producer)
        try await fixture.join(consumer)
        #expect(try await consumer.read(1).count == 1)
        fixture.broker.embedded?.set(broker: 1, isUp: false)
        try await eventually("the broker is missed") { await consumer.brokersAreDown }
        fixture.broker.embedded?.set(broker: 1, isUp: true)
        try await eventually("the broker is back") { await !consumer.brokersAreDown }
        try await fixture.fill(1, partition: 0, with: producer)
        #expect(try await consumer.read(1).map(\.offset) == [1])
    }
}

extension KafkaConsumer {
    /// Makes the group assign partitions of topics that the consumer does not know.
    fileprivate func subscribeBehindItsBack(to topics: [String]) throws(KafkaError) { try client.subscribe(to: topics) }

    /// The generation that librdkafka is in, and that of the membership at the same time.
    fileprivate var generations: (joined: Int32?, ofMembership: Int32?) {
        (GroupMembership.name(of: client)?.generation, membership?.name?.generation)
    }
}
