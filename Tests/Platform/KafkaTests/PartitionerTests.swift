import EventLoop
import KafkaTestSupport
import Logging
import TestSupport
import Testing

@testable import Kafka

/// docs/clients.md promises that the worker and its tools choose partitions as Kafka's Java clients do.
struct PartitionerTests {
    /// Kafka's own test vectors of murmur2, from `UtilsTest.testMurmur2`.
    private static let hashes: [(key: String, hash: Int32)] = [
        ("21", -973_932_308), ("foobar", -790_332_482), ("a-little-bit-long-string", -985_981_536),
        ("a-little-bit-longer-string", -1_486_304_829), ("abc", 479_470_107),
        ("lkjh234lh9fiuh90y23oiuhsafujhadof229phr9h19h89h8", -58_897_971),
    ]

    @Test func `Producer puts a key where java puts it`() async throws {
        let broker = try TestBroker(topics: ["t": 12])
        let loop = try EventLoop()
        let producer = try KafkaProducer(
            loop: loop, configuration: ProducerConfiguration(bootstrapServers: broker.bootstrapServers),
            log: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })

        for (key, hash) in Self.hashes {
            let position = try await producer.send(
                ProducerRecord(topic: broker.name("t"), key: Array(key.utf8), value: [1]))
            #expect(position.partition == (hash & 0x7FFF_FFFF) % 12, "\(key)")
        }
        await producer.close()
        loop.stop()
    }
}
