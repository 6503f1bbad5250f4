import Kafka
import KafkaTestSupport
import LocationSearch
import TestSupport
import Testing

@testable import QuotaSharing
@testable import locsearch

/// The reading of the fleet topic by `locsearch budget`, and the digests that its messages have.
struct BudgetTopicTests {
    private let day = "2026-11-23"

    /// Returns a message in which a member reports calls that it made.
    private func report(_ calls: Int, number: UInt64, snapshot: BudgetMessage.Snapshot? = nil) -> BudgetMessage {
        let entry = BudgetMessage.Entry(
            "hotpepper", period: day, limit: 3000, take: calls, made: ["search/hotpepper": calls])
        return BudgetMessage(sender: "member", number: number, entries: calls > 0 ? [entry] : [], snapshot: snapshot)
    }

    /// Returns a state in which another member has made the given number of calls.
    private func snapshot(_ calls: Int, upTo offset: Int64) -> BudgetMessage.Snapshot {
        var message = report(calls, number: 1)
        message.sender = "somebody else"
        var ledger = BudgetLedger()
        ledger.apply(message, at: 0)
        return BudgetMessage.Snapshot(offset: offset, ledger: ledger)
    }

    /// Writes messages to a new topic, and returns the number of calls according to the topic; `nil` if it has no count.
    /// - Parameter history: the number of the newest records that are read first.
    private func used(_ messages: [BudgetMessage], history: Int64) async throws -> Int? {
        let broker = try TestBroker(topics: ["fleet": 1])
        let topic = broker.name("fleet")
        let producer = try TestProducer(broker.bootstrapServers)
        for message in messages {
            let codec = FleetCodec(group: "location-search-worker", requestsTopic: "location-search.requests")
            let value = codec.bytes(of: .budget(message))
            try await producer.send(value, to: topic, partition: 0)
        }

        let settings = try Settings.load(
            flags: ["kafka.bootstrapServers": broker.bootstrapServers, "topics.fleet": topic], file: nil,
            environment: [:])
        let reader = try BudgetTopic(settings, timeout: .seconds(20), history: history, log: .silent)
        return try await reader.ledger().periods["hotpepper"]?[day]?.used
    }

    /// The states contradict each other, which does not happen in practice, so that the count shows which of them was read.
    @Test func `Only the newest records are read if they hold the state`() async throws {
        let messages = [
            report(0, number: 1, snapshot: snapshot(7, upTo: -1)), report(1, number: 2),
            report(0, number: 3, snapshot: snapshot(100, upTo: 1)), report(5, number: 4),
        ]
        #expect(try await used(messages, history: 2) == 105)
        #expect(try await used(messages, history: 20) == 13)
    }

    @Test func `All records are read if the newest do not hold the state`() async throws {
        let reports = (1...5 as ClosedRange<UInt64>).map { report(10, number: $0) }
        #expect(try await used(reports, history: 2) == 50)

        let messages = [report(0, number: 1, snapshot: snapshot(7, upTo: -1))] + (2...5).map { report(10, number: $0) }
        #expect(try await used(messages, history: 2) == 47)
    }

    @Test func `An empty topic gives no count`() async throws {
        #expect(try await used([], history: 2) == nil)
    }
}
