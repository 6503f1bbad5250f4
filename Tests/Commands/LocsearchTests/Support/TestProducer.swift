import EventLoop
import Kafka
import Logging

/// A producer for the records of a test. It closes once the test has released it.
final class TestProducer: Sendable {
    private let loop: EventLoop
    private let producer: KafkaProducer

    init(_ bootstrapServers: String) throws {
        loop = try EventLoop()
        producer = try KafkaProducer(
            loop: loop, configuration: ProducerConfiguration(bootstrapServers: bootstrapServers), log: .silent)
    }

    deinit {
        Task { [producer, loop] in
            await producer.close()
            loop.stop()
        }
    }

    /// Writes a record, and waits until the broker has acknowledged it.
    @discardableResult
    func send(
        _ value: [UInt8]?, to topic: String, partition: Int32? = nil, key: [UInt8]? = nil, headers: [RecordHeader] = [],
        at timestamp: Int64? = nil
    ) async throws -> RecordPosition {
        try await producer.send(
            ProducerRecord(
                topic: topic, partition: partition, key: key, value: value, headers: headers, timestamp: timestamp))
    }
}

extension Logger {
    /// A logger without output.
    static var silent: Logger { Logger(label: "test") { _ in SwiftLogNoOpLogHandler() } }
}
