import EventContract
import EventLoop
internal import KafkaTestSupport
import Testing

@testable import Kafka
@testable import WorkerRuntime

/// One transaction on a producer without brokers.
struct TransactionAttemptTests {
    private static let tooLarge = KafkaError(.recordTooLarge, "MSG_SIZE_TOO_LARGE")

    private let partition = OwnedPartition(AssignedPartition(TopicPartition("requests", 0), epoch: 1), doneSetBytes: 0)
    private let sink = FakeSink(isTransactional: true)

    /// Runs a transaction with one outcome for each text.
    private func run(_ texts: [String]) async throws -> (attempt: TransactionAttempt, failure: KafkaError?) {
        let loop = try EventLoop()
        defer { loop.stop() }
        let batch = try texts.enumerated().map { offset, text in
            let slot = partition.commits.tracker.begin(Int64(offset)).slot
            let request = RequestInProgress(
                record: ConsumerRecord(partition: partition.id, offset: Int64(offset)),
                partition: partition, slot: try #require(slot), arrival: RecordArrival(instant: .now, time: .now()))
            partition.commits.tracker.markReady(request.slot)
            request.outcome.event = ProducerRecord(topic: "results", value: Array(text.utf8))
            request.outcome.topic = .results
            return ReadyOutcomes.Entry(request)
        }

        let next = partition.commits.commit(publishing: Set(batch.map(\.request.slot)))
        var attempt = TransactionAttempt(batch, offsets: [partition.id: try #require(next)], loop: loop)
        var failure = await attempt.publish(on: sink, within: .seconds(5))
        let member = GroupMembership(simulatedName: "member")
        if failure == nil { failure = await attempt.sendOffsets(on: sink, as: member) }
        if failure == nil { failure = await attempt.commit(on: sink) }
        return (attempt, failure)
    }

    @Test func `A transaction commits records and the offset after them`() async throws {
        let (attempt, failure) = try await run(["a", "b"])

        #expect(failure == nil)
        #expect(attempt.committed != nil)
        #expect(await sink.written.map(\.text) == ["a", "b"])
        #expect(await sink.transactionOffsets == [TopicPartition("requests", 0): 2])
    }

    /// The records behind it are purged, and are no evidence about their topics.
    @Test func `A rejected record fails the transaction without a stall`() async throws {
        await sink.refuse { record, _ in record.text == "large" ? Self.tooLarge : nil }
        let (attempt, failure) = try await run(["a", "large", "b"])

        #expect(failure?.kind == .abortable)
        #expect(attempt.stall == nil)
        #expect(!attempt.isCommitting)
        #expect(await sink.transactionOffsets.isEmpty)
        await #expect(throws: Self.tooLarge) { try await sink.confirm(attempt.sent[1].receipt) }
        let purged = await #expect(throws: KafkaError.self) { try await sink.confirm(attempt.sent[2].receipt) }
        #expect(purged?.isTopicRefusal == false)
    }

    @Test func `The pause between transactions grows after slow ones and shrinks again`() {
        var pause = TransactionPause()
        let shortest = pause.time
        for _ in 0..<10 { pause.adapt(after: .milliseconds(20)) }
        #expect(pause.time == .milliseconds(8))

        for _ in 0..<300 { pause.adapt(after: .milliseconds(19)) }
        #expect(pause.time == shortest)
    }

    @Test func `A transaction whose records are not confirmed has stalled`() async throws {
        await sink.holdReports()
        let (attempt, failure) = try await run(["a"])

        #expect(failure?.kind == .timedOut)
        #expect(attempt.stall != nil)
        #expect(await sink.transactionOffsets.isEmpty)
    }
}
