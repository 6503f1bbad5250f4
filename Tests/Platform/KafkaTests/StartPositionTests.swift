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

    @Test func `Group with committed offset goes on there`() async throws {
        let fixture = try KafkaFixture(partitions: 1)
        let (producer, notes) = (try fixture.producer(), Notes())
        try await fixture.fill(10, partition: 0, with: producer)
        let first = try fixture.consumer()
        try await first.subscribe(to: [fixture.topic], listener: notes)
        let partition = try #require(try await first.read(10).first).partition
        await first.store([(partition: partition, next: 4)])
        await first.close()

        let second = try fixture.consumer()
        try await second.subscribe(to: [fixture.topic], listener: notes)

        #expect(try await second.read(6).map(\.offset) == Array(4..<10))
        await second.close()
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
