import Basics
import EventLoop
import InMemoryLogging
import KafkaTestSupport
import TestSupport
import Testing

@testable import Kafka

/// Transactions while the brokers are unreachable, and the time limit of every call.
@Suite(.serialized, .closesClients, .timeLimit(.minutes(2)))
struct TransactionTests {
    /// Runs `body` with a transactional producer whose only broker does not listen.
    private func withBrokerAway(
        notebook: InMemoryLogHandler? = nil, _ body: (KafkaProducer) async throws -> Void
    ) async throws {
        let fixture = try KafkaFixture()
        fixture.broker.embedded?.set(broker: 1, isUp: false)
        let producer = try fixture.producer(notebook: notebook) { $0.transactionalID = fixture.broker.name("x") }

        try await body(producer)
    }

    @Test(.enabled(if: TestBroker.isEmbedded, "only the embedded broker can be told to fail"))
    func `The wait for the brokers ends at once if the end is now`() async throws {
        try await withBrokerAway { producer in
            let starting = Task { try await producer.initTransactions() }
            try await eventually("the producer asks the brokers") { await producer.isAskingAboutTransactions }

            let begin = Instant.now
            await producer.endTransactions(by: begin)
            let error = await #expect(throws: KafkaError.self) { try await starting.value }

            #expect(error?.kind == .timedOut)
            #expect(Instant.now - begin < .seconds(5))
        }
    }

    @Test(.enabled(if: TestBroker.isEmbedded, "only the embedded broker can be told to fail"))
    func `The wait for the brokers ends at the instant that was set`() async throws {
        try await withBrokerAway { producer in
            let end = Instant.now + .milliseconds(600)
            let starting = Task { try await producer.initTransactions() }
            try await eventually("the producer asks the brokers") { await producer.isAskingAboutTransactions }

            await producer.endTransactions(by: end)
            await #expect(throws: KafkaError.self) { try await starting.value }

            #expect(Instant.now >= end)
            #expect(Instant.now < end + .seconds(5))
        }
    }

    @Test(.enabled(if: TestBroker.isEmbedded, "only the embedded broker can be told to fail"))
    func `The log names the unreachable broker while transactions cannot begin`() async throws {
        let notebook = InMemoryLogHandler()
        try await withBrokerAway(notebook: notebook) { producer in
            let starting = Task { try await producer.initTransactions() }

            do {
                try await eventually("the log says that no broker answers", within: .seconds(10)) {
                    notebook.entries.contains { entry in
                        "\(entry.message)".contains("no broker answers")
                            && "\(entry.metadata)".contains("(Connection refused)")
                            && "\(entry.metadata)".contains("127.0.0.1:")
                    }
                }
            } catch {
                Issue.record("\(error); the log has \(notebook.entries.map { "\($0.message) \($0.metadata)" })")
            }

            await producer.endTransactions(by: .now)
            let error = await #expect(throws: KafkaError.self) { try await starting.value }
            #expect(error?.description.contains("(Connection refused)") == true)
        }
    }

    // MARK: - Flushing

    /// Runs `body` with an open transaction and a topic without a leader, so that its records are never sent.
    private func withLeaderlessTopic(
        properties: [String: String] = [:],
        _ body: (KafkaFixture, KafkaProducer, _ leaderless: String) async throws -> Void
    ) async throws {
        let fixture = try KafkaFixture(partitions: 1, others: ["leaderless": 1])
        let leaderless = fixture.broker.name("leaderless")
        fixture.broker.embedded?.setError(5, ofTopic: leaderless)  // LEADER_NOT_AVAILABLE
        let producer = try fixture.producer {
            $0.transactionalID = fixture.broker.name("x")
            $0.properties = properties
        }
        try await producer.initTransactions()
        try await producer.beginTransaction()

        try await body(fixture, producer, leaderless)
    }

    /// librdkafka purges records that were not sent, and reports them as purged.
    @Test(.enabled(if: TestBroker.isEmbedded, "only the embedded broker can be told to fail"))
    func `A refused record ends the flush of its transaction`() async throws {
        try await withLeaderlessTopic { fixture, producer, leaderless in
            fixture.broker.embedded?.fail(.produce, with: 10)  // MSG_SIZE_TOO_LARGE
            let waiting = try await producer.handOver(ProducerRecord(topic: leaderless, value: [1]))
            let refused = try await producer.handOver(fixture.record([2]))

            let begin = Instant.now
            #expect(await producer.flush(within: .seconds(25)))
            #expect(Instant.now - begin < .seconds(20))
            let reason = await #expect(throws: KafkaError.self) { try await producer.confirm(refused) }
            #expect(reason?.kind == .recordTooLarge)
            let purge = await #expect(throws: KafkaError.self) { try await producer.confirm(waiting) }
            #expect(purge?.kind == .other)
            #expect(purge?.isTopicRefusal == false)
            try await producer.abortTransaction()
        }
    }

    @Test(.enabled(if: TestBroker.isEmbedded, "only the embedded broker can be told to fail"))
    func `A flush leaves half of the transaction's time for its end`() async throws {
        try await withLeaderlessTopic(properties: ["transaction.timeout.ms": "8000"]) { fixture, producer, leaderless in
            let waiting = try await producer.handOver(ProducerRecord(topic: leaderless, value: [1]))

            let begin = Instant.now
            #expect(await !producer.flush(within: .seconds(25)))
            let time = Instant.now - begin
            #expect(time >= .milliseconds(3900))
            #expect(time < .seconds(8))

            try await producer.abortTransaction()
            await #expect(throws: KafkaError.self) { try await producer.confirm(waiting) }
        }
    }

    // MARK: - A call that blocks its client

    /// Returns the membership of a consumer with the only partition.
    private func membership(in fixture: KafkaFixture) async throws -> GroupMembership {
        let consumer = try fixture.consumer()
        let notes = try await fixture.join(consumer)
        try await eventually("the partition is assigned", within: .seconds(20)) { await !notes.assigned.isEmpty }
        return try #require(await consumer.membership)
    }

    private func runTransaction(of producer: KafkaProducer, as membership: GroupMembership, _ topic: String)
        async throws
    {
        try await producer.beginTransaction()
        try await producer.send(ProducerRecord(topic: topic, value: [1]))
        try await producer.sendOffsets([(TopicPartition(topic, 0), CommittedOffset(1))], as: membership)
        try await producer.commitTransaction()
    }

    /// Returns a producer that was closed while it was blocked by a call to send offsets.
    private func hungProducer(
        _ id: String, as membership: GroupMembership, _ fixture: KafkaFixture
    ) async throws -> KafkaProducer {
        let producer = try fixture.producer(closesAfterTest: false) { $0.transactionalID = id }
        try await producer.initTransactions()
        let error = await #expect(throws: KafkaError.self) {
            try await runTransaction(of: producer, as: membership, fixture.topic)
        }
        #expect(error?.kind == .hung)
        await producer.close()
        return producer
    }

    /// The group's coordinator answers late. librdkafka goes on waiting for it in spite of the call's timeout.
    @Test(.enabled(if: TestBroker.isEmbedded, "only the embedded broker can be told to be late"))
    func `A producer blocked by its call is replaced, and freed when the call returns`() async throws {
        let fixture = try KafkaFixture(partitions: 1)
        let membership = try await membership(in: fixture)
        let id = fixture.broker.name("x")
        try fixture.broker.embedded?.fail(.txnOffsetCommit, with: [0], broker: 1, delay: .seconds(22))

        let begin = Instant.now
        weak let held = try await hungProducer(id, as: membership, fixture)
        #expect(Instant.now - begin < .seconds(20))
        let isKept = held != nil
        #expect(isKept, "the call keeps the client")

        let successor = try fixture.producer { $0.transactionalID = id }
        try await successor.initTransactions()
        try await runTransaction(of: successor, as: membership, fixture.topic)
        #expect(Instant.now - begin < .seconds(22), "nobody waits for the call")

        try await eventually("the call returns, and the client is freed", within: .seconds(40)) { held == nil }
    }
}
