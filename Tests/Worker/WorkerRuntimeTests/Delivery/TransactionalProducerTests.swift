import Kafka
import Synchronization
import TestSupport
import Testing

@testable import WorkerRuntime

/// The transactional producers of lanes: their ids, and their replacement, after which no outcome is published and no call made twice.
@Suite(.timeLimit(.minutes(1)))
struct TransactionalProducerTests {
    // MARK: - Ids

    static let members: [(group: String, instance: String)] = [
        ("a-b", "c"), ("a", "b-c"), ("a", "b"), ("a-b-c", ""), ("a-1.0", "b"), ("a", "1.0-b"), ("a", "c-1.0"),
        ("a-c", "1.0"),
    ]

    @Test func `No two members of a cluster have the same id`() {
        let all = Self.members.flatMap { member in
            (0..<12).map { LaneAssembly.transactionalID(group: member.group, instance: member.instance, lane: $0) }
        }
        #expect(Set(all).count == all.count)
    }

    @Test(arguments: members)
    func `An id begins with the group for permissions by prefix`(member: (group: String, instance: String)) {
        let id = LaneAssembly.transactionalID(group: member.group, instance: member.instance, lane: 0)
        #expect(id.hasPrefix("\(member.group)-"))
    }

    // MARK: - Replacement

    /// Possible errors of an end of a transaction although no other process has the transactional id.
    static let finalErrors = [
        KafkaError(.fatal, "commit transaction: made to fail: invalid state"),
        KafkaError(.fenced, "commit transaction: made to fail: fenced"),
        FakeSink.hung,
    ]

    /// The answer to the commit is lost, and the coordinator answers the retry with an invalid transaction state.
    @Test(arguments: finalErrors)
    func `Outcomes of an effective commit are not published again`(error: KafkaError) async throws {
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
    @Test func `A producer that purged records is replaced`() async throws {
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

    /// No further call may be made to a producer that is blocked by a call, not even an abort.
    @Test(arguments: FakeSink.Call.allCases.filter { $0 != .initialize })
    func `A producer that hangs in a call is replaced and counted`(call: FakeSink.Call) async throws {
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

    @Test func `A lane ends when too many producers hang`() async throws {
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

    @Test func `Producers whose calls have returned do not count`() async throws {
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
    func `Outcomes of a recreated topic are published once`(error: KafkaError) async throws {
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

    @Test func `A producer that fails repeatedly ends the lane`() async throws {
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
}
