import EventLoop
import KafkaTestSupport
import Logging
import TestSupport
import Testing

@testable import Kafka

/// A group's start positions, and its offsets before its first commit.
@Suite(.serialized, .timeLimit(.minutes(3)))
struct StartPositionTests {
    /// Tansu 0.6 returns the number of batches as a partition's end, and answers 0 for any time.
    private static let onlyEmbedded: Comment = "the other broker says wrongly where a partition ends"

    /// Subscribes and waits until the only partition's offsets are known.
    private func join(
        _ consumer: KafkaConsumer, _ fixture: KafkaFixture, listener: Notes
    ) async throws -> KafkaConsumer.Position {
        try await consumer.subscribe(to: [fixture.topic], listener: listener)
        try await eventually("the offsets are known") {
            let position = await consumer.positions.first
            return position?.committed != nil && position?.end != nil
        }
        return try #require(await consumer.positions.first)
    }

    @Test(.enabled(if: TestBroker.isEmbedded, Self.onlyEmbedded))
    func `Group without offsets that starts from latest reads only what comes later`() async throws {
        let fixture = try KafkaFixture(partitions: 1)
        let (producer, notes) = (try fixture.producer(), Notes())
        try await fixture.fill(10, partition: 0, with: producer)
        let consumer = try fixture.consumer { $0.startFrom = .latest }

        #expect(try await join(consumer, fixture, listener: notes).committed == 10)
        try await fixture.fill(3, partition: 0, with: producer)

        #expect(try await consumer.read(3).map(\.offset) == [10, 11, 12])
        await consumer.close()
        await producer.close()
        fixture.loop.stop()
    }

    /// The first member finishes nothing. Its successor must not look for the latest offset again.
    @Test(.enabled(if: TestBroker.isEmbedded, Self.onlyEmbedded))
    func `Next member skips nothing that the first left unfinished`() async throws {
        let fixture = try KafkaFixture(partitions: 1)
        let (producer, notes) = (try fixture.producer(), Notes())
        try await fixture.fill(10, partition: 0, with: producer)
        let first = try fixture.consumer { $0.startFrom = .latest }
        _ = try await join(first, fixture, listener: notes)
        try await fixture.fill(5, partition: 0, with: producer)
        #expect(try await first.read(5).count == 5)
        await first.close()

        let second = try fixture.consumer { $0.startFrom = .latest }
        try await second.subscribe(to: [fixture.topic], listener: notes)

        #expect(try await second.read(5).map(\.offset) == [10, 11, 12, 13, 14])
        await second.close()
        await producer.close()
        fixture.loop.stop()
    }

    /// The note about the topic's state at the beginning of the group is in the offset's metadata, where every member finds it.
    @Test(.enabled(if: TestBroker.isEmbedded, Self.onlyEmbedded))
    func `Start is committed with the number of partitions`() async throws {
        let fixture = try KafkaFixture(partitions: 1)
        let producer = try fixture.producer()
        try await fixture.fill(10, partition: 0, with: producer)
        let consumer = try fixture.consumer { $0.startFrom = .latest }
        _ = try await join(consumer, fixture, listener: Notes())

        let id = TopicPartition(fixture.topic, 0)
        let commits = try await consumer.client.commits(of: [id], within: .seconds(10))

        #expect(commits == [id: CommittedOffset(10, fields: [GroupHistory.note(partitions: 1)])])
        await consumer.close()
        await producer.close()
        fixture.loop.stop()
    }

    @Test func `Group with committed offset goes on there wherever new ones start`() async throws {
        let fixture = try KafkaFixture(partitions: 1)
        let (producer, notes) = (try fixture.producer(), Notes())
        try await fixture.fill(10, partition: 0, with: producer)
        let first = try fixture.consumer()
        try await first.subscribe(to: [fixture.topic], listener: notes)
        let partition = try #require(try await first.read(10).first).partition
        await first.store([(partition: partition, next: 4)])
        await first.close()

        let second = try fixture.consumer { $0.startFrom = .latest }
        try await second.subscribe(to: [fixture.topic], listener: notes)

        #expect(try await second.read(6).map(\.offset) == Array(4..<10))
        await second.close()
        await producer.close()
        fixture.loop.stop()
    }

    @Test(.enabled(if: TestBroker.isEmbedded, Self.onlyEmbedded))
    func `Time after the last record starts with what comes later`() async throws {
        let fixture = try KafkaFixture(partitions: 1)
        let (producer, notes) = (try fixture.producer(), Notes())
        try await fixture.fill(10, partition: 0, with: producer)
        let consumer = try fixture.consumer { $0.startFrom = .time(milliseconds: 4_000_000_000_000) }

        #expect(try await join(consumer, fixture, listener: notes).committed == 10)
        try await fixture.fill(1, partition: 0, with: producer)

        #expect(try await consumer.read(1).map(\.offset) == [10])
        await consumer.close()
        await producer.close()
        fixture.loop.stop()
    }

    // MARK: - Positions

    @Test func `Position shows the committed offset before the first commit of an assignment`() async throws {
        let fixture = try KafkaFixture(partitions: 1)
        let (producer, notes) = (try fixture.producer(), Notes())
        try await fixture.fill(10, partition: 0, with: producer)
        let first = try fixture.consumer()
        try await first.subscribe(to: [fixture.topic], listener: notes)
        let partition = try #require(try await first.read(10).first).partition
        await first.store([(partition: partition, next: 4)])
        await first.close()

        let second = try fixture.consumer()
        let position = try await join(second, fixture, listener: notes)

        #expect(position.committed == 4)
        #expect(position.end == 10)
        await second.close()
        await producer.close()
        fixture.loop.stop()
    }

    @Test(.enabled(if: TestBroker.isEmbedded, Self.onlyEmbedded))
    func `Position of a group without offsets shows where reading begins`() async throws {
        let fixture = try KafkaFixture(partitions: 1)
        let (producer, notes) = (try fixture.producer(), Notes())
        try await fixture.fill(10, partition: 0, with: producer)
        let consumer = try fixture.consumer()

        let position = try await join(consumer, fixture, listener: notes)

        #expect(position.committed == 0)
        #expect(position.end == 10)
        await consumer.close()
        await producer.close()
        fixture.loop.stop()
    }

    @Test func `Position shows what a transaction committed`() async throws {
        let fixture = try KafkaFixture(partitions: 1)
        let (producer, notes) = (try fixture.producer(), Notes())
        try await fixture.fill(10, partition: 0, with: producer)
        let consumer = try fixture.consumer()
        let partition = try await join(consumer, fixture, listener: notes).partition

        await consumer.noteCommitted([(partition: partition, next: 7)])
        await consumer.noteCommitted([(partition: AssignedPartition(partition.id, epoch: 99), next: 9)])

        #expect(await consumer.positions.first?.committed == 7)
        await consumer.close()
        await producer.close()
        fixture.loop.stop()
    }
}
