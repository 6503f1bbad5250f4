import EventLoop
import Kafka
import Synchronization
import TestSupport
import Testing

@testable import WorkerRuntime

/// Exactly-once on a lane without brokers: a producer that can run no further transaction is replaced, and nothing is
/// published or asked for twice.
@Suite(.timeLimit(.minutes(1)))
struct TransactionalDeliveryTests {
    /// The errors that an end of a transaction may come back with although nobody else has the transactional id.
    static let finalErrors = [
        KafkaError(.fatal, "commit transaction: made to fail: invalid state"),
        KafkaError(.fenced, "commit transaction: made to fail: fenced"),
    ]

    @Test(arguments: finalErrors)
    func producerThatFailsBeforeItsCommitIsReplacedWithoutAskingAgain(error: KafkaError) async throws {
        try await LaneBench.run(delivery: .exactlyOnce) { bench in
            await bench.sink.failCommits([.init(error: error)])
            await bench.source.append(["a", "b", "c"].map(LaneBench.request))

            try await bench.isCommitted(upTo: 3)
            #expect(await bench.nextSink.registrations == 1)
            #expect(await bench.sink.written.count + bench.nextSink.written.count == 3)
            #expect(await bench.provider.asked.count == 3)
            #expect(bench.metrics.value("locsearch_producers_replaced_total") == 1)
        }
    }

    /// The answer to the commit is lost, and the coordinator calls the transaction's state invalid when it is asked again.
    @Test(arguments: finalErrors)
    func outcomesOfACommitThatTookEffectAreNotPublishedAgain(error: KafkaError) async throws {
        try await LaneBench.run(delivery: .exactlyOnce) { bench in
            await bench.sink.failCommits([.init(error: error, hasTakenEffect: true)])
            await bench.source.countOffsets { await bench.sink.transactionOffsets }
            await bench.source.append(["a", "b"].map(LaneBench.request))
            try await eventually("the producer is replaced") { await bench.nextSink.registrations == 1 }

            await bench.source.append([LaneBench.request("c")])
            try await bench.isCommitted(upTo: 3)
            // How many of them were in the first transaction follows from when they were answered.
            let texts = await bench.sink.written.map(\.text) + bench.nextSink.written.map(\.text)
            #expect(texts.count == 3)
            for id in ["a", "b", "c"] { #expect(texts.count { $0.contains("\"\(id)\"") } == 1) }
            #expect(await bench.provider.asked == ["a", "b", "c"])
        }
    }

    @Test func commitWithoutAnAnswerIsAskedAgainAndNotAborted() async throws {
        try await LaneBench.run(delivery: .exactlyOnce) { bench in
            let silence = FakeSink.CommitFailure(error: KafkaError(.timedOut, "no answer in time"))
            await bench.sink.failCommits([silence, silence])
            await bench.source.append([LaneBench.request("a")])

            try await bench.isCommitted(upTo: 1)
            #expect(await bench.sink.abortCount == 0)
            #expect(await bench.sink.written.count == 1)
            #expect(await bench.nextSink.registrations == 0)
        }
    }

    @Test func memberWhosePlaceAnotherProcessHasTakenEnds() async throws {
        // FENCED_INSTANCE_ID, in the words of librdkafka.
        let replaced = KafkaError(
            .fenced, code: 82, "Static consumer fenced by other consumer with same group.instance.id")
        #expect(replaced.saysMemberWasReplaced)

        let error = await #expect(throws: KafkaError.self) {
            try await LaneBench.run(delivery: .exactlyOnce) { bench in
                await bench.sink.failCommits([.init(error: replaced)])
                await bench.source.append([LaneBench.request("a")])
                try await eventually("the lane leaves") { await bench.source.isClosed }
                #expect(await bench.nextSink.registrations == 0)
                #expect(await bench.source.committed.isEmpty)
            }
        }
        #expect(error == replaced)
    }

    @Test func producerThatFailsAgainAndAgainEndsTheLane() async throws {
        let made = Mutex<[FakeSink]>([])
        let failures = [FakeSink.CommitFailure](repeating: .init(error: Self.finalErrors[0]), count: 2)
        let replacements = LaneBench.Replacements {
            let sink = FakeSink(isTransactional: true, commitFailures: failures)
            made.withLock { $0.append(sink) }
            return sink
        }

        await #expect(throws: KafkaError.self) {
            try await LaneBench.run(delivery: .exactlyOnce, replacements: replacements) { bench in
                await bench.sink.failCommits(failures)
                await bench.source.append([LaneBench.request("a")])
                try await eventually("the lane leaves", within: .seconds(30)) { await bench.source.isClosed }
            }
        }
        #expect(made.withLock(\.count) == 3)
    }

    @Test func membershipIsAskedForAnewInEachTransaction() async throws {
        try await LaneBench.run(delivery: .exactlyOnce) { bench in
            for number in 1...3 {
                await bench.source.append([LaneBench.request("r\(number)")])
                try await bench.isCommitted(upTo: Int64(number))
            }
            #expect(await bench.source.membershipQuestions >= 3)
        }
    }

    /// What failed goes with its partition, and no record is left that would show when the failure is over.
    @Test(arguments: [true, false])
    func requestsBeginAgainOnceWhatFailedIsAnotherMembers(isTopicRefused: Bool) async throws {
        try await LaneBench.run(delivery: .exactlyOnce) { bench in
            if isTopicRefused {
                await bench.sink.refuse { _, _ in KafkaError(.other, code: 3, "unknown topic") }
            } else {
                let failure = FakeSink.CommitFailure(error: KafkaError(.abortable, "made to fail"))
                await bench.sink.failCommits([FakeSink.CommitFailure](repeating: failure, count: 1000))
            }
            await bench.source.append([LaneBench.request("a")])
            try await eventually("the failure lasts", within: .seconds(20)) {
                await bench.lane.status.deliveryProblem != nil
            }

            await bench.source.lose([0])
            await bench.sink.refuse { _, _ in nil }
            await bench.sink.failCommits([])
            await bench.source.assign([1])
            await bench.source.append([LaneBench.request("b")], to: 1)
            try await bench.isCommitted(upTo: 1, partition: 1)
            #expect(await bench.lane.status.deliveryProblem == nil)
        }
    }

    /// The outcome before it is committed, and nothing else becomes ready: its partition waits for the dead letter.
    @Test func refusedOutcomeIsTriedAgainAfterOthersWereCommitted() async throws {
        try await LaneBench.run(delivery: .exactlyOnce) { bench in
            await bench.sink.refuse { record, _ in
                record.topic == "dead-letters" ? KafkaError(.other, code: 3, "unknown topic") : nil
            }
            await bench.provider.hold()
            await bench.source.append([LaneBench.request("a"), "no request"])
            try await eventually("the first is asked for") { await bench.provider.asked.count == 1 }
            await bench.provider.releaseAll()
            try await bench.isCommitted(upTo: 1)

            await bench.sink.refuse { _, _ in nil }
            try await bench.isCommitted(upTo: 2)
        }
    }

    /// A call about a transaction may take 95 s. A lane whose consumer has failed does not sit that out.
    @Test func laneThatFailsDuringACommitEndsWithoutItsAnswer() async throws {
        let bench = try LaneBench(delivery: .exactlyOnce)
        let running = Task { try await bench.lane.run() }
        try await eventually("the lane joins") { await bench.source.isSubscribed }
        await bench.source.assign([0])
        await bench.sink.holdCommit()
        await bench.source.append([LaneBench.request("a")])
        try await eventually("a commit is under way") { await bench.sink.holdsCommit }

        await bench.source.fail(with: KafkaError(.fatal, "consumer: made to fail"))

        await #expect(throws: KafkaError.self) { try await running.value }
        #expect(await !bench.sink.holdsCommit)
        #expect(await bench.source.committed.isEmpty)
        bench.loop.stop()
    }

    /// A member that joins again may be in the same generation as before, where brokers take the offsets that it sent then. So the
    /// partition is not read before they are committed, or never will be.
    @Test func partitionThatComesBackWaitsForTheTransactionOfItsFormerAssignment() async throws {
        try await LaneBench.run(delivery: .exactlyOnce) {
            $0.shutdownGrace = .milliseconds(100)
        } _: { bench in
            await bench.sink.holdCommit()
            await bench.source.append([LaneBench.request("a")])
            try await eventually("a commit is under way") { await bench.sink.holdsCommit }
            await bench.source.revoke([0])

            let questions = await bench.source.partitionCountQuestions
            let committedAtReturn = Mutex<Int64??>(nil)
            let assigning = Task {
                await bench.source.assign([0])
                let offset = await bench.sink.transactionOffsets[TopicPartition("requests", 0)]
                committedAtReturn.withLock { $0 = .some(offset) }
            }
            try await eventually("the lane takes the partition") {
                await bench.source.partitionCountQuestions > questions
            }
            for _ in 0..<50 { _ = await bench.lane.status }
            #expect(committedAtReturn.withLock { $0 == nil })

            await bench.sink.releaseCommit()
            await assigning.value
            #expect(committedAtReturn.withLock { $0 } == .some(1))

            // Another partition than those of the transaction waits for nothing.
            await bench.sink.holdCommit()
            await bench.source.append([LaneBench.request("b")])
            try await eventually("another commit is under way") { await bench.sink.holdsCommit }
            await bench.source.assign([1])
            await bench.sink.releaseCommit()
            try await bench.isCommitted(upTo: 2)
        }
    }

    /// Outcomes that wait for the oldest request of their partition are in memory, so they count against what may be taken.
    @Test func outcomesThatWaitForTheirTransactionHoldUpTheIntake() async throws {
        var configuration = WorkerConfiguration()
        configuration.delivery = .exactlyOnce
        // The dead letter of a record that is no request holds the record's bytes.
        let half = String(repeating: "x", count: configuration.intakeLimits.unconfirmedBytes / 2 + 1)

        try await LaneBench.run(delivery: .exactlyOnce, assigned: [0, 1, 2]) { bench in
            await bench.provider.hold()
            for partition in [Int32(0), 1] {
                await bench.source.append([LaneBench.request("slow"), half], to: partition)
            }
            try await eventually("all are taken") { await bench.source.unreadCount == 0 }
            try await eventually("the outcomes are ready") { await bench.lane.status.inFlight == 2 }

            // A read that was waiting for records when the room ran out may take the first of these.
            for name in ["first", "second"] { await bench.source.append([LaneBench.request(name)], to: 2) }
            for _ in 0..<50 { _ = await bench.lane.status }
            #expect(await bench.source.unreadCount >= 1)

            await bench.provider.releaseAll()
            try await bench.isCommitted(upTo: 2)
            try await bench.isCommitted(upTo: 2, partition: 2)
        }
    }
}
