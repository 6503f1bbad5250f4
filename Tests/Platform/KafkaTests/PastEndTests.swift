import EventLoop
import InMemoryLogging
import KafkaTestSupport
import Logging
import TestSupport
import Testing

@testable import Kafka

/// A group whose committed offset is past the end of its partition: the log was truncated, or its topic was recreated.
@Suite(
    .serialized, .closesClients, .timeLimit(.minutes(3)),
    .enabled(if: TestBroker.isEmbedded, "other brokers refuse commits of groups with members"))
struct PastEndTests {
    /// Returns a partition with some records, and a committed offset of the group beyond them.
    private func fixture(records: Int) async throws -> (KafkaFixture, KafkaProducer) {
        let fixture = try KafkaFixture(partitions: 1)
        let producer = try fixture.producer()
        try await fixture.fill(records, partition: 0, with: producer)
        let admin = try fixture.consumer()
        let commit = [TopicPartition(fixture.topic, 0): CommittedOffset(500)]
        try await admin.client.commit(commit, within: .seconds(10))
        await admin.close()
        return (fixture, producer)
    }

    @Test func `A partition is paused and reported once`() async throws {
        let (fixture, producer) = try await fixture(records: 10)
        let memory = InMemoryLogHandler()
        let consumer = try fixture.consumer(notebook: memory)
        let notes = try await fixture.join(consumer)
        let reading = Task { try await consumer.records(max: 10) }

        try await eventually("it is reported", within: .seconds(30)) { await consumer.positions.first?.problem != nil }
        try await fixture.fill(5, partition: 0, with: producer)
        try await eventually("its end is known") { await (consumer.positions.first?.end ?? 0) >= 10 }
        let lines = memory.entries.filter { $0.level >= .error }
        #expect(lines.count == 1)
        #expect(lines.first?.metadata["committed"] == "500")
        let message = "\(lines.first?.message ?? "")"
        #expect(message.contains("locsearch offsets reset"))
        #expect(await consumer.positions.first?.committed == 500)
        #expect(await notes.restarted.isEmpty)

        await consumer.stopReading()
        #expect(try await reading.value.isEmpty)
    }

    @Test func `A partition is read from its beginning if the properties say so`() async throws {
        let (fixture, _) = try await fixture(records: 10)
        let consumer = try fixture.consumer { $0.properties["auto.offset.reset"] = "earliest" }
        let notes = try await fixture.join(consumer)
        #expect(try await consumer.read(10).map(\.offset) == Array(0..<10))
        #expect(await notes.restarted.count == 1)
    }

    @Test func `Reading continues at the end if the properties say so`() async throws {
        let (fixture, producer) = try await fixture(records: 10)
        let consumer = try fixture.consumer { $0.properties["auto.offset.reset"] = "latest" }
        let notes = try await fixture.join(consumer)
        let reading = Task { try await consumer.records(max: 1) }

        try await eventually("it is assigned", within: .seconds(30)) { await notes.answered.count == 1 }
        try await eventually("reading goes on", within: .seconds(30)) {
            try await fixture.fill(1, partition: 0, with: producer)
            return await notes.restarted.count == 1
        }
        let offset = try #require(try await reading.value.first).offset
        #expect(offset >= 10)
    }

    /// The brokers have meanwhile reported the topic as unknown.
    @Test func `A recreated topic is read from its first record`() async throws {
        let (fixture, producer) = try await fixture(records: 0)
        let consumer = try fixture.consumer()
        let notes = try await fixture.join(consumer)
        try await eventually("it is assigned", within: .seconds(30)) { await notes.answered.count == 1 }
        await consumer.noteMissingTopic()

        try await fixture.fill(5, partition: 0, with: producer)
        let records = try await consumer.read(5)
        #expect(records.map(\.offset) == Array(0..<5))
        let renewed = try #require(await notes.restarted.first)
        #expect(records.allSatisfy { $0.partition == renewed })
        #expect(await notes.assigned.first != renewed)
        #expect(await consumer.positions.first?.problem == nil)
    }

    /// A minute ago, the brokers rejected an offset because its topic did not exist.
    ///
    /// If such a commit reached the new topic and the worker were then killed, the new topic's requests would be skipped.
    @Test func `An offset of a topic is not committed to the recreated topic`() async throws {
        let (fixture, producer) = try await fixture(records: 0)
        let id = TopicPartition(fixture.topic, 0)
        let consumer = try fixture.consumer()
        let notes = try await fixture.join(consumer)
        try await eventually("it is assigned", within: .seconds(30)) { await notes.answered.count == 1 }
        try await eventually("the end is met") { await consumer.client.offsetResets.hasReset(of: id, beyond: 500) }
        let former = try #require(await notes.assigned.first)
        await consumer.noteMissingTopic(since: .seconds(-60))

        await consumer.store([(partition: former, next: CommittedOffset(501))])
        try await consumer.commit()
        #expect(await consumer.commitsBegun == 0)
        // A lane goes on reading if no commit is rejected.
        #expect(await consumer.refusedCommits.isEmpty)

        try await fixture.fill(3, partition: 0, with: producer)
        #expect(try await consumer.read(3).map(\.offset) == Array(0..<3))
        let renewed = try #require(await notes.restarted.first)
        await consumer.store([(partition: renewed, next: CommittedOffset(2))])
        #expect(try await consumer.commit()[renewed] == 2)
    }

    @Test(arguments: [true, false])
    func `An accepted commit shows that the topic exists`(isOfTransaction: Bool) async throws {
        let fixture = try KafkaFixture(partitions: 1)
        let producer = try fixture.producer()
        let consumer = try fixture.consumer()
        try await fixture.fill(3, partition: 0, with: producer)
        try await fixture.join(consumer)
        let partition = try #require(try await consumer.read(3).first).partition
        // So long ago that the partition's offsets are committed again.
        await consumer.noteMissingTopic(since: .seconds(-60))

        if isOfTransaction {
            await consumer.noteCommitted([(partition: partition, next: 2)])
        } else {
            await consumer.store([(partition: partition, next: CommittedOffset(2))])
            try await consumer.commit()
        }
        #expect(await !consumer.missesTopic)
    }

    // MARK: - Several topics

    /// The partition of one of two topics no longer exists at the brokers.
    @Test func `Refused offsets of one topic do not affect those of others`() async throws {
        let fixture = try KafkaFixture(partitions: 1, others: ["u": 1])
        let producer = try fixture.producer()
        let consumer = try fixture.consumer()
        try await fixture.fill(3, partition: 0, with: producer)
        try await fixture.join(consumer)
        let known = try #require(try await consumer.read(3).first).partition
        let gone = try #require(await consumer.addPartition(TopicPartition(fixture.broker.name("u"), 99)))

        await consumer.store([
            (partition: known, next: CommittedOffset(2)), (partition: gone, next: CommittedOffset(7)),
        ])
        #expect(try await consumer.commit()[known] == 2)
        #expect(await consumer.refusedCommits.mapValues(\.kind) == [gone: .unknownTopicOrPartition])
        #expect(await consumer.positions.contains { $0.partition == gone && $0.problem != nil })

        // It does not block other commits.
        try await consumer.commit()
        #expect(await consumer.refusedCommits.keys.map(\.self) == [gone])
        await consumer.store([(partition: known, next: CommittedOffset(3))])
        #expect(try await consumer.commit()[known] == 3)
    }

    /// A client whose queue is full fetches nothing.
    @Test func `The lag grows with the records while nothing is fetched`() async throws {
        let fixture = try KafkaFixture(partitions: 1)
        let producer = try fixture.producer()
        let consumer = try fixture.consumer { $0.properties["queued.min.messages"] = "1" }
        try await fixture.fill(25, partition: 0, with: producer)
        try await fixture.join(consumer)
        try await eventually("its end is known", within: .seconds(30)) { await consumer.positions.first?.end == 25 }

        try await fixture.fill(75, partition: 0, with: producer)
        await consumer.askForEnds()
        try await eventually("its end is known", within: .seconds(30)) { await consumer.positions.first?.end == 100 }
    }
}

extension KafkaConsumer {
    /// Simulates the brokers' answer to a commit that the topic is unknown.
    fileprivate func noteMissingTopic(since time: Duration = .zero) {
        for source in partitions.inOrder {
            (source.missingSince, source.commitRefusal) = (
                loop.now + time, KafkaError(.unknownTopicOrPartition, "the topic is not there")
            )
        }
    }

    /// True if the brokers reported a topic as unknown, and have accepted no commit since.
    fileprivate var missesTopic: Bool { partitions.inOrder.contains { $0.missingSince != nil } }

    fileprivate func addPartition(_ id: TopicPartition) -> AssignedPartition? { partitions.add([id]).first?.partition }

    /// Lets the minute pass after which the ends are queried again.
    fileprivate func askForEnds() { group.offsetLookup.nextOfEnds = loop.now }
}
