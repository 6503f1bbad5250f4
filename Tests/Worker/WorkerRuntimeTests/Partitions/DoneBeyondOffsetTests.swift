import Kafka
import KafkaTestSupport
import Synchronization
import TestSupport
import Testing

@testable import WorkerRuntime

/// A lane's commits of requests that finished behind a slow one, and their effect on its successor.
@Suite(.timeLimit(.minutes(1)))
struct DoneBeyondOffsetTests {
    private static let partition = TopicPartition("requests", 0)

    private func commit(_ fixture: LaneFixture) async -> CommittedOffset? {
        await fixture.source.commits[Self.partition]
    }

    private func transactionCommit(_ fixture: LaneFixture) async -> CommittedOffset? {
        await fixture.sink.transactionOffsets[Self.partition]
    }

    // MARK: - At least once

    @Test func `A commit names the requests that are done behind a slow one`() async throws {
        try await LaneFixture.run { fixture in
            await fixture.provider.hold(only: "slow")
            await fixture.source.append(["a", "slow", "b", "c"].map(LaneFixture.request))

            try await eventually("the commit says that b and c are done") {
                await commit(fixture) == CommittedOffset(1, metadata: "locsearch1;at=1;tries=1;bits=G")
            }
            await fixture.provider.releaseAll()
            try await fixture.isCommitted(upTo: 4)
        }
    }

    @Test func `The next owner searches only for requests that are not done`() async throws {
        try await LaneFixture.run(assigned: []) { fixture in
            await fixture.source.setCommit(CommittedOffset(1, metadata: "locsearch1;at=1;bits=G"))
            await fixture.source.skip(to: 1)
            await fixture.source.append(["slow", "b", "c", "d"].map(LaneFixture.request))
            await fixture.source.assign([0])

            try await fixture.isCommitted(upTo: 5)
            #expect(await fixture.provider.asked == ["slow", "d"])
            #expect(fixture.metrics.value("locsearch_requests_done_before_total") == 2)
        }
    }

    @Test(arguments: ["b:AAAA", "locsearch1;bits=D", "locsearch1;at=5;bits=D", "locsearch1;at=0;bits=D;at=0"])
    func `Metadata of another program or offset is ignored`(_ text: String) async throws {
        try await LaneFixture.run(assigned: []) { fixture in
            await fixture.source.setCommit(CommittedOffset(0, metadata: text))
            await fixture.source.append(["a", "b"].map(LaneFixture.request))
            await fixture.source.assign([0])

            try await fixture.isCommitted(upTo: 2)
            #expect(await fixture.provider.asked == ["a", "b"])
        }
    }

    /// Brokers may be configured to keep less metadata than the worker writes.
    @Test func `Rejected metadata is shortened until the brokers accept it`() async throws {
        try await LaneFixture.run { fixture in
            await fixture.source.change { $0.maxMetadata = 0 }
            await fixture.provider.hold(only: "slow")
            await fixture.source.append(["a", "slow", "b"].map(LaneFixture.request))

            try await eventually("the offset is committed without metadata") {
                await commit(fixture) == CommittedOffset(1)
            }
            #expect(fixture.metrics.value("locsearch_commits_failed_total") ?? 0 >= 1)
        }
    }

    /// Nothing more is read of a partition whose metadata is nearly full, and others go on.
    @Test func `A partition whose metadata is nearly full waits`() async throws {
        try await LaneFixture.run(assigned: [0, 1], { $0.doneSetBytes = 23 }) { fixture in
            await fixture.provider.hold(only: "slow")
            await fixture.source.append((["slow", "b"]).map(LaneFixture.request))
            // 22 bytes of 23: the header and the offset, and one bit for each of up to six offsets.
            try await eventually("the partition waits") { await fixture.source.held == [Self.partition] }

            await fixture.source.append([LaneFixture.request("other")], to: 1)
            try await fixture.isCommitted(upTo: 1, partition: 1)

            await fixture.provider.releaseAll()
            try await eventually("the partition is read again") { await fixture.source.held.isEmpty }
        }
    }

    // MARK: - Exactly once

    @Test func `An outcome does not wait for a slow request before it`() async throws {
        try await LaneFixture.run(delivery: .exactlyOnce) { fixture in
            await fixture.provider.hold(only: "slow")
            await fixture.source.append(["slow", "b", "c"].map(LaneFixture.request))

            try await fixture.outcomesAreWritten(["b", "c"])
            try await eventually("the transaction says so") {
                await transactionCommit(fixture) == CommittedOffset(0, metadata: "locsearch1;at=0;tries=1;bits=G")
            }
            await fixture.provider.releaseAll()
            try await eventually("all is committed") { await transactionCommit(fixture)?.offset == 3 }
        }
    }

    @Test func `Without done-sets an outcome waits for earlier ones`() async throws {
        try await LaneFixture.run(delivery: .exactlyOnce, { $0.doneSetBytes = 0 }) { fixture in
            await fixture.provider.hold(only: "slow")
            await fixture.source.append(["a", "slow", "b"].map(LaneFixture.request))

            try await fixture.outcomesAreWritten(["a"])
            try await eventually("b has its outcome") { await fixture.lane.status.inFlight == 1 }
            #expect(await fixture.sink.written.count == 1)

            await fixture.provider.releaseAll()
            try await eventually("all is committed") { await transactionCommit(fixture) == CommittedOffset(3) }
        }
    }

    /// No outcome follows the last of them, so the offset behind it needs a separate transaction. No other event would trigger a retry.
    @Test(arguments: [false, true])
    func `The offset behind records that were done is committed without outcomes`(isAborted: Bool) async throws {
        try await LaneFixture.run(delivery: .exactlyOnce, assigned: []) { fixture in
            await fixture.source.setCommit(CommittedOffset(1, metadata: "locsearch1;at=1;bits=G"))
            await fixture.source.skip(to: 1)
            await fixture.source.append([LaneFixture.request("slow")])
            await fixture.source.assign([0])
            try await eventually("the first is committed") { await transactionCommit(fixture)?.offset == 2 }

            if isAborted { await fixture.sink.failCommits([.init(error: KafkaError(.abortable, "made to fail"))]) }
            await fixture.source.append(["b", "c"].map(LaneFixture.request))
            try await eventually("all is committed") { await transactionCommit(fixture)?.offset == 4 }
            #expect(await fixture.provider.asked == ["slow"])
            #expect(await fixture.sink.written.count == 1)
            #expect(await fixture.sink.abortCount == (isAborted ? 1 : 0))
        }
    }

    /// At its end, the lane checks once more for something to commit.
    @Test func `An offset is committed once`() async throws {
        let sink = Mutex<FakeSink?>(nil)
        try await LaneFixture.run(delivery: .exactlyOnce) { fixture in
            sink.withLock { $0 = fixture.sink }
            await fixture.source.append([LaneFixture.request("a")])
            try await fixture.isCommitted(upTo: 1)
        }
        // The first transaction writes the crash note, the second contains the outcome, the third withdraws the note.
        #expect(await sink.withLock(\.self)?.commitCount == 3)
    }

    /// The commit took effect, and its answer is lost. The new producer reads that also about requests beyond the offset.
    @Test func `Outcomes beyond the offset of an effective commit are not published again`() async throws {
        try await LaneFixture.run(delivery: .exactlyOnce) { fixture in
            let error = KafkaError(.fatal, "INVALID_TXN_STATE")
            await fixture.provider.hold(only: "slow")
            await fixture.sink.failCommits([.init(error: error, hasTakenEffect: true)])
            await fixture.source.append(["slow", "b"].map(LaneFixture.request))
            try await eventually("the producer is replaced") { await fixture.nextSink.registrations == 1 }

            await fixture.provider.releaseAll()
            try await eventually("all is committed") {
                await fixture.nextSink.transactionOffsets[Self.partition]?.offset == 2
            }
            let texts = await fixture.written.map(\.text)
            for id in ["slow", "b"] { #expect(texts.count { $0.contains("\"\(id)\"") } == 1) }
        }
    }

    /// With `worker.ordering`, an outcome of a key never leaves before an earlier one of it.
    @Test func `Outcomes of a key keep their order`() async throws {
        try await LaneFixture.run(delivery: .exactlyOnce, { $0.ordering = .key }) { fixture in
            await fixture.provider.hold(only: "slow")
            await fixture.source.append(["slow", "b"].map(LaneFixture.request))
            try await eventually("both are asked for") { await fixture.provider.asked.count == 2 }
            for _ in 0..<50 { _ = await fixture.lane.status }
            #expect(await fixture.sink.written.isEmpty)

            await fixture.provider.releaseAll()
            try await eventually("all is committed") { await transactionCommit(fixture)?.offset == 2 }
            #expect(await fixture.sink.written.map { $0.text.contains("\"slow\"") } == [true, false])
        }
    }
}
