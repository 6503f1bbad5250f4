import EventContract
import EventLoop
import Kafka
import Logging
import WorkerRuntime

/// Sends one dead letter after another back: each is in the requests topic before it is noted, and noted before the
/// next is sent, so that whatever ends the process doubles one at most and loses none.
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

    func send(_ entry: DeadLetterTopic.Entry) async throws {
        let letter = entry.letter
        try await producer.send(
            ProducerRecord(
                topic: requests, key: letter.key, value: letter.value,
                headers: letter.originalHeaders.map { KafkaHeader($0.name, $0.value) }))
        try await producer.send(
            ProducerRecord(
                topic: deadLetters, key: nil, value: nil,
                headers: entry.mark.headers.map { KafkaHeader($0.name, $0.value) }))
    }

    func close() async {
        await producer.close()
        loop.stop()
    }
}
