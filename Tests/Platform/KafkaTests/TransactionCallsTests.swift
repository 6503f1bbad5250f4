import Basics
import CRdkafka
import EventLoop
import TestSupport
import Testing

@testable import Kafka

/// Every call about a transaction has a time limit, whenever it begins and whether or not librdkafka returns.
@Suite(.closesClients, .timeLimit(.minutes(1)))
struct TransactionCallsTests {
    /// A loop with calls that never return, as librdkafka's do while one of their requests waits for a broker.
    private actor CallsFixture {
        nonisolated let loop: EventLoop
        nonisolated var unownedExecutor: UnownedSerialExecutor { unsafe loop.asUnownedSerialExecutor() }
        private let calls: TransactionCalls
        private(set) var started: [Duration] = []

        /// - Parameter time: the time limit of a call; half of it is the permitted overtime.
        init(_ time: Duration = .seconds(10)) throws {
            loop = try .ofTest()
            calls = TransactionCalls(loop: loop, usualTime: time, overtime: time / 2)
        }

        func end(by instant: Instant) { calls.endAll(by: instant) }

        var hasStrayCall: Bool { calls.hasStrayCall }

        @discardableResult
        func returnFromCall(with error: KafkaError? = nil) -> Bool { calls.noteReturn(error) }

        /// - Returns: The error, and the time until it came.
        func make(_ call: TransactionCall) async -> (error: KafkaError?, time: Duration) {
            let begin = Instant.now
            do throws(KafkaError) {
                try await calls.make(call) { _, time in started.append(time) }
                return (nil, begin.duration(to: .now))
            } catch {
                return (error, begin.duration(to: .now))
            }
        }
    }

    @Test func `A call that begins after the end is abandoned a second later`() async throws {
        let fixture = try CallsFixture()
        await fixture.end(by: .now - .seconds(5))

        let (error, time) = await fixture.make(.commit)

        #expect(error?.kind == .timedOut)
        #expect(time >= .seconds(1))
        #expect(time < .seconds(5))
        #expect(await fixture.started.allSatisfy { $0 <= .milliseconds(100) })
        #expect(await fixture.hasStrayCall)
    }

    @Test func `A call that begins before the end is abandoned a second after it`() async throws {
        let fixture = try CallsFixture()
        let end = Instant.now + .milliseconds(300)
        await fixture.end(by: end)

        let (error, time) = await fixture.make(.abort)

        #expect(error?.kind == .timedOut)
        #expect(Instant.now >= end + .seconds(1))
        #expect(time < .seconds(5))
    }

    @Test func `A call in progress is abandoned when the end is set`() async throws {
        let fixture = try CallsFixture()
        let making = Task { await fixture.make(.commit) }
        try await eventually("the call has begun") { await fixture.started.count == 1 }

        await fixture.end(by: .now)
        let (error, time) = await making.value

        #expect(error?.kind == .timedOut)
        #expect(time < .seconds(5))
    }

    @Test func `No initialisation begins after the end`() async throws {
        let fixture = try CallsFixture()
        await fixture.end(by: .now)

        let (error, _) = await fixture.make(.initialize)

        #expect(error?.kind == .timedOut)
        #expect(await fixture.started.isEmpty)
        #expect(await !fixture.hasStrayCall)
    }

    @Test func `No call begins while an abandoned call blocks the client`() async throws {
        let fixture = try CallsFixture()
        await fixture.end(by: .now)
        _ = await fixture.make(.commit)

        let (error, time) = await fixture.make(.abort)
        #expect(error?.kind == .timedOut)
        #expect(time < .seconds(1), "a call that had begun would be left after a second")
        #expect(await fixture.started.count == 1)

        await fixture.returnFromCall()
        #expect(await !fixture.hasStrayCall)
    }

    // MARK: - Calls that hang

    /// Calls with empty offsets: the offsets are not used before the call begins.
    private static let calls: [TransactionCall] = [
        .begin, .sendOffsets([], as: GroupMembership()), .commit, .abort,
    ]

    @Test(arguments: calls)
    func `A call that does not return is hung after its time and overtime`(call: TransactionCall) async throws {
        let fixture = try CallsFixture(.milliseconds(400))

        let (error, time) = await fixture.make(call)

        #expect(error?.kind == .hung)
        #expect(time >= .milliseconds(600))
        #expect(time < .seconds(5))
        #expect(await fixture.started.allSatisfy { $0 <= .milliseconds(400) })
        #expect(await fixture.hasStrayCall)
        #expect(await fixture.returnFromCall(), "the call is known as one that has held the client")
    }

    /// librdkafka reports that an end of a transaction timed out and may continue. All attempts together share one time limit.
    @Test func `A call that times out repeatedly gets no more time`() async throws {
        let fixture = try CallsFixture(.milliseconds(400))
        let making = Task { await fixture.make(.commit) }
        try await eventually("the call has begun") { await fixture.started.count == 1 }
        await fixture.returnFromCall(with: KafkaError(.retriable, "timed out"))

        let (error, time) = await making.value

        #expect(error?.kind == .hung)
        #expect(time < .seconds(5))
        let started = await fixture.started
        #expect(started.count == 2)
        #expect(started.last ?? .zero < .milliseconds(400))
    }

    @Test func `A hung call is not awaited until a distant end`() async throws {
        let fixture = try CallsFixture(.milliseconds(400))
        await fixture.end(by: .now + .seconds(40))

        let (error, time) = await fixture.make(.commit)

        #expect(error?.kind == .hung)
        #expect(time < .seconds(10))
    }
}

/// Brokers do not fence a membership without a generation.
struct GroupMembershipTests {
    private func membership(of member: String, generation: Int32) -> GroupMembership? {
        guard let metadata = unsafe rd_kafka_consumer_group_metadata_new_with_genid("g", generation, member, nil) else {
            return nil
        }
        return unsafe GroupMembership(owning: metadata)
    }

    @Test(arguments: [Int32(0), 1, 77], ["", "m", "a member with a longer id"])
    func `A membership of a generation names its member`(generation: Int32, member: String) {
        #expect(membership(of: member, generation: generation)?.name?.memberID == member)
    }

    @Test(arguments: ["", "m"])
    func `A membership without a generation is refused`(member: String) {
        #expect(membership(of: member, generation: -1) == nil)
    }
}
