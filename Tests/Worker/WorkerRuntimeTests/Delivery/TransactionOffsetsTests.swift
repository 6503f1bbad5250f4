import KafkaTestSupport
import Testing

@testable import Kafka
@testable import WorkerRuntime

/// The offsets and metadata that transactions commit, each once.
struct TransactionOffsetsTests {
    private static let partition = AssignedPartition(TopicPartition("requests", 0), epoch: 1)

    /// Returns the offsets of a lane that has taken three records of the partition. A former owner had finished the last two, and
    /// this one has finished the first.
    private func offsets(of fixture: isolated TableFixture) throws -> TransactionOffsets {
        fixture.table.add([Self.partition])
        var metadata = CommitMetadata()
        metadata.done.append(2..<4)
        fixture.table[Self.partition.id]?.commits.begin(at: CommittedOffset(1), with: metadata)

        let taken = (1...3).compactMap { fixture.take($0) }
        #expect(taken.count == 1, "the others were done before")
        for request in taken { fixture.table.finish(request, isDelivered: true) }
        return TransactionOffsets(of: fixture.table, ready: ReadyOutcomes(), source: fixture.source, loop: fixture.loop)
    }

    @Test func `Offsets that are not committed are retried`() async throws {
        try await TableFixture.run(doneSetBytes: 100) { fixture in
            let offsets = try offsets(of: fixture)
            for _ in 0..<2 { #expect(offsets.next(publishing: []) == [Self.partition: CommittedOffset(4)]) }

            await offsets.noteCommitted([Self.partition: CommittedOffset(4)])
            #expect(offsets.next(publishing: []).isEmpty)
        }
    }

    @Test func `An offset is not committed again without the metadata of the proof`() async throws {
        try await TableFixture.run(doneSetBytes: 100) { fixture in
            let offsets = try offsets(of: fixture)
            await offsets.noteCommitted([Self.partition: CommitMetadata.proof(at: 4)])
            #expect(offsets.next(publishing: []).isEmpty)
        }
    }

    @Test func `A commit of a former assignment is not noted`() async throws {
        try await TableFixture.run(doneSetBytes: 100) { fixture in
            let offsets = try offsets(of: fixture)
            await offsets.noteCommitted([AssignedPartition(Self.partition.id, epoch: 0): CommittedOffset(4)])
            #expect(!offsets.next(publishing: []).isEmpty)
        }
    }

    /// The brokers have kept longer metadata before, and are now configured to keep less.
    @Test func `After metadata was rejected the next transaction waits for further outcomes`() async throws {
        try await TableFixture.run(doneSetBytes: 100) { fixture in
            let offsets = try offsets(of: fixture)
            let attempt = TransactionAttempt([], offsets: offsets.next(publishing: []), loop: fixture.loop)
            offsets.noteAborted(attempt, after: KafkaError(.abortable, "made to fail"))
            #expect(!offsets.next(publishing: []).isEmpty, "the error says nothing of the metadata")

            offsets.noteAborted(attempt, after: KafkaError(librdkafkaCode: 12, doing: "send offsets"))
            #expect(offsets.next(publishing: []).isEmpty)

            let taken = fixture.take(4)
            let request = try #require(taken)
            fixture.table.finish(request, isDelivered: true)
            #expect(offsets.next(publishing: []) == [Self.partition: CommittedOffset(5)])
        }
    }
}
