import EventContract
import EventLoop
import Kafka
import Logging
import WorkerRuntime

/// Redrives dead letters one at a time, each to the topic chosen by `RedriveTargets`.
///
/// A letter is written to the request topic before it is marked, and marked before the next letter is sent. If the
/// process ends at any point, the next run repeats at most one letter, and none is lost.
struct Redriver: Sendable {
    private let loop: EventLoop
    private let producer: KafkaProducer
    private let targets: RedriveTargets
    private let deadLetters: String

    init(_ settings: Settings, log: Logger) throws {
        loop = try EventLoop()
        var configuration = try settings.producer()
        configuration.linger = .zero  // records are sent one at a time, so there is nothing to batch
        producer = try KafkaProducer(loop: loop, configuration: configuration, log: log)
        targets = RedriveTargets(settings.topics)
        deadLetters = settings.topics.deadLetters
    }

    /// Returns once the brokers have acknowledged both the record and its mark.
    /// - Returns: the record's new position in a request topic, which its outcome also contains.
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
            throw Failure(error, doing: "\(record.topic) does not accept a record")
        }
    }

    func close() async {
        await producer.close()
        loop.stop()
    }
}
