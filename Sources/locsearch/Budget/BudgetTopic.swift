internal import Basics
import EventLoop
import Foundation
import Kafka
import LocationSearch
import Logging
import QuotaSharing
internal import WorkerRuntime

/// The fleet topic for a person: reads the budgets in it, and publishes orders and questions.
struct BudgetTopic {
    private let name: String
    /// The digest of the fleet whose budgets are meant.
    let fleet: String
    private let configuration: ConsumerConfiguration
    private let producer: ProducerConfiguration
    private let timeout: Duration
    private let history: Int64
    private let log: Logger

    /// - Parameter timeout: how long the broker may say nothing before a call fails.
    /// - Parameter history: how many of the newest records are read first.
    init(_ settings: Settings, timeout: Duration, history: Int64 = BudgetTerms.history, log: Logger) throws {
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

    /// Reads what the topic says of budgets: its newest records, and all of them only where those do not hold the state.
    func ledger() async throws -> BudgetLedger {
        do {
            let reader = try makeReader()
            let bounds = try await bounds(by: reader)
            guard !bounds.isEmpty else { return BudgetLedger() }

            let member = BudgetMember(name: "", budgets: [:], at: .now)
            try await tell(member, from: max(bounds.lowerBound, bounds.upperBound - history), of: bounds, by: reader)
            if member.needsOlderRecords { try await tell(member, from: bounds.lowerBound, of: bounds, by: reader) }
            return member.ledger
        } catch let error as KafkaError {
            throw Failure(error, doing: "\(name) at \(configuration.bootstrapServers) cannot be read")
        }
    }

    /// Reads what members read: each record, also those of transactions that are open or aborted.
    private func makeReader() throws(KafkaError) -> TopicReader {
        try TopicReader(configuration, mode: .everyRecord, log: log)
    }

    private func bounds(by reader: TopicReader) async throws(KafkaError) -> Range<Int64> {
        try await reader.bounds(of: name, within: timeout)[TopicPartition(name, 0)] ?? 0..<0
    }

    /// Tells a member what the topic says from one offset on.
    private func tell(
        _ member: BudgetMember, from first: Int64, of bounds: Range<Int64>, by reader: TopicReader
    ) async throws {
        member.begin(
            FleetTopicExtent(first: first, end: bounds.upperBound, oldest: bounds.lowerBound), at: .now)

        let partition = TopicPartition(name, 0)
        let end = bounds.upperBound
        try await reader.read(from: [partition: first], upTo: [partition: end], timeout: timeout) { record in
            var message: BudgetMessage?
            if case .budget(let budget) = record.value.flatMap({ FleetCodec.message($0) }) { message = budget }
            member.read(message, at: record.offset, now: .now)
            return true
        }
        // The last offsets may hold no record.
        member.read(nil, at: bounds.upperBound - 1, now: .now)
    }

    /// Has every worker go by an order. Returns once the brokers have it.
    func give(_ order: BudgetMessage.Order) async throws {
        try await send(BudgetMessage(sender: Self.makeSender(), number: 1, order: order))
    }

    /// Asks which workers keep a budget of a provider.
    /// - Parameter time: how long answers are waited for.
    /// - Returns: how many have answered by then.
    func countKeepers(of provider: ProviderID, within time: Duration) async throws -> Int {
        let question = BudgetMessage.Question(provider: provider.rawValue, fleet: fleet)
        let message = BudgetMessage(sender: Self.makeSender(), number: 1, question: question)
        do {
            let reader = try makeReader()
            try await reader.open([TopicPartition(name, 0): try await bounds(by: reader).upperBound])
            try await send(message)
            return try await workers(answering: message.sender, within: time, by: reader).count
        } catch let error as KafkaError {
            throw Failure(error, doing: "\(name) at \(configuration.bootstrapServers) cannot be read")
        }
    }

    /// Returns the names of the workers that answer a question. Each of their loops does.
    private func workers(
        answering sender: String, within time: Duration, by reader: TopicReader
    ) async throws(KafkaError) -> Set<Substring> {
        var workers: Set<Substring> = []
        let end = Instant.now + time
        while Instant.now < end {
            for record in try await reader.news(max: 500, within: .milliseconds(100)).records {
                guard case .budget(let answer) = record.value.flatMap({ FleetCodec.message($0) }),
                    answer.answers == sender
                else { continue }
                workers.insert(answer.sender[..<(answer.sender.lastIndex(of: "-") ?? answer.sender.endIndex)])
            }
        }
        return workers
    }

    private static func makeSender() -> String { "locsearch budget \(UUID().uuidString)" }

    private func send(_ message: BudgetMessage) async throws {
        let loop = try EventLoop()
        let producer = try KafkaProducer(loop: loop, configuration: producer, log: log)
        let record = ProducerRecord(topic: name, partition: 0, value: FleetCodec.bytes(of: .budget(message)))

        var failure: KafkaError?
        do throws(KafkaError) { try await producer.send(record) } catch { failure = error }
        await producer.close()
        loop.stop()
        if let failure { throw Failure(failure, doing: "\(name) does not take a record") }
    }
}
