import Kafka
import KafkaTestSupport
import TestSupport
import Testing

@testable import WorkerRuntime

/// Crash notes of a lane that distinguishes classes, so that records overtake others.
@Suite(.timeLimit(.minutes(1)))
struct OvertakingRecordTests {
    private static let partition = TopicPartition("requests", 0)

    /// Runs a lane that distinguishes classes, and takes over a partition with batch requests and an interactive one behind them.
    private func takeOverMixed(
        _ metadata: String, batch: Int, _ change: (inout WorkerConfiguration) -> Void = { _ in },
        _ body: (LaneFixture) async throws -> Void
    ) async throws {
        try await LaneFixture.run(
            calls: WaitingRoomTests.Lines(), assigned: [],
            {
                $0.concurrency = 2
                change(&$0)
                $0.topics.requestTopics = [RequestTopic("requests", classes: [.interactive, .batch])]
            },
            { fixture in
                await fixture.provider.hold()
                await fixture.source.setCommit(CommittedOffset(0, metadata: "locsearch1;at=0;\(metadata)"))
                await fixture.source.append(
                    (0..<batch).map { WaitingRoomTests.request("batch-\($0)", .batch) }
                        + [WaitingRoomTests.request("person", .interactive)])
                await fixture.source.assign([0])
                try await body(fixture)
            })
    }

    private func notes(_ fixture: LaneFixture) async -> CrashNotes? {
        guard let commit = await fixture.source.commits[Self.partition],
            case .known(let metadata) = CommitMetadata.read(commit)
        else { return nil }
        return metadata.crashes
    }

    @Test func `A record that overtakes thousands is noted before it begins`() async throws {
        try await takeOverMixed("tries=1", batch: 2_000) { fixture in
            try await eventually("all is read", within: .seconds(30)) {
                await fixture.lane.status.waiting.contains { $0.flow.requestClass == .interactive }
            }
            await fixture.provider.release(2)
            try await eventually("the interactive request is asked for") {
                await fixture.provider.asked.contains("person")
            }
            let notes = await notes(fixture)
            #expect(notes?.tries == 2)
            #expect(notes?.running.contains(2_000) == true)
            #expect(notes?.running.count ?? 0 < 100, "and none that only waits: \(String(describing: notes?.running))")
        }
    }

    @Test func `A record that overtook others runs alone after two crashes`() async throws {
        try await takeOverMixed("tries=2;running=2", batch: 2) { fixture in
            try await eventually("it runs alone") { await fixture.provider.waitsAlone("person") }
            #expect(await fixture.provider.asked == ["person"], "those before it wait")
            #expect(await notes(fixture)?.suspect == .init(offset: 2, ends: 0, isRunning: true))
            #expect(await fixture.source.crashCommit[Self.partition] != nil)

            await fixture.provider.release(1)
            try await eventually("the others are asked for") { await fixture.provider.asked.count == 3 }
            #expect(await fixture.source.crashCommit.isEmpty)
            await fixture.provider.release(2)
            try await fixture.isCommitted(upTo: 3)
        }
    }

    /// Its outcome has to be published after that of a request that waits for the only permit.
    @Test func `A record that overtook others takes no permit from those before it`() async throws {
        try await takeOverMixed("tries=2;running=1", batch: 0) {
            $0.concurrency = 1
            $0.ordering = .partition
        } _: { fixture in
            await fixture.source.append([WaitingRoomTests.request("later", .interactive)])
            for id in ["later", "person"] {
                try await eventually("\(id) is asked for") { await fixture.provider.waitsAlone(id) }
                await fixture.provider.release(1)
            }
            try await fixture.isCommitted(upTo: 2)
            #expect(await fixture.sink.written.map { $0.text.contains("\"person\"") } == [true, false])
        }
    }

    /// It belongs to its class, although it waits in no queue.
    @Test func `A batch record that ran alone is published after those before it`() async throws {
        try await takeOverMixed("tries=2;running=1", batch: 2) {
            $0.ordering = .partition
        } _: { fixture in
            try await eventually("it runs alone") { await fixture.provider.waitsAlone("batch-1") }
            await fixture.provider.release(1)
            try await eventually("the others are asked for") { await fixture.provider.asked.count == 3 }
            await fixture.provider.releaseAll()
            try await fixture.isCommitted(upTo: 3)
            let batch = await fixture.sink.written.map(\.text).filter { $0.contains("\"batch-") }
            #expect(batch.map { $0.contains("\"batch-0\"") } == [true, false])
        }
    }

    /// The next owner runs the records before it, and its outcome would precede theirs.
    @Test func `A record that ran alone is not published without those before it`() async throws {
        try await takeOverMixed("tries=2;running=1", batch: 2) {
            $0.ordering = .partition
        } _: { fixture in
            try await eventually("it runs alone") { await fixture.provider.waitsAlone("batch-1") }
            await fixture.provider.release(1)
            await fixture.source.revoke([0])
            let batch = await fixture.sink.written.map(\.text).filter { $0.contains("\"batch-") }
            #expect(batch.first?.contains("\"batch-1\"") != true)
        }
    }

    /// Any program that may commit for the group can write such metadata.
    @Test(arguments: [
        "tries=9223372036854775807", "tries=2;begun=9223372036854775807", "tries=3;alone=0:9223372036854775807",
        "tries=2;running=0+9223372036854775807", "tries=9223372036854775807;begun=1;suspect=0:9223372036854775807",
    ])
    func `Numbers of any size crash no owner`(_ notes: String) async throws {
        try await takeOverMixed(notes, batch: 3) { fixture in
            await fixture.provider.releaseAll()
            try await eventually("all have an outcome", within: .seconds(20)) {
                await fixture.source.committed[Self.partition] == 4
            }
        }
    }

    /// The notes of one read are longer than such metadata.
    @Test(arguments: [128, 160, 200], ["tries=1", "tries=2;running=1+3+5"])
    func `A lane with classes reads on with little room for notes`(bytes: Int, notes: String) async throws {
        try await takeOverMixed(notes, batch: 200) {
            $0.doneSetBytes = bytes
        } _: { fixture in
            await fixture.provider.releaseAll()
            try await eventually("all is done", within: .seconds(30)) {
                await fixture.source.committed[Self.partition] == 201
            }
            #expect(await fixture.source.commits[Self.partition]?.metadata.utf8.count ?? 0 <= bytes)
        }
    }
}
