import EventLoop
import KafkaTestSupport
import TestSupport
import Testing

@testable import Kafka

/// Records are read as they were written, byte for byte, over a real connection.
@Suite(.serialized, .closesClients)
struct RoundTripTests {
    @Test func `A consumer reads every part of a record as it was written`() async throws {
        let fixture = try KafkaFixture(partitions: 1)
        let (producer, consumer) = (try fixture.producer(), try fixture.consumer())
        let headers = [
            RecordHeader("a", [1, 0, 255]), RecordHeader("a", nil), RecordHeader("empty", []), RecordHeader("ünï", [0]),
        ]
        let sent = [
            ProducerRecord(
                topic: fixture.topic, key: [0, 1], value: Array("値".utf8), headers: headers,
                timestamp: 1_700_000_000_123),
            ProducerRecord(topic: fixture.topic, key: nil, value: nil),
            ProducerRecord(topic: fixture.topic, key: [], value: []),
            fixture.record([UInt8](repeating: 7, count: 200_000), partition: 0),
        ]
        for (index, record) in sent.enumerated() {
            #expect(try await producer.send(record) == RecordPosition(partition: 0, offset: Int64(index)))
        }
        try await fixture.join(consumer)
        let read = try await consumer.read(sent.count)
        for (read, sent) in zip(read, sent) {
            #expect(read.key == sent.key)
            #expect(read.value == sent.value)
            #expect(read.headers == sent.headers)
            #expect(read.partition.id == TopicPartition(fixture.topic, 0))
            #expect(sent.timestamp == nil ? read.timestamp ?? 0 > 1_700_000_000_123 : read.timestamp == sent.timestamp)
        }
        #expect(read.map(\.offset) == [0, 1, 2, 3])
    }

    @Test func `A member that returns continues at the committed offset`() async throws {
        let fixture = try KafkaFixture(partitions: 1)
        let (producer, first) = (try fixture.producer(), try fixture.consumer())
        try await fixture.fill(10, partition: 0, with: producer)
        let notes = try await fixture.join(first)
        let records = try await first.read(10)
        let partition = try #require(records.first).partition
        await first.store([(partition: partition, next: 4)])
        #expect(try await first.commit() == [partition: 4])
        #expect(await first.positions.first?.committed == 4)
        // This offset is stored and not committed. Leaving the group commits it.
        await first.store([(partition: partition, next: 7)])
        // Offsets of ended or unknown assignments are skipped.
        await first.store([(partition: AssignedPartition(partition.id, epoch: 99), next: 9)])
        #expect(await first.staleOffsets == 1)
        await first.close()
        #expect(await notes.revoked == [partition])

        let second = try fixture.consumer()
        try await fixture.join(second, as: notes)
        #expect(try await second.read(3).map(\.offset) == [7, 8, 9])
    }

    /// An offset that is stored after a commit has begun belongs to the next commit, whatever the result of the first.
    @Test(.enabled(if: TestBroker.isEmbedded, "only the embedded broker can be told to fail"))
    func `A commit that begins after a refused one succeeds`() async throws {
        let fixture = try KafkaFixture(partitions: 1)
        let (producer, consumer) = (try fixture.producer(), try fixture.consumer())
        try await fixture.fill(10, partition: 0, with: producer)
        try await fixture.join(consumer)
        let partition = try #require(try await consumer.read(10).first).partition
        await consumer.store([(partition: partition, next: 4)])
        try fixture.broker.embedded?.fail(.offsetCommit, with: [27], broker: 1, delay: .milliseconds(500))
        let refused = Task { try await consumer.commit() }
        try await eventually("the first commit has begun") { await consumer.commitsBegun == 1 }
        await consumer.store([(partition: partition, next: 7)])
        #expect(try await consumer.commit() == [partition: 7])
        await #expect(throws: KafkaError.self) { try await refused.value }
    }

    @Test func `A consumer reads other partitions while one is paused`() async throws {
        let fixture = try KafkaFixture(partitions: 2)
        let (producer, consumer) = (try fixture.producer(), try fixture.consumer())
        let notes = try await fixture.join(consumer)
        try await eventually("both partitions are assigned") { await notes.assigned.count == 2 }
        let held = try #require(await notes.assigned.first { $0.id.partition == 0 })
        await consumer.hold(held)
        try await fixture.fill(50, partition: 0, with: producer)
        try await fixture.fill(50, partition: 1, with: producer)
        #expect(Set(try await consumer.read(50).map(\.partition.id.partition)) == [1])
        await consumer.resume(held)
        let late = try await consumer.read(50)
        #expect(late.allSatisfy { $0.partition == held })
        #expect(late.map(\.offset) == Array(0..<50))
    }

    @Test func `Reading returns when its task is cancelled or the consumer closes`() async throws {
        let fixture = try KafkaFixture(partitions: 1)
        let consumer = try fixture.consumer()
        let notes = try await fixture.join(consumer)
        let reading = Task { try await consumer.records(max: 1) }
        try await eventually("the reader waits in an assigned partition") { await !notes.assigned.isEmpty }
        reading.cancel()
        #expect(try await reading.value.isEmpty)
        let other = Task { try await consumer.records(max: 1) }
        await consumer.close()
        #expect(try await other.value.isEmpty)
    }
}
