internal import Basics
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

    /// - Parameter timeout: how long the brokers have to take a request, unless `kafka.properties` says otherwise. `nil`: as
    ///   long as librdkafka gives them, which is 5 minutes.
    /// - Throws: `SettingsError` or `KafkaError` for settings that make no producer.
    init(_ settings: Settings, timeout: Duration? = nil, log: Logger) async throws {
        var configuration = try settings.producer()
        if let timeout {
            // A person waits. So a broker that comes back is found within a second.
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

    /// Sends a request, and returns once the broker has it.
    /// - Parameters:
    ///   - time: the time that the event carries.
    ///   - expiry: until when an outcome is wanted; `nil`: for ever.
    ///   - priority: the class that the request asks for; `nil`: that of its topic.
    /// - Returns: its position in the topic, which its outcome names too.
    @discardableResult
    func send(
        _ request: SearchRequest, at time: EventTime = .now(), expiry: EventTime? = nil,
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

    /// Ends the producer and its loop.
    func close() async {
        await producer.close()
        loop.stop()
    }
}
