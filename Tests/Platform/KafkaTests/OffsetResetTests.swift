import EventLoop
import InMemoryLogging
import KafkaTestSupport
import Logging
import TestSupport
import Testing

@testable import Kafka

/// Log lines and counts of records that were deleted before they were read.
@Suite(.serialized, .closesClients, .timeLimit(.minutes(3)))
struct OffsetResetTests {
    static let lines: [(line: String, reset: OffsetResets.Reset?)] = [
        (
            "[thrd:main]: requests [7]: offset reset (at offset 8, broker 1) to BEGINNING: fetch failed due to requested"
                + " offset not available on the broker: Broker: Offset out of range",
            .init(partition: TopicPartition("requests", 7), from: 8, toEnd: false)
        ),
        (
            "[thrd:main]: outbox.event [0]: offset reset (at offset 8 (leader epoch 8), broker 1) to offset BEGINNING"
                + " (leader epoch -1): fetch failed: Broker: Offset out of range",
            .init(partition: TopicPartition("outbox.event", 0), from: 8, toEnd: false)
        ),
        (
            "[thrd:main]: t [1]: offset reset (at offset 559 (leader epoch 0), broker 2) to offset END (leader epoch -1):"
                + " fetch failed: Broker: Offset out of range",
            .init(partition: TopicPartition("t", 1), from: 559, toEnd: true)
        ),
        (
            "[thrd:main]: t [1]: offset reset (at offset 3, broker 2) to cached BEGINNING offset 12: fetch failed",
            .init(partition: TopicPartition("t", 1), from: 3, toEnd: false)
        ),
        ("[thrd:main]: t [1]: offset reset (at offset INVALID, broker 2) to BEGINNING: no offset", nil),
        ("[thrd:main]: t [1]: offset reset (at offset 99999999999999999999, broker 2) to BEGINNING: x", nil),
        ("[thrd:main]: t [x]: offset reset (at offset 1, broker 2) to BEGINNING: x", nil),
        ("t offset reset", nil), ("", nil),
    ]

    @Test(arguments: lines)
    func `The partition and the offset of a reset are read from a line`(line: String, reset: OffsetResets.Reset?) {
        #expect(OffsetResets.parse(line) == reset)
    }

    @Test func `The line of a reset is not logged`() throws {
        let (memory, resets) = (InMemoryLogHandler(), OffsetResets())
        let log = ClientLog(Logger(label: "test") { _ in memory }, resets: resets)

        for entry in Self.lines { log.write(level: 4, facility: "OFFSET", line: entry.line) }

        #expect(resets.takeAll() == Self.lines.compactMap(\.reset))
        #expect(resets.takeAll().isEmpty)
        let unknown = Self.lines.filter { $0.reset == nil }.map { Logger.MetadataValue.string($0.line) }
        #expect(memory.entries.compactMap { $0.metadata["line"] }.contains(unknown[0]))
        #expect(memory.entries.count < Self.lines.count)
    }

    /// The embedded broker keeps the newest 5 MB of a partition.
    @Test(.enabled(if: TestBroker.isEmbedded, "only the embedded broker deletes so soon"))
    func `Requests that were deleted unread are logged in one line and counted`() async throws {
        let fixture = try KafkaFixture(partitions: 1)
        let producer = try fixture.producer()
        let first = try fixture.consumer()
        try await fixture.fill(10, partition: 0, with: producer)
        try await fixture.join(first)
        let read = try await first.read(4)
        await first.store([(partition: try #require(read.first).partition, next: 4)])
        try await first.commit()
        await first.close()

        // Each record is a batch, so the broker can delete them one by one.
        for number in 0..<120 {
            let record = fixture.record([UInt8](repeating: UInt8(number), count: 60_000), partition: 0)
            try await producer.send(record)
        }

        let memory = InMemoryLogHandler()
        let second = try fixture.consumer(notebook: memory)
        let listener = try await fixture.join(second)
        let next = try #require(try await second.read(1).first).offset
        try await eventually("what was deleted is counted") { await !listener.missed.isEmpty }

        #expect(next > 10)
        // The log continues behind the offset, so commits are not blocked.
        #expect(await !second.client.offsetResets.hasReset(of: TopicPartition(fixture.topic, 0), beyond: 0))
        #expect(await listener.missed == [TopicPartition(fixture.topic, 0): next - 4])
        let lines = memory.entries.filter { $0.level >= .warning }
        #expect(lines.map(\.level) == [.error])
        let metadata = try #require(lines.first?.metadata)
        #expect(metadata["partition"] == "\(TopicPartition(fixture.topic, 0))")
        #expect(metadata["from"] == "4")
        #expect(metadata["to"] == "\(next)")
        #expect(metadata["requests"] == "\(next - 4)")
    }
}
