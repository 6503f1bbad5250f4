import EventLoop
import KafkaTestSupport
import TestSupport
import Testing

@testable import Kafka

/// The end of a partition whose last offsets hold no record.
@Suite(.serialized, .closesClients, .timeLimit(.minutes(3)))
struct PartitionEndTests {
    private static let onlyEmbedded: Comment = "other brokers accept no marker from a client"

    @Test(.enabled(if: TestBroker.isEmbedded, Self.onlyEmbedded))
    func `A transaction marker behind the last record is reported once it is reached`() async throws {
        let fixture = try KafkaFixture(partitions: 1)
        let producer = try fixture.producer()
        let consumer = try fixture.consumer()
        try await fixture.fill(10, partition: 0, with: producer)
        let notes = try await fixture.join(consumer)
        let partition = try #require(try await consumer.read(10).first).partition

        let reading = Task { try await consumer.read(1) }
        try await fixture.appendMarker()
        try await eventually("the marker is passed") { await notes.passed[partition] == 10..<11 }

        try await fixture.fill(1, partition: 0, with: producer)
        #expect(try await reading.value.map(\.offset) == [11])
    }

    /// A group that begins anew at an offset before the marker reads no record.
    @Test(.enabled(if: TestBroker.isEmbedded, Self.onlyEmbedded))
    func `A transaction marker at the committed offset is reported`() async throws {
        let fixture = try KafkaFixture(partitions: 1)
        try await fixture.fill(10, partition: 0, with: try fixture.producer())
        try await fixture.appendMarker()
        let first = try fixture.consumer()
        try await fixture.join(first)
        let read = try await first.read(10)
        await first.store([(partition: try #require(read.first).partition, next: 10)])
        await first.close()

        let second = try fixture.consumer()
        let notes = try await fixture.join(second)
        let reading = Task { try await second.records(max: 1) }
        try await eventually("the marker is passed") { await notes.passed.values.first == 10..<11 }
        await second.stopReading()
        #expect(try await reading.value.isEmpty)
    }
}

extension KafkaFixture {
    /// Appends the marker of a committed transaction to the first partition, as brokers do. The embedded broker writes
    /// none itself, but stores what a client sends.
    fileprivate func appendMarker() async throws {
        let port = try #require(broker.bootstrapServers.split(separator: ":").last.flatMap { Int($0) })
        let connection = try LoopbackConnection(port: port)
        connection.send(Self.request(toAppend: Self.marker, to: topic))
        try await eventually("the broker answers") { !connection.readAvailable().isEmpty }
    }

    /// A batch with one control record: see "Record Batch" and "Control Batches" in Kafka's documentation.
    private static var marker: [UInt8] {
        // The lengths are in zigzag encoding. The key has version 0 and type 1, which is a commit.
        let record: [UInt8] = [32, 0, 0, 0, 8, 0, 0, 0, 1, 12, 0, 0, 0, 0, 0, 0, 0]
        let contents = joined(
            bytes(Int32(0)), [2], bytes(Int32(0)),  // leader epoch, format, checksum
            bytes(Int16(0x30)), bytes(Int32(0)),  // a control record of a transaction, at the first offset
            bytes(Int64(0)), bytes(Int64(0)),  // times
            bytes(Int64(7)), bytes(Int16(0)), bytes(Int32(-1)),  // producer
            bytes(Int32(1)), record)
        return joined(bytes(Int64(0)), bytes(Int32(contents.count)), contents)
    }

    /// A Produce request of version 7 for the first partition.
    private static func request(toAppend batch: [UInt8], to topic: String) -> [UInt8] {
        let request = joined(
            bytes(Int16(0)), bytes(Int16(7)), bytes(Int32(1)), bytes(Int16(0)),  // header without a client's name
            bytes(Int16(-1)), bytes(Int16(-1)), bytes(Int32(1000)),  // no transactional id, all replicas, timeout
            bytes(Int32(1)), bytes(Int16(topic.utf8.count)), Array(topic.utf8),
            bytes(Int32(1)), bytes(Int32(0)), bytes(Int32(batch.count)), batch)
        return joined(bytes(Int32(request.count)), request)
    }

    private static func joined(_ parts: [UInt8]...) -> [UInt8] { parts.flatMap { $0 } }

    private static func bytes(_ number: some FixedWidthInteger) -> [UInt8] {
        stride(from: number.bitWidth - 8, through: 0, by: -8).map { UInt8(truncatingIfNeeded: number >> $0) }
    }
}
