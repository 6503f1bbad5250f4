import EventContract
import EventLoop
import Kafka
import LocationSearch
import Logging
import WorkerRuntime

/// Puts requests into the requests topic.
struct RequestSender: Sendable {
    private let loop: EventLoop
    private let producer: KafkaProducer
    private let topic: String

    /// - Throws: `SettingsError` or `KafkaError` for settings that make no producer.
    init(_ settings: Settings, log: Logger) async throws {
        loop = try EventLoop()
        producer = try KafkaProducer(loop: loop, configuration: try settings.producer(), log: log)
        topic = settings.topics.requests
    }

    /// Sends a request, and returns once the broker has it.
    /// - Parameter time: the time that the event carries.
    /// - Returns: its position in the topic, which its outcome names too.
    @discardableResult
    func send(_ request: SearchRequest, at time: EventTime = .now()) async throws -> SourcePosition {
        var encoder = RequestEncoder()
        let event = encoder.encode(request, at: time)

        let record = ProducerRecord(
            topic: topic, key: event.key, value: event.value,
            headers: event.headers)
        let position = try await producer.send(record)
        return SourcePosition(topic: topic, partition: position.partition, offset: position.offset)
    }

    /// Ends the producer and its loop.
    func close() async {
        await producer.close()
        loop.stop()
    }
}
