import EventContract
import EventLoop
import Kafka
import Logging
import WorkerRuntime

/// Sends one dead letter after another back to the requests topic.
///
/// A letter is in the requests topic before it is marked, and marked before the next one is sent. Whatever ends the
/// process, at most one letter is sent a second time by the next run, and none is lost.
struct Redriver: Sendable {
    private let loop: EventLoop
    private let producer: KafkaProducer
    private let requests: String
    private let deadLetters: String

    init(_ settings: Settings, log: Logger) throws {
        loop = try EventLoop()
        var configuration = try settings.producer()
        configuration.linger = .zero  // nothing comes along that it could wait for
        producer = try KafkaProducer(loop: loop, configuration: configuration, log: log)
        requests = settings.topics.requests
        deadLetters = settings.topics.deadLetters
    }

    /// Returns once the brokers have both the record and its mark.
    /// - Throws: `Failure` that names the topic.
    func send(_ letter: DeadLetter, marking mark: RedriveMark) async throws {
        try await send(
            ProducerRecord(
                topic: requests, key: letter.key, value: letter.value,
                headers: letter.originalHeaders))
        try await send(
            ProducerRecord(
                topic: deadLetters, key: nil, value: nil,
                headers: mark.headers))
    }

    private func send(_ record: ProducerRecord) async throws {
        do {
            try await producer.send(record)
        } catch {
            throw Failure(error, doing: "\(record.topic) does not take a record")
        }
    }

    func close() async {
        await producer.close()
        loop.stop()
    }
}
