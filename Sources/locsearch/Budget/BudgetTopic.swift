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
    private let log: Logger

    /// - Parameter patience: how long the broker may say nothing before a call fails.
    init(_ settings: Settings, patience: Duration, log: Logger) throws {
        name = settings.topics.fleet
        configuration = try settings.consumer()
        var producer = try settings.producer()
        producer.linger = .zero  // nothing comes along that it could wait for
        self.producer = producer
        self.patience = patience
        self.log = log
    }

    /// Reads what the topic says of budgets.
    func ledger() async throws -> BudgetLedger {
        do {
            let reader = try TopicReader(configuration, log: log)
            let partition = TopicPartition(name, 0)
            let bounds = try await reader.bounds(of: name, within: patience)[partition] ?? 0..<0

            // The state stands among the newest records, but all of them are read within a second or two.
            let member = BudgetMember(name: "", budgets: [:], at: .now)
            member.begin(
                first: bounds.lowerBound, end: bounds.upperBound, oldest: bounds.lowerBound, at: .now)
            guard !bounds.isEmpty else { return member.ledger }
            try await reader.read(upTo: [partition: bounds.upperBound], patience: patience) { record in
                var message: BudgetMessage?
                if case .budget(let said) = record.value.flatMap({ FleetCodec.word($0) }) { message = said }
                member.read(message, at: record.offset, now: .now)
                return true
            }
            return member.ledger
        } catch let error as KafkaError {
            throw Failure(error, doing: "\(name) at \(configuration.bootstrapServers) cannot be read")
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
