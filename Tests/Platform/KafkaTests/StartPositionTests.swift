import EventLoop
import KafkaTestSupport
import Logging
import TestSupport
import Testing

@testable import Kafka

/// A group's start positions, and its offsets before its first commit.
@Suite(.serialized, .closesClients, .timeLimit(.minutes(3)))
struct StartPositionTests {
    /// Tansu 0.6 returns the number of batches as a partition's end, and answers 0 for any time.
    private static let onlyEmbedded: Comment = "the other broker says wrongly where a partition ends"

    /// Returns a broker whose only partition has ten records, and the producer that has written them.
    private func filled() async throws -> (KafkaFixture, KafkaProducer) {
        let fixture = try KafkaFixture(partitions: 1)
        let producer = try fixture.producer()
        try await fixture.fill(10, partition: 0, with: producer)
        return (fixture, producer)
    }

    /// Lets a member of the group commit the offset 4.
    private func commit(in fixture: KafkaFixture) async throws {
        let member = try fixture.consumer()
        try await fixture.join(member)
        let partition = try #require(try await member.read(10).first).partition
        await member.store([(partition: partition, next: 4)])
        await member.close()
    }

    /// Subscribes and waits until the only partition's offsets are known.
    private func join(_ consumer: KafkaConsumer, _ fixture: KafkaFixture) async throws -> KafkaConsumer.Position {
        try await fixture.join(consumer)
        try await eventually("the offsets are known") {
            let position = await consumer.positions.first
            return position?.committed != nil && position?.end != nil
        }
        return try #require(await consumer.positions.first)
    }

    @Test func `A group with a committed offset continues there`() async throws {
        let (fixture, _) = try await filled()
        try await commit(in: fixture)

        let consumer = try fixture.consumer()
        try await fixture.join(consumer)

        #expect(try await consumer.read(6).map(\.offset) == Array(4..<10))
    }

    // MARK: - Positions

    @Test func `A position shows the committed offset before the first commit of its assignment`() async throws {
        let (fixture, _) = try await filled()
        try await commit(in: fixture)

        let position = try await join(try fixture.consumer(), fixture)

        #expect(position.committed == 4)
        #expect(position.end == 10)
    }

    @Test(.enabled(if: TestBroker.isEmbedded, Self.onlyEmbedded))
    func `The position of a group without offsets shows where reading begins`() async throws {
        let (fixture, _) = try await filled()

        let position = try await join(try fixture.consumer(), fixture)

        #expect(position.committed == 0)
        #expect(position.end == 10)
    }

    @Test func `A position shows the offset that a transaction committed`() async throws {
        let (fixture, _) = try await filled()
        let consumer = try fixture.consumer()
        let partition = try await join(consumer, fixture).partition

        await consumer.noteCommitted([(partition: partition, next: 7)])
        await consumer.noteCommitted([(partition: AssignedPartition(partition.id, epoch: 99), next: 9)])

        #expect(await consumer.positions.first?.committed == 7)
    }
}
