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

    init(_ settings: Settings, log: Logger) async throws {
        loop = try EventLoop()
        producer = try KafkaProducer(loop: loop, configuration: try settings.producer(), log: log)
        topic = settings.topics.requests
    }

    /// Returns once the broker has the request.
    /// - Returns: where it stands; its outcome names the same place.
    func send(_ request: SearchRequest) async throws -> SourcePosition {
        var encoder = RequestEncoder()
        let event = encoder.encode(request, at: .now())
        let record = ProducerRecord(
            topic: topic, key: event.key, value: event.value,
            headers: event.headers.map { KafkaHeader($0.name, $0.value) })
        let position = try await producer.send(record)
        return SourcePosition(topic: topic, partition: position.partition, offset: position.offset)
    }

    func close() async {
        await producer.close()
        loop.stop()
    }
}
