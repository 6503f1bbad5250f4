import Basics
import EventLoop
import Foundation
import Kafka
import Logging
import QuotaSharing
internal import WorkerRuntime

/// The fleet topic for a person who controls workers: reads the orders in it, and publishes orders and questions.
struct ControlTopic {
    /// A worker that has answered.
    struct Worker: Sendable, Hashable {
        /// The name of its machine or its pod.
        var name: String
        /// The name that only this start of it has.
        var instance: String
        /// Why it does not take an order up; `nil` where it does.
        var refusal: String?
    }

    /// Workers look at their topic five times a second.
    static let timeToAnswer = Duration.seconds(2)

    private let name: String
    /// The digest of the fleet that is meant.
    let fleet: String
    private let configuration: ConsumerConfiguration
    private let producer: ProducerConfiguration
    private let timeout: Duration
    private let history: Int64
    private let log: Logger

    /// - Parameters:
    ///   - timeout: how long the broker may say nothing before a call fails.
    ///   - history: how many of the newest records are read first.
    init(_ settings: Settings, timeout: Duration, history: Int64 = ControlTerms.history, log: Logger) throws {
        name = settings.topics.fleet
        fleet = try QuotaScopes(settings).fleet
        configuration = try settings.consumer()
        var producer = try settings.producer()
        producer.linger = .zero  // nothing comes along that it could wait for
        self.producer = producer
        self.timeout = timeout
        self.history = history
        self.log = log
    }

    // MARK: - Reading

    /// Reads which orders are in force: from the newest records, and from all of them only where those do not hold the state.
    func book() async throws -> ControlBook {
        do {
            let reader = try makeReader()
            let bounds = try await bounds(by: reader)
            guard !bounds.isEmpty else { return ControlBook() }

            let member = ControlMember(name: "", fleet: fleet, at: .now)
            try await tell(member, from: max(bounds.lowerBound, bounds.upperBound - history), of: bounds, by: reader)
            if member.needsOlderRecords { try await tell(member, from: bounds.lowerBound, of: bounds, by: reader) }
            var book = member.book
            book.removeOver(at: WallTime.now().milliseconds)
            return book
        } catch let error as KafkaError {
            throw unreadable(error)
        }
    }

    private func tell(
        _ member: ControlMember, from first: Int64, of bounds: Range<Int64>, by reader: TopicReader
    ) async throws {
        member.begin(FleetTopicExtent(first: first, end: bounds.upperBound, oldest: bounds.lowerBound), at: .now)

        let partition = TopicPartition(name, 0)
        try await reader.read(
            from: [partition: first], upTo: [partition: bounds.upperBound], timeout: timeout
        ) { record in
            _ = member.read(Self.message(record), at: record.offset, now: .now)
            return true
        }
        // The last offsets may hold no record.
        _ = member.read(nil, at: bounds.upperBound - 1, now: .now)
    }

    private static func message(_ record: ConsumerRecord) -> ControlMessage? {
        guard case .control(let message) = record.value.flatMap({ FleetCodec.message($0) }) else { return nil }
        return message
    }

    private func makeReader() throws(KafkaError) -> TopicReader {
        try TopicReader(configuration, mode: .everyRecord, log: log)
    }

    private func bounds(by reader: TopicReader) async throws(KafkaError) -> Range<Int64> {
        try await reader.bounds(of: name, within: timeout)[TopicPartition(name, 0)] ?? 0..<0
    }

    private func unreadable(_ error: KafkaError) -> Failure {
        Failure(error, doing: "\(name) at \(configuration.bootstrapServers) cannot be read")
    }

    // MARK: - Asking and ordering

    /// Asks the workers of the fleet whether they are there, and whether they would take an order up.
    /// - Parameter most: as many answers are enough; `nil`: all that come within the time.
    func ask(_ order: ControlOrder? = nil, atMost most: Int? = nil) async throws -> [Worker] {
        try await publish(atMost: most, within: Self.timeToAnswer) {
            $0.question = ControlMessage.Question(order: order)
        }
    }

    /// Gives an order.
    /// - Parameters:
    ///   - most: the number of workers that are to answer.
    ///   - time: how long they are waited for.
    /// - Returns: the workers that have answered by then.
    func give(_ order: ControlOrder, atMost most: Int, within time: Duration) async throws -> [Worker] {
        try await publish(atMost: most, within: time) { $0.order = order }
    }

    private func publish(
        atMost most: Int?, within time: Duration, _ change: (inout ControlMessage) -> Void
    ) async throws -> [Worker] {
        var message = ControlMessage(sender: "locsearch controls \(UUID().uuidString)", fleet: fleet)
        change(&message)
        do {
            let reader = try makeReader()
            try await reader.open([TopicPartition(name, 0): try await bounds(by: reader).upperBound])
            try await send(message)
            return try await answers(to: message.sender, atMost: most ?? .max, within: time, by: reader)
        } catch let error as KafkaError {
            throw unreadable(error)
        }
    }

    private func answers(
        to sender: String, atMost most: Int, within time: Duration, by reader: TopicReader
    ) async throws(KafkaError) -> [Worker] {
        var workers: [Worker] = []
        let end = Instant.now + time
        while workers.count < most, Instant.now < end {
            for record in try await reader.news(max: 500, within: .milliseconds(100)).records {
                guard let message = Self.message(record), let answer = message.answer, answer.to == sender,
                    !workers.contains(where: { $0.instance == message.sender })
                else { continue }
                workers.append(Worker(name: answer.worker, instance: message.sender, refusal: answer.refusal))
            }
        }
        return workers.sorted { ($0.name, $0.instance) < ($1.name, $1.instance) }
    }

    private func send(_ message: ControlMessage) async throws {
        let loop = try EventLoop()
        let producer = try KafkaProducer(loop: loop, configuration: producer, log: log)
        let record = ProducerRecord(topic: name, partition: 0, value: FleetCodec.bytes(of: .control(message)))

        var failure: KafkaError?
        do throws(KafkaError) { try await producer.send(record) } catch { failure = error }
        await producer.close()
        loop.stop()
        if let failure { throw Failure(failure, doing: "\(name) does not take a record") }
    }
}
