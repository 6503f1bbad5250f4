internal import Basics
import EventLoop
import Foundation
import Kafka
import LocationSearch
import Logging
import Resilience
import WorkerRuntime

/// The fleet's topic for a person: what it says of budgets, and a word of one's own.
struct BudgetTopic {
    private let name: String
    private let configuration: ConsumerConfiguration
    private let producer: ProducerConfiguration
    private let patience: Duration
    private let history: Int64
    private let log: Logger

    /// - Parameter patience: how long the broker may say nothing before a call fails.
    /// - Parameter history: how many of the newest records are read first.
    init(_ settings: Settings, patience: Duration, history: Int64 = BudgetTerms.history, log: Logger) throws {
        name = settings.topics.fleet
        configuration = try settings.consumer()
        var producer = try settings.producer()
        producer.linger = .zero  // nothing comes along that it could wait for
        self.producer = producer
        self.patience = patience
        self.history = history
        self.log = log
    }

    /// Reads what the topic says of budgets: its newest records, and all of them only where those do not hold the state.
    func ledger() async throws -> BudgetLedger {
        do {
            let reader = try TopicReader(configuration, log: log)
            let bounds = try await reader.bounds(of: name, within: patience)[TopicPartition(name, 0)] ?? 0..<0
            guard !bounds.isEmpty else { return BudgetLedger() }

            let member = BudgetMember(name: "", budgets: [:], at: .now)
            try await tell(member, from: max(bounds.lowerBound, bounds.upperBound - history), of: bounds, by: reader)
            if member.needsOlderRecords { try await tell(member, from: bounds.lowerBound, of: bounds, by: reader) }
            return member.ledger
        } catch let error as KafkaError {
            throw Failure(error, doing: "\(name) at \(configuration.bootstrapServers) cannot be read")
        }
    }

    /// Tells a member what the topic says from one offset on.
    private func tell(
        _ member: BudgetMember, from first: Int64, of bounds: Range<Int64>, by reader: TopicReader
    ) async throws {
        member.begin(first: first, end: bounds.upperBound, oldest: bounds.lowerBound, at: .now)

        let partition = TopicPartition(name, 0)
        let end = bounds.upperBound
        try await reader.read(from: [partition: first], upTo: [partition: end], patience: patience) { record in
            var message: BudgetMessage?
            if case .budget(let said) = record.value.flatMap({ FleetCodec.word($0) }) { message = said }
            member.read(message, at: record.offset, now: .now)
            return true
        }
    }

    /// Has every worker go by an order. Returns once the brokers have it.
    func give(_ order: BudgetMessage.Order) async throws {
        let message = BudgetMessage(sender: "locsearch budget \(UUID().uuidString)", number: 1, order: order)
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
