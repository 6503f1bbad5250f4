import EventContract
import EventLoop
import Kafka
import TestSupport
import Testing

@testable import WorkerRuntime

/// What a lane does with the first records of a partition, and with one that crashes processes.
@Suite(.timeLimit(.minutes(1)))
struct CarefulIntakeTests {
    private static let partition = TopicPartition("requests", 0)

    /// Runs a lane that takes over a partition with what former owners have noted of it.
    private func takeOver(
        _ metadata: String, records: [String], holding: Bool = false, _ body: (LaneFixture) async throws -> Void
    ) async throws {
        try await LaneFixture.run(assigned: []) { fixture in
            if holding { await fixture.provider.hold() }
            await fixture.source.setCommit(CommittedOffset(0, metadata: "locsearch1;\(metadata)"))
            await fixture.source.append(records.map(LaneFixture.request))
            await fixture.source.assign([0])
            try await body(fixture)
        }
    }

    private func metadata(_ fixture: LaneFixture) async -> String? {
        await fixture.source.commits[Self.partition]?.metadata
    }

    @Test func nothingBeginsBeforeItsTryIsCommitted() async throws {
        try await LaneFixture.run { fixture in
            await fixture.source.refuseCommits(with: KafkaError(.retriable, "the group is rebalancing"))
            await fixture.source.append(["a", "b"].map(LaneFixture.request))
            let commits = await fixture.source.commitCount
            try await eventually("commits are tried") { await fixture.source.commitCount > commits + 2 }
            #expect(await fixture.provider.asked.isEmpty)

            await fixture.source.refuseCommits(with: nil)
            try await fixture.isCommitted(upTo: 2)
            #expect(await metadata(fixture) == "locsearch1;tries=1")
        }
    }

    @Test func partitionThatIsGivenUpIsLeftWithoutATry() async throws {
        try await LaneFixture.run { fixture in
            try await fixture.commitsFirstRequest()
            await fixture.source.revoke([0])
            #expect(await metadata(fixture)?.isEmpty == true)
        }
    }

    /// With an order, a refused outcome ends the worker. It does so by its own decision, so that no record is to blame.
    @Test func workerThatEndsItselfLeavesNoTry() async throws {
        let fixture = try LaneFixture(delivery: .atLeastOnce) { $0.ordering = .partition }
        defer { fixture.loop.stop() }
        let running = Task { try await fixture.lane.run() }
        try await eventually("the lane joins") { await fixture.source.isSubscribed }
        await fixture.source.assign([0])
        try await fixture.commitsFirstRequest()
        #expect(await metadata(fixture) == "locsearch1;tries=1")

        await fixture.sink.refuse { _, _ in KafkaError(.authentication, code: 29, "TOPIC_AUTHORIZATION_FAILED") }
        await fixture.source.append(["refused"].map(LaneFixture.request))
        await #expect(throws: KafkaError.self) { try await running.value }
        #expect(await metadata(fixture)?.isEmpty == true)
        #expect(await fixture.source.commits[Self.partition]?.offset == 1)
    }

    @Test func afterAnEndWithoutGoodbyeIsNotedHowFarItBegins() async throws {
        try await takeOver("tries=1", records: ["a", "b"], holding: true) { fixture in
            try await eventually("both are asked for") { await fixture.provider.asked.count == 2 }
            #expect(await metadata(fixture) == "locsearch1;tries=2;begun=2")
        }
    }

    @Test func recordsRunAloneWhereTwoProcessesEnded() async throws {
        try await takeOver("tries=2;begun=2", records: ["a", "b", "c"], holding: true) { fixture in
            for (offset, id) in ["a", "b"].enumerated() {
                try await eventually("\(id) is asked for") { await fixture.provider.waitsAlone(id) }
                #expect(await fixture.provider.asked.count == offset + 1, "nothing else is under way")
                #expect(await metadata(fixture) == "locsearch1;tries=3;begun=2;alone=\(offset):0")
                let crash = await fixture.source.crashCommit[Self.partition]
                #expect(
                    crash == CommittedOffset(Int64(offset), metadata: "locsearch1;tries=3;begun=2;suspect=\(offset):3"))
                await fixture.provider.release(1)
            }
            try await eventually("c is asked for") { await fixture.provider.asked.last == "c" }
            #expect(await fixture.source.crashCommit.isEmpty)
            #expect(await metadata(fixture) == "locsearch1;tries=2;begun=3", "in small steps again")
        }
    }

    /// Two owners of a healthy fleet were killed in a row, and slow requests are among what had begun.
    @Test func slowRequestsHoldOthersUpNoLongerThanCareLasts() async throws {
        try await takeOver("tries=2;begun=2", records: ["slow", "slower", "c"], holding: true) { fixture in
            try await eventually("the first runs alone") { await fixture.provider.waitsAlone("slow") }
            try await eventually("the others begin beside it", within: .seconds(20)) {
                await fixture.provider.asked == ["slow", "slower", "c"]
            }
            #expect(await fixture.source.crashCommit.isEmpty, "no crash is put down to one of them")
            #expect(await metadata(fixture) == "locsearch1;tries=3;begun=3")
        }
    }

    @Test(arguments: ["suspect=1:3", "alone=1:2"])
    func recordThatCrashesProcessesIsSetAside(_ note: String) async throws {
        try await takeOver("tries=3;begun=3;\(note)", records: ["a", "poison", "b"]) { fixture in
            try await fixture.isCommitted(upTo: 3)
            #expect(await fixture.provider.asked == ["a", "b"])

            let written = await fixture.sink.written
            let event = try #require(written.first { $0.topic == "errors" })
            #expect(event.text.contains(#""code":"internal""#))
            let letter = try #require(written.first { $0.topic == "dead-letters" })
            #expect(letter.headers.first { $0.name == "dead-letter-reason" }?.text == "crashed-workers")
            #expect(letter.headers.first { $0.name == "dead-letter-tries" }?.text == "3")
            #expect(letter.text.contains("poison"))
            #expect(fixture.metrics.value("locsearch_requests_set_aside_total") == 1)
        }
    }

    /// A worker with several loops has one process, which a record of another lane can end too.
    @Test func otherLanesOfTheProcessBeginNothingMeanwhile() async throws {
        let turn = LoneTurn()
        let other = turn.add { true }
        try await LaneFixture.run(loneTurn: turn) { fixture in
            try await fixture.commitsFirstRequest()
            #expect(turn.take(for: other))
            await fixture.source.append([LaneFixture.request("a")])
            try await eventually("it is read") { await fixture.source.unreadCount == 0 }
            for _ in 0..<50 { _ = await fixture.lane.status }
            #expect(await fixture.provider.asked == ["first"])

            turn.end(of: other)
            try await fixture.isCommitted(upTo: 2)
        }
    }

    @Test func turnIsTakenByOneLaneAtATime() async {
        let turn = LoneTurn()
        let (first, second) = (turn.add { true }, turn.add { false })
        #expect(turn.take(for: first))
        #expect(!turn.take(for: second))
        #expect(turn.isTaken(besides: second))
        #expect(!turn.isTaken(besides: first))
        #expect(await !turn.isQuiet(besides: first))
        #expect(await turn.isQuiet(besides: second))

        turn.end(of: second)
        #expect(turn.isTaken(besides: second), "a turn ends by the lane that has it")
        turn.end(of: first)
        #expect(turn.take(for: second))
    }
}
