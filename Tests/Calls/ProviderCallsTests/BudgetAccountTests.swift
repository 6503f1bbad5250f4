import Basics
import TestSupport
import Testing

@testable import ProviderCalls
@testable import QuotaSharing
@testable import Resilience

/// Calls that wait for a reservation in a daily budget.
struct BudgetAccountTests {
    /// A loop with one budgeted provider, and the log in which it reserves.
    private final class Loop {
        let time: VirtualTime
        let member: BudgetMember
        let account: BudgetAccount
        let calls: QueuedCalls
        var period = 23
        var log: [BudgetMessage] = []
        var results: [Result<BudgetAccount.Permit?, CallFailure>] = []

        init(budget: Int, time: VirtualTime) throws {
            self.time = time
            member = BudgetMember(name: "m", calls: budget, at: time.now)
            account = try #require(member.account("hotpepper"))
            calls = QueuedCalls(budget: account, time: time)
        }

        var permits: [BudgetAccount.Permit] { results.compactMap { try? $0.get() } }
        var errors: [CallEnding] {
            results.compactMap { if case .failure(let error) = $0 { CallEnding(error) } else { nil } }
        }

        func begin() { member.begin(FleetTopicExtent(first: 0, end: 0, oldest: 0), at: time.now) }

        func ask(within timeout: Duration = .seconds(5)) async {
            do throws(CallFailure) {
                var grant = try await calls.grant(startingBefore: time.now + timeout)
                let permit = grant.begin().first?.permit
                if let permit { account.noteMade(permit, as: "search", at: time.now) }
                results.append(.success(permit))
            } catch {
                results.append(.failure(error))
            }
        }

        /// Processes a message that another member appends.
        func append(_ message: BudgetMessage) {
            member.read(message, at: Int64(log.count), now: time.now)
            log.append(message)
            member.review(at: time.now)
        }

        /// Runs a tick. Its message is in the log at once.
        func tick() {
            let end = time.start + .seconds(3600 * (period - 22))
            let message = member.tick(at: time.now) { _ in BudgetPeriod(label: "2026-11-\(period)", end: end) }
            if let message { append(message) }
        }
    }

    private func world(budget: Int, _ body: @Sendable (VirtualTime, isolated Owner, Loop) throws -> Void) throws {
        let time = VirtualTime()
        let owner = Owner(time)
        try owner.assumeIsolated { try body(time, $0, Loop(budget: budget, time: time)) }
    }

    /// Starts concurrent calls.
    private func ask(_ loop: Loop, _ count: Int = 1, on owner: isolated Owner, within timeout: Duration = .seconds(5)) {
        for _ in 0..<count {
            Task.immediate(executorPreference: owner.time) {
                _ = owner
                await loop.ask(within: timeout)
            }
        }
    }

    @Test func `A call waits until its reservation is read back`() throws {
        try world(budget: 100) { time, owner, loop in
            loop.begin()
            ask(loop, on: owner)
            time.settle()
            #expect(loop.results.isEmpty)

            loop.tick()
            time.settle()
            #expect(loop.permits.count == 1)
            #expect(loop.log.first?.entries.first?.take ?? 0 >= 1)
        }
    }

    @Test func `No call is permitted before the log is read`() throws {
        try world(budget: 100) { time, owner, loop in
            loop.tick()
            ask(loop, on: owner, within: .seconds(1))
            time.run(for: .seconds(2))
            loop.tick()
            #expect(loop.errors == [.tooLate(retryAfter: nil)])
            #expect(loop.log.isEmpty)
        }
    }

    @Test func `Calls beyond the budget are told when the next period begins`() throws {
        try world(budget: 3) { time, owner, loop in
            loop.begin()
            ask(loop, 5, on: owner)
            for _ in 0..<10 {
                loop.tick()
                time.run(for: .milliseconds(100))
            }

            #expect(loop.permits.count == 3)
            #expect(loop.errors.count == 2)
            for error in loop.errors {
                guard case .usedUp(let retryAfter) = error else {
                    Issue.record("\(error)")
                    return
                }
                #expect(retryAfter > .seconds(3590) && retryAfter <= .seconds(3600))
            }

            // The next call need not wait.
            ask(loop, on: owner)
            time.settle()
            #expect(loop.errors.count == 3)
        }
    }

    @Test func `The next period has new calls`() throws {
        try world(budget: 1) { time, owner, loop in
            loop.begin()
            loop.tick()
            ask(loop, on: owner)
            time.run(for: .milliseconds(100))
            loop.tick()
            time.run(for: .seconds(3600))
            loop.period = 24
            loop.tick()
            ask(loop, on: owner)
            loop.tick()
            time.settle()
            #expect(loop.permits.count == 2)
        }
    }

    @Test func `A call reserved before midnight does not count for the new period`() throws {
        try world(budget: 8) { time, owner, loop in
            loop.begin()
            loop.tick()
            ask(loop, on: owner)
            time.run(for: .milliseconds(100))
            loop.tick()
            time.settle()
            let permit = try #require(loop.permits.first)

            time.run(for: .seconds(3600))
            #expect(loop.account.take(at: time.now) == nil)
            loop.period = 24
            loop.tick()
            loop.account.putBack(permit)

            let granted = loop.member.accounts[0].current?.period.taken ?? 0
            var count = 0
            while loop.account.take(at: time.now) != nil { count += 1 }
            #expect(count == granted, "what was put back is of yesterday")
        }
    }

    @Test func `A cancelled call leaves its permit to the next one`() throws {
        try world(budget: 1) { time, owner, loop in
            loop.begin()
            let first = Task.immediate(executorPreference: time) {
                _ = owner
                await loop.ask()
            }
            ask(loop, on: owner)
            time.settle()
            first.cancel()
            loop.tick()
            time.settle()
            #expect(loop.errors == [.cancelled])
            #expect(loop.permits.count == 1)
        }
    }

    @Test func `An operator's order permits calls again`() throws {
        try world(budget: 1) { time, owner, loop in
            let told = Box(0)
            loop.account.onUsedUp = { if $0 == nil { told.value += 1 } }
            loop.begin()
            ask(loop, 2, on: owner)
            for _ in 0..<3 {
                loop.tick()
                time.run(for: .milliseconds(100))
            }
            #expect(loop.errors.count == 1)

            told.value = 0
            loop.append(
                BudgetMessage(
                    sender: "cli", number: 1,
                    order: BudgetMessage.Order("hotpepper", period: "2026-11-23", limit: 2, time: "now")))
            #expect(told.value == 0, "others may take them")
            time.run(for: .milliseconds(100))
            loop.tick()
            #expect(told.value == 1)
            ask(loop, on: owner)
            time.settle()
            #expect(loop.permits.count == 2)
        }
    }

    @Test func `A member that leaves returns its reservations`() throws {
        try world(budget: 100) { time, owner, loop in
            loop.begin()
            ask(loop, on: owner)
            time.settle()
            loop.tick()
            time.settle()
            #expect(loop.member.accounts[0].current?.period.taken ?? 0 > 1)
            let last = loop.member.leave(at: time.now)
            loop.append(try #require(last))

            let today = try #require(loop.member.accounts[0].current)
            #expect(today.period.taken == 1)
            #expect(today.period.used == 1)
            #expect(today.period.left == 99)
        }
    }
}
