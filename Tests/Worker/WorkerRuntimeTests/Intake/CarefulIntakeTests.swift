import EventContract
import Kafka
import QuotaSharing
import TestSupport
import Testing

@testable import WorkerRuntime

/// A lane's handling of the first records of a partition, and of one that crashes processes.
@Suite(.timeLimit(.minutes(1)))
struct CarefulIntakeTests {
    private static let partition = TopicPartition("requests", 0)
    private static let rebalancing = KafkaError(.retriable, "the group is rebalancing")

    /// Runs a lane that takes over a partition with crash notes of former owners.
    /// - Parameters:
    ///   - holding: true if the provider does not answer.
    ///   - refusal: the answer to commits.
    ///   - commitInterval: a long one, so that no other commit withdraws a note, and none is overdue.
    private func takeOver(
        _ metadata: String, records: [String], holding: Bool = false, refusal: KafkaError? = nil,
        commitInterval: Duration = .milliseconds(50), _ body: (LaneFixture) async throws -> Void
    ) async throws {
        try await LaneFixture.run(assigned: [], { $0.commitInterval = commitInterval }) { fixture in
            if holding { await fixture.provider.hold() }
            await fixture.source.refuseCommits(with: refusal)
            await fixture.source.setCommit(CommittedOffset(0, metadata: "locsearch1;at=0;\(metadata)"))
            await fixture.source.append(records.map(LaneFixture.request))
            await fixture.source.assign([0])
            try await body(fixture)
        }
    }

    private func metadata(_ fixture: LaneFixture) async -> String? {
        await fixture.source.commits[Self.partition]?.metadata
    }

    @Test func `No request begins before its try is committed`() async throws {
        try await LaneFixture.run { fixture in
            await fixture.source.refuseCommits(with: Self.rebalancing)
            await fixture.source.append((0..<1000).map { LaneFixture.request("r\($0)") })
            let commits = await fixture.source.commitCount
            try await eventually("commits are tried") { await fixture.source.commitCount > commits + 2 }
            #expect(await fixture.provider.asked.isEmpty)
            #expect(await fixture.source.unreadCount >= 1000 - 64, "one read, whose records wait for the note")

            await fixture.source.refuseCommits(with: nil)
            try await fixture.isCommitted(upTo: 1000)
            #expect(await metadata(fixture) == "locsearch1;at=1000;tries=1")
        }
    }

    /// Otherwise a record that crashes each process before its first transaction would never be found.
    @Test func `A transaction notes the try before brokers have proved to keep metadata`() async throws {
        try await LaneFixture.run(delivery: .exactlyOnce, { $0.doneSetBytes = 4096 }) { fixture in
            await fixture.provider.hold()
            await fixture.source.append([LaneFixture.request("a")])
            try await eventually("it is asked for") { await fixture.provider.asked == ["a"] }
            let note = CommittedOffset(0, metadata: "locsearch1;at=0;tries=1")
            #expect(await fixture.sink.transactionOffsets[Self.partition] == note)
        }
    }

    @Test func `A revoked partition is left without a try`() async throws {
        try await LaneFixture.run { fixture in
            try await fixture.commitsFirstRequest()
            await fixture.source.revoke([0])
            #expect(await metadata(fixture)?.isEmpty == true)
        }
    }

    /// With ordering, a rejected outcome ends the worker. It ends by its own decision, so no record is to blame.
    @Test func `A worker that ends by its own decision leaves no try`() async throws {
        let refusal = KafkaError(.authentication, code: 29, "TOPIC_AUTHORIZATION_FAILED")
        await #expect(throws: KafkaError.self) {
            try await LaneFixture.run({ $0.ordering = .partition }) { fixture in
                try await fixture.commitsFirstRequest()
                #expect(await metadata(fixture) == "locsearch1;at=1;tries=1")

                await fixture.sink.refuse { _, _ in refusal }
                await fixture.source.append(["refused"].map(LaneFixture.request))
                try await eventually("the lane leaves") { await fixture.source.isClosed }
                #expect(await metadata(fixture)?.isEmpty == true)
                #expect(await fixture.source.commits[Self.partition]?.offset == 1)
            }
        }
    }

    @Test func `After a crash the next owner notes how far it begins`() async throws {
        try await takeOver("tries=1", records: ["a", "b"], holding: true) { fixture in
            try await eventually("both are asked for") { await fixture.provider.asked.count == 2 }
            #expect(await metadata(fixture) == "locsearch1;at=0;tries=2;begun=2")
        }
    }

    @Test func `Records run alone after two crashes`() async throws {
        try await takeOver("tries=2;begun=2", records: ["a", "b", "c"], holding: true) { fixture in
            for (offset, id) in ["a", "b"].enumerated() {
                try await eventually("\(id) is asked for") { await fixture.provider.waitsAlone(id) }
                #expect(await fixture.provider.asked.count == offset + 1, "nothing else is under way")
                #expect(await metadata(fixture) == "locsearch1;at=\(offset);tries=3;begun=2;alone=\(offset):0")
                let crash = await fixture.source.crashCommit[Self.partition]
                #expect(
                    crash
                        == CommittedOffset(
                            Int64(offset), metadata: "locsearch1;at=\(offset);tries=3;begun=2;suspect=\(offset):3"))
                await fixture.provider.release(1)
            }
            try await eventually("c is asked for") { await fixture.provider.asked.last == "c" }
            #expect(await fixture.source.crashCommit.isEmpty)
            #expect(await metadata(fixture) == "locsearch1;at=2;tries=2;begun=3", "in small steps again")
        }
    }

    /// Two owners of a healthy fleet were killed in a row, and the begun requests include slow ones.
    @Test func `Slow requests delay others only while records run alone`() async throws {
        try await takeOver("tries=2;begun=2", records: ["slow", "slower", "c"], holding: true) { fixture in
            try await eventually("the first runs alone") { await fixture.provider.waitsAlone("slow") }
            try await eventually("the others begin beside it", within: .seconds(20)) {
                await fixture.provider.asked == ["slow", "slower", "c"]
            }
            #expect(await fixture.source.crashCommit.isEmpty, "no crash is put down to one of them")
            #expect(await metadata(fixture) == "locsearch1;at=0;tries=3;begun=3")
        }
    }

    /// MirrorMaker copies metadata to another offset, where its notes name other records.
    @Test func `Notes that were copied to another offset blame no record`() async throws {
        try await LaneFixture.run(assigned: []) { fixture in
            await fixture.source.setCommit(
                CommittedOffset(0, metadata: "locsearch1;at=7;tries=3;begun=3;suspect=1:3"))
            await fixture.source.append(["a", "b", "c"].map(LaneFixture.request))
            await fixture.source.assign([0])
            try await fixture.isCommitted(upTo: 3)
            #expect(Set(await fixture.provider.asked) == ["a", "b", "c"])
            #expect(await metadata(fixture) == "locsearch1;at=3;tries=1", "and none of them runs alone")
        }
    }

    /// The record has not run. A kill of the worker during the pause must not count against it.
    @Test func `Paused intake leaves no note that a record runs alone`() async throws {
        var paused = LaneControls()
        paused.isIntakeOpen = false
        try await takeOver(
            "tries=2;begun=1", records: ["a"], holding: true, refusal: Self.rebalancing, commitInterval: .seconds(30)
        ) { [paused] fixture in
            try await eventually("the note is on its way") {
                await fixture.source.handedOver(of: Self.partition)?.metadata.contains("alone=0") == true
            }

            await fixture.lane.apply(paused)
            await fixture.source.refuseCommits(with: nil)
            try await eventually("the note is taken back", within: .seconds(20)) {
                await metadata(fixture) == "locsearch1;at=0;tries=3;begun=1"
            }
            #expect(await fixture.provider.asked.isEmpty)

            await fixture.lane.apply(LaneControls())
            try await eventually("it runs alone after the pause", within: .seconds(20)) {
                await fixture.provider.waitsAlone("a")
            }
            #expect(await metadata(fixture)?.contains("alone=0:0") == true)
        }
    }

    @Test(arguments: ["suspect=1:3", "alone=1:2"])
    func `A record that crashes processes is set aside`(_ note: String) async throws {
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

    @Test func `A suspect runs alone once the group has been at rest`() async throws {
        let start = Instant.now
        try await takeOver("tries=2;begun=1;suspect=0:1", records: ["a"], holding: true) { fixture in
            try await eventually("it is asked for", within: .seconds(20)) { await fixture.provider.waitsAlone("a") }
            #expect(start.duration(to: .now) >= .seconds(1))
            #expect(await metadata(fixture) == "locsearch1;at=0;tries=3;begun=1;alone=0:1")
        }
    }

    /// A later kill of the worker must not count against a record that has finished.
    @Test func `The note of a suspect is withdrawn when it has finished`() async throws {
        try await takeOver("tries=2;begun=1;suspect=0:1", records: ["a"], commitInterval: .seconds(30)) { fixture in
            try await eventually("it is committed without the note", within: .seconds(20)) {
                await fixture.source.committed[Self.partition] == 1
            }
            #expect(await metadata(fixture)?.contains("alone") == false)
        }
    }

    /// A later kill of the worker, or a loss of the partition, must not count against a slow record.
    @Test func `The note of a slow record is withdrawn when others begin beside it`() async throws {
        try await takeOver("tries=2;begun=1", records: ["slow"], holding: true, commitInterval: .seconds(30)) {
            fixture in
            try await eventually("it runs alone") { await fixture.provider.waitsAlone("slow") }
            #expect(await metadata(fixture)?.contains("alone=0:0") == true)

            try await eventually("it goes on beside others", within: .seconds(20)) {
                await metadata(fixture)?.contains("alone") == false
            }
            #expect(await fixture.source.commits[Self.partition]?.offset == 0, "it is still under way")
        }
    }

    /// Otherwise the platform would kill the worker, and the record would be blamed once more.
    @Test func `A record in isolation does not extend the shutdown`() async throws {
        try await LaneFixture.run(assigned: []) {
            $0.shutdownGrace = .seconds(1)
        } _: { fixture in
            await fixture.provider.hold()
            await fixture.source.setCommit(CommittedOffset(0, metadata: "locsearch1;at=0;tries=7;begun=1"))
            await fixture.source.append([LaneFixture.request("slow")])
            await fixture.source.assign([0])
            try await eventually("it runs alone") { await fixture.provider.waitsAlone("slow") }
            await fixture.lane.drain()
            try await eventually("the lane ends", within: .seconds(15)) { await fixture.source.isClosed }
        }
    }

    /// In a group that never comes to rest, as in a long rollout, two suspects delay the lane once, and then
    /// begin together with other records.
    @Test func `A group that never rests delays suspects by one wait`() async throws {
        try await LaneFixture.run(assigned: []) {
            $0.commitInterval = .seconds(30)
        } _: { fixture in
            await fixture.provider.hold()
            await fixture.source.change { $0.commitDelay = GroupRest.promptCommit + .milliseconds(100) }
            for partition: Int32 in 0...1 {
                await fixture.source.setCommit(
                    CommittedOffset(0, metadata: "locsearch1;at=0;tries=2;begun=1;suspect=0:1"), partition: partition)
                await fixture.source.append([LaneFixture.request("r\(partition)")], to: partition)
            }
            let start = Instant.now
            await fixture.source.assign([0, 1])
            try await eventually("both begin", within: .seconds(20)) { await fixture.provider.asked.count == 2 }
            // After two crashes, records of a partition run alone for 5 s.
            #expect(start.duration(to: .now) < .seconds(10), "one wait, not two")
            #expect(await fixture.source.crashCommit.isEmpty)
            for partition: Int32 in 0...1 {
                let commit = await fixture.source.commits[TopicPartition("requests", partition)]
                #expect(commit?.metadata == "locsearch1;at=0;tries=3;begun=1;suspect=0:1", "no end is put down to it")
            }
        }
    }

    /// A finished record counts as done up to its offset.
    ///
    /// Here the second record of partition 1 would otherwise run alone and be committed before the first one had begun. In an
    /// unstable group the first one may begin only together with others.
    @Test func `A record that runs alone begins after the records before it`() async throws {
        try await LaneFixture.run(assigned: []) {
            $0.commitInterval = .seconds(30)
        } _: { fixture in
            await fixture.source.change { $0.commitDelay = GroupRest.promptCommit + .milliseconds(100) }
            let suspect = "locsearch1;at=0;tries=2;begun=2;suspect=0:1"
            for (partition, ids) in [(Int32(0), ["held"]), (1, ["first", "second"])] {
                await fixture.source.setCommit(CommittedOffset(0, metadata: suspect), partition: partition)
                await fixture.source.append(ids.map(LaneFixture.request), to: partition)
            }
            await fixture.source.assign([0, 1])
            try await eventually("all begin", within: .seconds(20)) { await fixture.provider.asked.count == 3 }
            #expect(await fixture.provider.asked.filter { $0 != "held" } == ["first", "second"])
        }
    }

    /// The worker may be killed before the group is stable, when the note that a record runs alone cannot be withdrawn.
    @Test func `A suspect does not run alone while the group rebalances`() async throws {
        let notes = "locsearch1;at=0;tries=3;begun=1;suspect=0:1"
        try await takeOver(
            "tries=2;begun=1;suspect=0:1", records: ["a"], holding: true, refusal: Self.rebalancing,
            commitInterval: .seconds(30)
        ) { fixture in
            try await eventually("the wait for the group ends", within: .seconds(20)) {
                await fixture.source.handedOver(of: Self.partition)?.metadata == notes
            }
            #expect(await fixture.provider.asked.isEmpty)

            await fixture.source.refuseCommits(with: nil)
            try await eventually("it begins beside others") { await fixture.provider.asked == ["a"] }
            #expect(await metadata(fixture) == notes)
            #expect(await fixture.source.crashCommit.isEmpty, "no crash is put down to it")
        }
    }

}
