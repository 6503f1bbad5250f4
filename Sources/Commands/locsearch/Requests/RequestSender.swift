import EventContract
import EventLoop
import Kafka
import LocationSearch
import Logging
import WorkerRuntime

/// Writes requests to the request topic.
struct RequestSender: Sendable {
    private let loop: EventLoop
    private let producer: KafkaProducer
    private let topic: String

    /// - Parameter timeout: how long the brokers may take to accept a request, unless `kafka.properties` overrides it.
    ///   `nil`: librdkafka's default of 5 minutes.
    /// - Throws: `SettingsError` or `KafkaError` if the settings are not valid for a producer.
    init(_ settings: Settings, timeout: Duration? = nil, log: Logger) async throws {
        var configuration = try settings.producer()
        if let timeout {
            // A user is waiting, so the client reconnects to a broker within a second.
            let defaults = [
                "message.timeout.ms": "\(max(1, timeout.milliseconds(roundedUp: true)))",
                "reconnect.backoff.max.ms": "1000",
            ]
            configuration.properties.merge(defaults) { theirs, _ in theirs }
        }
        loop = try EventLoop()
        producer = try KafkaProducer(loop: loop, configuration: configuration, log: log)
        topic = settings.topics.requests
    }

    /// Sends a request, and returns once the broker has acknowledged it.
    /// - Parameters:
    ///   - time: the time in the event.
    ///   - expiry: the time after which no outcome is wanted; `nil`: never.
    ///   - priority: the requested class; `nil`: the topic's standard class.
    /// - Returns: its position in the topic, which its outcome also contains.
    @discardableResult
    func send(
        _ request: SearchRequest, at time: WallTime = .now(), expiry: WallTime? = nil,
        priority: RequestClass? = nil
    ) async throws -> SourcePosition {
        var encoder = RequestEncoder()
        let event = encoder.encode(request, at: time, expiry: expiry, priority: priority)

        let record = ProducerRecord(
            topic: topic, key: event.key, value: event.value,
            headers: event.headers)
        let position = try await producer.send(record)
        return SourcePosition(topic: topic, partition: position.partition, offset: position.offset)
    }

    /// Closes the producer and its loop.
    func close() async {
        await producer.close()
        loop.stop()
    }
}
