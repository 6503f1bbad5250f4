import EventLoop
import Kafka
import KafkaTestSupport
import Observability
import Synchronization
import TestSupport
import Testing

@testable import WorkerRuntime

/// Exactly-once on a lane without brokers: a producer that can run no further transactions is replaced, and no
/// outcome is published and no call made twice.
@Suite(.timeLimit(.minutes(1)))
struct TransactionalDeliveryTests {
    /// Possible errors of an end of a transaction although no other process has the transactional id.
    static let finalErrors = [
        KafkaError(.fatal, "commit transaction: made to fail: invalid state"),
        KafkaError(.fenced, "commit transaction: made to fail: fenced"),
        FakeSink.hung,
    ]

    /// The answer to the commit is lost, and the coordinator answers the retry with an invalid transaction state.
    @Test(arguments: finalErrors)
    func `Outcomes of a commit that took effect are not published again`(error: KafkaError) async throws {
        try await LaneFixture.run(delivery: .exactlyOnce) { fixture in
            await fixture.sink.failCommits([.init(error: error, hasTakenEffect: true)])
            await fixture.source.append(["a", "b"].map(LaneFixture.request))
            try await eventually("the producer is replaced") { await fixture.nextSink.registrations == 1 }

            await fixture.source.append([LaneFixture.request("c")])
            try await fixture.isCommitted(upTo: 3)
            // The number of outcomes in the first transaction depends on the times of the answers.
            let texts = await fixture.sink.written.map(\.text) + fixture.nextSink.written.map(\.text)
            #expect(texts.count == 3)
            for id in ["a", "b", "c"] { #expect(texts.count { $0.contains("\"\(id)\"") } == 1) }
            #expect(await fixture.provider.asked == ["a", "b", "c"])
        }
    }

    /// librdkafka would give the numbers of the purged records, which may be in the log, to the records of the next transaction.
    @Test func `Producer that purged records is replaced`() async throws {
        try await LaneFixture.run(delivery: .exactlyOnce) { fixture in
            await fixture.sink.holdReports()
            await fixture.source.append(["a", "b", "c"].map(LaneFixture.request))
            try await eventually("another producer goes on", within: .seconds(20)) {
                await fixture.nextSink.registrations == 1
            }

            try await fixture.isCommitted(upTo: 3)
            #expect(await fixture.sink.abortCount == 1)
            #expect(await fixture.sink.written.isEmpty)
            #expect(await fixture.nextSink.written.count == 3)
            #expect(await fixture.provider.asked.count == 3)
        }
    }

    // MARK: - Calls that do not return

    /// No further call may be made to a producer that is blocked by a call, not even an abort.
    @Test(arguments: FakeSink.Call.allCases.filter { $0 != .initialize })
    func `Producer that is held by a call is replaced and counted`(call: FakeSink.Call) async throws {
        try await LaneFixture.run(delivery: .exactlyOnce) { fixture in
            await fixture.sink.change { $0.hungCall = call }
            if call == .abort {
                await fixture.sink.failCommits([.init(error: KafkaError(.abortable, "made to fail"))])
            }
            await fixture.source.append(["a", "b", "c"].map(LaneFixture.request))

            try await fixture.isCommitted(upTo: 3)
            try await fixture.outcomesAreWritten(["a", "b", "c"])
            #expect(await fixture.written.count == 3)
            #expect(await fixture.sink.abortCount == (call == .abort ? 1 : 0))
            #expect(await fixture.provider.asked.count == 3)
            #expect(fixture.metrics.value("locsearch_producers_replaced_total") == 1)
        }
    }

    /// Makes sinks whose first commit hangs, and a working one as the last.
    private final class HangingSinks: Sendable {
        private let state = Mutex<(count: Int, held: [FakeSink])>((0, []))
        private let last: Int
        private let areHeld: Bool

        init(last: Int, areHeld: Bool) { (self.last, self.areHeld) = (last, areHeld) }

        var count: Int { state.withLock { $0.count } }

        func make() -> FakeSink {
            state.withLock { state in
                state.count += 1
                let hung = FakeSink.CommitFailure(error: FakeSink.hung)
                let sink = FakeSink(isTransactional: true, commitFailures: state.count < last ? [hung] : [])
                if areHeld { state.held.append(sink) }
                return sink
            }
        }
    }

    @Test func `Lane ends when too many producers are held by calls`() async throws {
        let sinks = HangingSinks(last: 100, areHeld: true)
        let error = await #expect(throws: KafkaError.self) {
            try await LaneFixture.run(
                delivery: .exactlyOnce, replacements: LaneFixture.Replacements { sinks.make() }
            ) { fixture in
                await fixture.sink.failCommits([.init(error: FakeSink.hung)])
                await fixture.source.append([LaneFixture.request("a")])
                try await eventually("the lane leaves", within: .seconds(40)) { await fixture.source.isClosed }
            }
        }
        #expect(error?.kind == .hung)
        #expect(error?.description.contains("the worker stops") == true)
        #expect(sinks.count == ReplaceableSink.maxAbandoned)
    }

    @Test func `Producers whose calls returned at last do not count`() async throws {
        let count = ReplaceableSink.maxAbandoned + 3
        let sinks = HangingSinks(last: count, areHeld: false)
        try await LaneFixture.run(
            delivery: .exactlyOnce, replacements: LaneFixture.Replacements { sinks.make() }
        ) { fixture in
            await fixture.sink.failCommits([.init(error: FakeSink.hung)])
            await fixture.source.append([LaneFixture.request("a")])
            try await eventually("the request is served", within: .seconds(40)) {
                let status = await fixture.lane.status
                return await fixture.provider.asked.count == 1 && status.inFlight + status.unconfirmed == 0
            }
            #expect(sinks.count == count)
            #expect(fixture.metrics.value("locsearch_producers_replaced_total") == Double(count))
        }
    }

    /// The requests topic is recreated while a request of the former one is open.
    @Test(arguments: finalErrors)
    func `Outcomes of a topic that was made again are published once`(error: KafkaError) async throws {
        try await LaneFixture.run(delivery: .exactlyOnce) { fixture in
            await fixture.provider.hold()
            await fixture.source.skip(to: 5)
            await fixture.source.append([LaneFixture.request("former")])
            try await eventually("it is asked for") { await fixture.provider.asked.count == 1 }
            await fixture.source.restart(0)
            await fixture.source.append(["a", "b"].map(LaneFixture.request))
            try await eventually("all are asked for") { await fixture.provider.asked.count == 3 }

            await fixture.sink.failCommits([.init(error: error, hasTakenEffect: true)])
            await fixture.provider.releaseAll()
            try await eventually("the producer is replaced") { await fixture.nextSink.registrations == 1 }
            try await fixture.outcomesAreWritten(["a", "b"])

            await fixture.source.append([LaneFixture.request("c")])
            try await fixture.outcomesAreWritten(["c"])
            #expect(await fixture.written.count == 3)
        }
    }

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
    @Test func `Requests begin again when a failure is explained and nothing is left`() async throws {
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

    @Test func `Commit without an answer is asked again and not aborted`() async throws {
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

    @Test func `Producer that fails again and again ends the lane`() async throws {
        let made = Mutex<[FakeSink]>([])
        let failures = [FakeSink.CommitFailure](repeating: .init(error: Self.finalErrors[0]), count: 2)
        let replacements = LaneFixture.Replacements {
            let sink = FakeSink(isTransactional: true, commitFailures: failures)
            made.withLock { $0.append(sink) }
            return sink
        }

        await #expect(throws: KafkaError.self) {
            try await LaneFixture.run(delivery: .exactlyOnce, replacements: replacements) { fixture in
                await fixture.sink.failCommits(failures)
                await fixture.source.append([LaneFixture.request("a")])
                try await eventually("the lane leaves", within: .seconds(30)) { await fixture.source.isClosed }
            }
        }
        #expect(made.withLock(\.count) == 3)
    }

    @Test func `Membership is asked for anew in each transaction`() async throws {
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
    func `Requests begin again once what failed is another members`(isTopicRefused: Bool) async throws {
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
    @Test func `Refused outcome is tried again after others were committed`() async throws {
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
    @Test func `Lane that fails during a commit ends without its answer`() async throws {
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
    @Test func `Partition that comes back waits for the transaction of its former assignment`() async throws {
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
    @Test func `Revoked partition is kept while its offsets are on their way`() async throws {
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

    @Test func `Transaction whose partition is lost meanwhile sends no offsets`() async throws {
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
    @Test func `Outcomes that wait for their transaction hold up the intake`() async throws {
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
