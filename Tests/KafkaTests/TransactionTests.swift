import Basics
import EventLoop
import InMemoryLogging
import TestSupport
import Testing

@testable import Kafka

/// Transactions while the brokers are away, and the bound of every call about one.
@Suite(.serialized, .timeLimit(.minutes(2)))
struct TransactionTests {
    /// Runs `body` with a producer for transactions whose only broker does not listen.
    private func withBrokerAway(
        notebook: InMemoryLogHandler? = nil, _ body: (KafkaProducer) async throws -> Void
    ) async throws {
        let bench = try KafkaBench()
        bench.broker.embedded?.set(broker: 1, isUp: false)
        let producer = try bench.producer(notebook: notebook) { $0.transactionalID = bench.broker.name("x") }

        try await body(producer)

        await producer.close()
        bench.loop.stop()
    }

    @Test(.enabled(if: TestBroker.isEmbedded, "only the embedded broker can be told to fail"))
    func waitForTheBrokersEndsAtOnceWhenTheEndIsNow() async throws {
        try await withBrokerAway { producer in
            let starting = Task { try await producer.initTransactions() }
            try await eventually("the producer asks the brokers") { await producer.isAskingAboutTransactions }

            let begin = Instant.now
            await producer.endTransactions(by: begin)
            let error = await #expect(throws: KafkaError.self) { try await starting.value }

            #expect(error?.kind == .timedOut)
            #expect(Instant.now - begin < .seconds(5))
        }
    }

    @Test(.enabled(if: TestBroker.isEmbedded, "only the embedded broker can be told to fail"))
    func waitForTheBrokersEndsAtTheInstantThatWasSetForIt() async throws {
        try await withBrokerAway { producer in
            let end = Instant.now + .milliseconds(600)
            let starting = Task { try await producer.initTransactions() }
            try await eventually("the producer asks the brokers") { await producer.isAskingAboutTransactions }

            await producer.endTransactions(by: end)
            await #expect(throws: KafkaError.self) { try await starting.value }

            #expect(Instant.now >= end)
            #expect(Instant.now < end + .seconds(5))
        }
    }

    @Test(.enabled(if: TestBroker.isEmbedded, "only the embedded broker can be told to fail"))
    func logNamesTheBrokerThatIsAwayWhileTransactionsCannotBegin() async throws {
        let notebook = InMemoryLogHandler()
        try await withBrokerAway(notebook: notebook) { producer in
            let starting = Task { try await producer.initTransactions() }

            do {
                try await eventually("the log says that no broker answers", within: .seconds(10)) {
                    notebook.entries.contains { entry in
                        "\(entry.message)".contains("no broker answers")
                            && "\(entry.metadata)".contains("(Connection refused)")
                            && "\(entry.metadata)".contains("127.0.0.1:")
                    }
                }
            } catch {
                Issue.record("\(error); the log has \(notebook.entries.map { "\($0.message) \($0.metadata)" })")
            }

            await producer.endTransactions(by: .now)
            let error = await #expect(throws: KafkaError.self) { try await starting.value }
            #expect(error?.description.contains("(Connection refused)") == true)
        }
    }
}
