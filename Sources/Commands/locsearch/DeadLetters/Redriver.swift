import EventContract
import EventLoop
import Kafka
import Logging
import WorkerRuntime

/// Sends one dead letter after another back to its topic of requests: see `RedriveTargets`.
///
/// A letter is in the topic of requests before it is marked, and marked before the next one is sent. Whatever ends the
/// process, at most one letter is sent a second time by the next run, and none is lost.
struct Redriver: Sendable {
    private let loop: EventLoop
    private let producer: KafkaProducer
    private let targets: RedriveTargets
    private let deadLetters: String

    init(_ settings: Settings, log: Logger) throws {
        loop = try EventLoop()
        var configuration = try settings.producer()
        configuration.linger = .zero  // nothing comes along that it could wait for
        producer = try KafkaProducer(loop: loop, configuration: configuration, log: log)
        targets = RedriveTargets(settings.topics)
        deadLetters = settings.topics.deadLetters
    }

    /// Returns once the brokers have both the record and its mark.
    /// - Returns: the record's new position in a topic of requests, which its outcome names too.
    /// - Throws: `Failure` that names the topic.
    @discardableResult
    func send(_ letter: DeadLetter, marking mark: RedriveMark) async throws -> SourcePosition {
        let position = try await send(
            ProducerRecord(
                topic: targets.topic(for: letter.source), key: letter.key, value: letter.value,
                headers: letter.originalHeaders))
        _ = try await send(
            ProducerRecord(
                topic: deadLetters, partition: mark.partition, key: nil, value: nil,
                headers: mark.headers))
        return position
    }

    private func send(_ record: ProducerRecord) async throws -> SourcePosition {
        do {
            let position = try await producer.send(record)
            return SourcePosition(topic: record.topic, partition: position.partition, offset: position.offset)
        } catch {
            throw Failure(error, doing: "\(record.topic) does not take a record")
        }
    }

    func close() async {
        await producer.close()
        loop.stop()
    }
}
