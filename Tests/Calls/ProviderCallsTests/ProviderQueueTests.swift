import Basics
import LocationSearch
import Resilience
import TestSupport
import Testing

@testable import ProviderCalls
@testable import QuotaSharing

/// The conditions under which calls begin.
struct ProviderQueueTests {
    /// A loop with one provider whose daily calls are all kept for interactive requests.
    private final class Loop {
        let time: VirtualTime
        let member: BudgetMember
        let calls: QueuedCalls
        private let period: BudgetPeriod

        init(_ time: VirtualTime) throws {
            self.time = time
            period = BudgetPeriod(label: "2026-11-23", end: time.now + .seconds(3600))
            member = BudgetMember(name: "m", calls: 10, reserve: .units(10), at: time.now)
            let access = try #require(member.account("hotpepper"))
            calls = QueuedCalls(budget: access, time: time)
            member.begin(FleetTopicExtent(first: 0, end: 0, oldest: 0), at: time.now)
        }

        /// Runs a tick, and returns its message.
        func tick() -> BudgetMessage? { member.tick(at: time.now) { _ in period } }

        func read(_ message: BudgetMessage) {
            member.read(message, at: 0, now: time.now)
            member.review(at: time.now)
        }
    }

    private func world(_ body: @Sendable (VirtualTime, isolated Owner) throws -> Void) rethrows {
        let time = VirtualTime()
        try Owner(time).assumeIsolated { try body(time, $0) }
    }

    /// Starts a call that waits, and records its result.
    private func ask(
        _ calls: QueuedCalls, for owner: RequestContext, on loop: isolated Owner, _ results: Log<CallEnding?>
    ) {
        Task.immediate(executorPreference: loop.time) {
            _ = loop
            do throws(CallFailure) {
                var grant = try await calls.grant(for: owner, startingBefore: loop.time.now + .seconds(5))
                _ = grant.begin()
                results.note(nil)
            } catch {
                results.note(CallEnding(error))
            }
        }
    }

    /// The last calls of a period are kept for interactive requests: a batch request is rejected, and the provider stays open.
    @Test func `A batch request without a call of the period does not close the provider`() throws {
        try world { time, owner in
            let (loop, results) = (try Loop(time), Log<CallEnding?>())
            _ = loop.tick()
            ask(loop.calls, for: RequestContext(since: time.now, flow: Flow(.batch)), on: owner, results)
            time.settle()
            guard case .keptForInteractive(let retryAfter)?? = results.entries.first else {
                Issue.record("\(results.entries)")
                return
            }
            #expect(retryAfter > .seconds(3000))
            #expect(loop.calls.limits.state(at: time.now) == .closed)

            // An interactive call waits for the log only.
            ask(loop.calls, for: RequestContext(since: time.now), on: owner, results)
            time.settle()
            #expect(results.count == 1)
            time.run(for: .seconds(1))
            loop.read(try #require(loop.tick()))
            time.settle()
            #expect(results.entries.last == .some(nil))
        }
    }

    /// An interactive request joins a batch call that has been rejected but has not resumed yet.
    @Test func `A refused batch call is tried again when an interactive request has joined it`() throws {
        try world { time, owner in
            let (loop, results) = (try Loop(time), Log<CallEnding?>())
            let context = RequestContext(since: time.now, flow: Flow(.batch))
            ask(loop.calls, for: context, on: owner, results)

            // The call is rejected, and its task has not resumed yet.
            _ = loop.tick()
            loop.member.review(at: time.now)
            context.becomeInteractive()
            loop.calls.queue.promote(context)
            time.settle()
            #expect(results.entries.isEmpty, "it waits again")

            time.run(for: .seconds(1))
            loop.read(try #require(loop.tick()))
            time.settle()
            #expect(results.entries == [nil])
        }
    }

    /// No calls are reserved for requests that have stopped waiting, for any reason.
    @Test func `Calls that wait no more want nothing of the budget`() throws {
        try world { time, owner in
            let (loop, results) = (try Loop(time), Log<CallEnding?>())
            ask(loop.calls, for: RequestContext(since: time.now), on: owner, results)
            time.settle()
            #expect(loop.member.accounts[0].reservation.waiting == 1)
            loop.calls.pause(for: .seconds(60))
            time.settle()
            #expect(results.count == 1)
            #expect(loop.member.accounts[0].reservation.waiting == 0)

            time.run(for: .seconds(61))
            let task = Task.immediate(executorPreference: time) {
                _ = owner
                try? await loop.calls.pass(startingBefore: time.now + .seconds(5))
            }
            time.settle()
            #expect(loop.member.accounts[0].reservation.waiting == 1)
            task.cancel()
            time.settle()
            #expect(loop.member.accounts[0].reservation.waiting == 0)
            #expect(time.timerCount == 0)
        }
    }

    /// Calls that wait when the breaker opens are rejected like later ones.
    @Test func `No call that waits begins once the breaker has opened`() throws {
        world { time, owner in
            let (calls, results) = (QueuedCalls(rate: RateLimit(perSecond: 10), time: time), Log<CallEnding?>())
            for _ in 0..<200 { ask(calls, for: RequestContext(since: time.now), on: owner, results) }
            time.run(for: .seconds(1))
            let granted = calls.limits.bucket.statistics.admitted
            calls.limits.breaker.trip(for: .seconds(60), because: .keyRefused, at: time.now)
            calls.queue.serve()
            time.settle()
            #expect(calls.limits.bucket.statistics.admitted == granted)
            #expect(calls.queue.rateStatistics().waiting == 0)
            #expect(time.timerCount == 0)
        }
    }

    /// Interactive calls that wait for a token occupy none of the few probes of a half-open breaker.
    @Test func `A call that waits for a token holds no probe`() throws {
        world { time, owner in
            let (calls, results) = (QueuedCalls(rate: RateLimit(perSecond: 1), time: time), Log<CallEnding?>())
            #expect(calls.passAtOnce())
            calls.limits.breaker.trip(for: .milliseconds(100), because: .failureRate, at: time.now)
            time.run(for: .milliseconds(200))
            for _ in 0..<20 { ask(calls, for: RequestContext(since: time.now), on: owner, results) }
            time.settle()
            #expect(calls.limits.breaker.rejection(at: time.now) == nil, "every probe is still to be had")
        }
    }

    /// Two members take and return the only call of a budget repeatedly. The provider is closed once.
    @Test func `A budget that others use up again closes the provider once`() throws {
        try world { time, owner in
            let member = BudgetMember(name: "m", calls: 1, at: time.now)
            let access = try #require(member.account("hotpepper"))
            let (calls, results, shut) = (QueuedCalls(budget: access, time: time), Log<CallEnding?>(), Log<Bool>())
            access.onUsedUp = { shut.note($0 != nil) }
            member.begin(FleetTopicExtent(first: 0, end: 0, oldest: 0), at: time.now)
            let period = BudgetPeriod(label: "2026-11-23", end: time.now + .seconds(3600))
            _ = member.tick(at: time.now) { _ in period }

            var offset: Int64 = 0
            func append(take: Int, giveBack: Int) {
                var entry = BudgetMessage.Entry("hotpepper", period: period.label, limit: 1, made: [:])
                (entry.take, entry.giveBack) = (take, giveBack)
                offset += 1
                let message = BudgetMessage(sender: "other", number: UInt64(offset), entries: [entry])
                member.read(message, at: offset - 1, now: time.now)
                member.review(at: time.now)
            }
            append(take: 1, giveBack: 0)
            for _ in 0..<100 {
                append(take: 0, giveBack: 1)
                append(take: 1, giveBack: 0)
                ask(calls, for: RequestContext(since: time.now), on: owner, results)
                time.settle()
            }
            #expect(results.count == 100)
            #expect(shut.entries == [true])
        }
    }
}
