import Kafka
import Observability
import Synchronization
import TestSupport
import Testing

@testable import WorkerRuntime

/// The transactions of a lane without brokers.
@Suite(.timeLimit(.minutes(1)))
struct TransactionalDeliveryTests {
    /// The group has no time left to revoke its partitions.
    @Test func `A replaced member ends and its partitions are no longer counted`() async throws {
        // FENCED_INSTANCE_ID, with librdkafka's text.
        let replaced = KafkaError(
            .fenced, code: 82, "Static consumer fenced by other consumer with same group.instance.id")
        #expect(replaced.isMemberReplaced)

        var registry: MetricsRegistry?
        let error = await #expect(throws: KafkaError.self) {
            try await LaneFixture.run(delivery: .exactlyOnce) { fixture in
                registry = fixture.registry
                await fixture.source.change { $0.leavesSilently = true }
                await fixture.sink.failCommits([.init(error: replaced)])
                await fixture.source.append([LaneFixture.request("a")])
                try await eventually("the lane leaves") { await fixture.source.isClosed }
                #expect(await fixture.nextSink.registrations == 0)
                #expect(await fixture.source.committed.isEmpty)
            }
        }
        #expect(error == replaced)
        let metrics = PrometheusDocument(try #require(registry).prometheusText)
        #expect(metrics.value("locsearch_partitions_assigned") == 0)
    }

    /// Transactions fail for so long that intake pauses. Meanwhile the partition is lost during a transaction whose
    /// failure turns out to be caused by a topic.
    @Test func `Requests begin again when a failure is explained and no outcome is left`() async throws {
        // With such a low concurrency there is no window that would wake the reader.
        try await LaneFixture.run(delivery: .exactlyOnce, { $0.concurrency = 1 }) { fixture in
            try await fixture.commitsFirstRequest()
            let failure = FakeSink.CommitFailure(error: KafkaError(.abortable, "commit: made to fail"))
            await fixture.sink.failCommits([FakeSink.CommitFailure](repeating: failure, count: 1_000))
            await fixture.source.append([LaneFixture.request("a")])
            try await eventually("no request begins", within: .seconds(20)) {
                await fixture.lane.status.delivery.problem != nil
            }
            await fixture.source.append([LaneFixture.request("read and not begun")])
            try await eventually("it is read") { await fixture.source.unreadCount == 0 }

            await fixture.sink.holdReports()
            let before = await fixture.sink.handedOver.count
            try await eventually("a transaction is under way") { await fixture.sink.handedOver.count > before }
            await fixture.source.lose([0])
            await fixture.sink.refuse { _, _ in KafkaError(.timedOut, "no answer in time") }
            await fixture.sink.confirmAll()
            try await eventually("the failure is explained") { await fixture.lane.status.delivery.problem == nil }

            await fixture.sink.refuse { _, _ in nil }
            await fixture.sink.failCommits([])
            await fixture.source.assign([1])
            await fixture.source.append([LaneFixture.request("b")], to: 1)
            try await fixture.outcomesAreWritten(["b"])
        }
    }

    @Test func `A commit without an answer is repeated and not aborted`() async throws {
        try await LaneFixture.run(delivery: .exactlyOnce) { fixture in
            let silence = FakeSink.CommitFailure(error: KafkaError(.timedOut, "no answer in time"))
            await fixture.sink.failCommits([silence, silence])
            await fixture.source.append([LaneFixture.request("a")])

            try await fixture.isCommitted(upTo: 1)
            #expect(await fixture.sink.abortCount == 0)
            #expect(await fixture.sink.written.count == 1)
            #expect(await fixture.nextSink.registrations == 0)
        }
    }

    @Test func `Each transaction uses the current membership`() async throws {
        try await LaneFixture.run(delivery: .exactlyOnce) { fixture in
            for number in 1...3 {
                await fixture.source.append([LaneFixture.request("r\(number)")])
                try await fixture.isCommitted(upTo: Int64(number))
            }
            #expect(await fixture.source.membershipQuestions >= 3)
        }
    }

    /// The failed outcome goes with its partition, so no record is left that would show the end of the failure.
    @Test(arguments: [true, false])
    func `Requests begin again once the failed partition is lost`(isTopicRefused: Bool) async throws {
        try await LaneFixture.run(delivery: .exactlyOnce) { fixture in
            if isTopicRefused {
                await fixture.sink.refuse { _, _ in KafkaError(.other, code: 3, "unknown topic") }
            } else {
                let failure = FakeSink.CommitFailure(error: KafkaError(.abortable, "made to fail"))
                await fixture.sink.failCommits([FakeSink.CommitFailure](repeating: failure, count: 1000))
            }
            await fixture.source.append([LaneFixture.request("a")])
            try await eventually("the failure lasts", within: .seconds(20)) {
                await fixture.lane.status.delivery.problem != nil
            }

            await fixture.source.lose([0])
            await fixture.sink.refuse { _, _ in nil }
            await fixture.sink.failCommits([])
            await fixture.source.assign([1])
            await fixture.source.append([LaneFixture.request("b")], to: 1)
            try await fixture.isCommitted(upTo: 1, partition: 1)
            #expect(await fixture.lane.status.delivery.problem == nil)
        }
    }

    /// The preceding outcome is committed, and no other becomes ready: its partition waits for the dead letter.
    @Test func `A rejected outcome is retried after others were committed`() async throws {
        try await LaneFixture.run(delivery: .exactlyOnce) { fixture in
            await fixture.sink.refuse { record, _ in
                record.topic == "dead-letters" ? KafkaError(.other, code: 3, "unknown topic") : nil
            }
            await fixture.provider.hold()
            await fixture.source.append([LaneFixture.request("a"), "no request"])
            try await eventually("the first is asked for") { await fixture.provider.asked.count == 1 }
            await fixture.provider.releaseAll()
            try await fixture.isCommitted(upTo: 1)

            await fixture.sink.refuse { _, _ in nil }
            try await fixture.isCommitted(upTo: 2)
        }
    }

    /// A call about a transaction may take 95 s. A lane whose consumer has failed does not wait for it.
    @Test func `A lane that fails during a commit does not wait for the answer`() async throws {
        let fatal = KafkaError(.fatal, "consumer: made to fail")
        await #expect(throws: fatal) {
            try await LaneFixture.run(delivery: .exactlyOnce) { fixture in
                await fixture.sink.holdCommit()
                await fixture.source.append([LaneFixture.request("a")])
                try await eventually("a commit is under way") { await fixture.sink.holdsCommit }

                await fixture.source.fail(with: fatal)
                try await eventually("the lane leaves") { await fixture.source.isClosed }
                try await eventually("the commit is abandoned") { await !fixture.sink.holdsCommit }
                #expect(await fixture.source.committed.isEmpty)
            }
        }
    }

    /// A member that joins again may be in the same generation as before, so brokers accept the offsets that it sent then.
    ///
    /// Therefore the partition is not read before they are committed, or can no longer be.
    @Test func `A partition that returns waits for the transaction of its former assignment`() async throws {
        try await LaneFixture.run(delivery: .exactlyOnce) {
            $0.shutdownGrace = .milliseconds(100)
        } _: { fixture in
            try await fixture.commitsFirstRequest()
            await fixture.sink.holdCommit()
            await fixture.source.append([LaneFixture.request("a")])
            try await eventually("a commit is under way") { await fixture.sink.holdsCommit }
            await fixture.source.revoke([0])

            let questions = await fixture.source.partitionCountQuestions
            let committedAtReturn = Mutex<Int64??>(nil)
            let assigning = Task {
                await fixture.source.assign([0])
                let offset = await fixture.sink.transactionOffsets[TopicPartition("requests", 0)]
                committedAtReturn.withLock { $0 = .some(offset?.offset) }
            }
            try await eventually("the lane takes the partition") {
                await fixture.source.partitionCountQuestions > questions
            }
            for _ in 0..<50 { _ = await fixture.lane.status }
            #expect(committedAtReturn.withLock { $0 == nil })

            await fixture.sink.releaseCommit()
            await assigning.value
            #expect(committedAtReturn.withLock { $0 } == .some(2))

            // A partition that is not part of the transaction does not wait.
            await fixture.sink.holdCommit()
            await fixture.source.append([LaneFixture.request("b")])
            try await eventually("another commit is under way") { await fixture.sink.holdsCommit }
            await fixture.source.assign([1])
            await fixture.sink.releaseCommit()
            try await fixture.isCommitted(upTo: 3)
        }
    }

    /// A member of a KIP-848 group may be in the same epoch when its offsets arrive. A broker that accepts them then moves the
    /// group's offset while the next owner reads.
    @Test func `A revoked partition is kept while its offsets are being sent`() async throws {
        try await LaneFixture.run(delivery: .exactlyOnce, assigned: [0, 1]) {
            $0.shutdownGrace = .milliseconds(100)
        } _: { fixture in
            try await fixture.commitsFirstRequest()
            await fixture.sink.holdOffsets()
            await fixture.source.append([LaneFixture.request("a")])
            try await eventually("offsets are on their way") { await fixture.sink.holdsOffsets }

            // A partition that is not part of the transaction is revoked at once.
            await fixture.source.revoke([1])

            let isGivenUp = Mutex(false)
            let revoking = Task {
                await fixture.source.revoke([0])
                isGivenUp.withLock { $0 = true }
            }
            try await eventually("the lane has let go of the partition") { await fixture.lane.status.unconfirmed == 0 }
            for _ in 0..<50 { _ = await fixture.lane.status }
            #expect(!isGivenUp.withLock { $0 })

            // After the offsets have arrived, the next owner waits for the end of the transaction.
            await fixture.sink.holdCommit()
            await fixture.sink.releaseOffsets()
            await revoking.value
            #expect(await fixture.sink.transactionOffsets[TopicPartition("requests", 0)]?.offset == 1)
            await fixture.sink.releaseCommit()
            try await eventually("the transaction ends") {
                await fixture.sink.transactionOffsets[TopicPartition("requests", 0)]?.offset == 2
            }
        }
    }

    @Test func `A transaction whose partition is lost meanwhile sends no offsets`() async throws {
        try await LaneFixture.run(delivery: .exactlyOnce) { fixture in
            try await fixture.commitsFirstRequest()
            await fixture.source.holdMembership()
            await fixture.source.append([LaneFixture.request("a")])
            try await eventually("the membership is asked for") { await fixture.source.holdsMembership }

            await fixture.source.lose([0])
            await fixture.source.releaseMembership()
            try await eventually("the transaction is aborted") { await fixture.sink.abortCount == 1 }
            #expect(await fixture.sink.transactionOffsets[TopicPartition("requests", 0)]?.offset == 1)
            #expect(await !fixture.sink.written.contains { $0.text.contains("\"a\"") })
        }
    }

    /// A transaction may take 100 ms. A small intake meanwhile would limit the requests per second.
    @Test func `As many requests begin during a transaction as the next one holds`() async throws {
        let count = 1000
        try await LaneFixture.run(delivery: .exactlyOnce) { fixture in
            try await fixture.commitsFirstRequest()
            await fixture.sink.holdCommit()
            await fixture.source.append([LaneFixture.request("a")])
            try await eventually("a commit is under way") { await fixture.sink.holdsCommit }
            await fixture.source.append((1...count).map { LaneFixture.request("r\($0)") })
            try await eventually("all are asked for", within: .seconds(20)) {
                await fixture.provider.asked.count == count + 2
            }
            #expect(await fixture.sink.holdsCommit)
            await fixture.sink.releaseCommit()
            try await fixture.isCommitted(upTo: Int64(count) + 2)
        }
    }

    /// Outcomes that wait for the oldest request of their partition are in memory, so they count against the intake limits.
    @Test func `Outcomes that wait for their transaction limit the intake`() async throws {
        var configuration = WorkerConfiguration()
        configuration.delivery = .exactlyOnce
        // The dead letter of an invalid record contains the record's bytes.
        let half = String(repeating: "x", count: configuration.intakeLimits.unconfirmedBytes / 2 + 1)

        try await LaneFixture.run(delivery: .exactlyOnce, assigned: [0, 1, 2], { $0.doneSetBytes = 0 }) { fixture in
            await fixture.provider.hold()
            for partition in [Int32(0), 1] {
                await fixture.source.append([LaneFixture.request("slow"), half], to: partition)
            }
            try await eventually("all are taken") { await fixture.source.unreadCount == 0 }
            try await eventually("the outcomes are ready") { await fixture.lane.status.inFlight == 2 }

            // A read that was waiting for records when the room ran out may return the first of these.
            for name in ["first", "second"] { await fixture.source.append([LaneFixture.request(name)], to: 2) }
            for _ in 0..<50 { _ = await fixture.lane.status }
            #expect(await fixture.source.unreadCount >= 1)

            await fixture.provider.releaseAll()
            try await fixture.isCommitted(upTo: 2)
            try await fixture.isCommitted(upTo: 2, partition: 2)
        }
    }
}
