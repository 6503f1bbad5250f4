import Basics
import TestSupport
import Testing

@testable import ProviderCalls
@testable import QuotaSharing
@testable import Resilience

/// The part of a period's budget that is kept for interactive requests.
struct BudgetClassesTests {
    /// Loops with one budgeted provider each, and the log in which all of them reserve.
    private final class Fleet {
        let time: VirtualTime
        let members: [BudgetMember]
        let calls: [QueuedCalls]
        private(set) var log: [BudgetMessage] = []
        private let period: BudgetPeriod
        var permits: [RequestClass: Int] = [:]
        var errors: [RequestClass: [CallEnding]] = [:]

        init(_ reserves: [BudgetReserve], budget: Int, time: VirtualTime) throws {
            self.time = time
            period = BudgetPeriod(label: "2026-11-23", end: time.start + .seconds(3600))
            members = reserves.enumerated().map { index, reserve in
                BudgetMember(name: "m\(index)", calls: budget, reserve: reserve, at: time.now)
            }
            calls = try members.map {
                let access = try #require($0.account("hotpepper"))
                return QueuedCalls(budget: access, time: time)
            }
            for member in members { member.begin(FleetTopicExtent(first: 0, end: 0, oldest: 0), at: time.now) }
        }

        /// Processes a message that a member or an operator appends.
        func append(_ message: BudgetMessage) {
            for member in members {
                member.read(message, at: Int64(log.count), now: time.now)
            }
            log.append(message)
            for member in members { member.review(at: time.now) }
        }

        /// Runs a tick of all members. Its messages are in the log at once.
        func tick() {
            for member in members {
                if let message = member.tick(at: time.now, { _ in period }) { append(message) }
            }
        }

        func ask(
            _ member: Int, of class: RequestClass, for owner: RequestContext? = nil, within timeout: Duration
        ) async {
            do throws(CallFailure) {
                var grant = try await calls[member].grant(
                    in: Flow(`class`), for: owner, startingBefore: time.now + timeout)
                for (account, permit) in grant.begin() { account.noteMade(permit, as: "search", at: time.now) }
                permits[`class`, default: 0] += 1
            } catch {
                errors[`class`, default: []].append(CallEnding(error))
            }
        }
    }

    private func world(
        _ reserves: [BudgetReserve], budget: Int, _ body: @Sendable (VirtualTime, isolated Owner, Fleet) throws -> Void
    ) throws {
        let time = VirtualTime()
        let owner = Owner(time)
        try owner.assumeIsolated { try body(time, $0, Fleet(reserves, budget: budget, time: time)) }
    }

    /// Starts a call without waiting for it.
    private func ask(
        _ fleet: Fleet, _ member: Int = 0, of class: RequestClass, for caller: RequestContext? = nil,
        on owner: isolated Owner, within timeout: Duration = .seconds(5)
    ) {
        Task.immediate(executorPreference: owner.time) {
            _ = owner
            await fleet.ask(member, of: `class`, for: caller, within: timeout)
        }
    }

    private static func isKept(_ error: CallEnding) -> Bool {
        if case .keptForInteractive(let retryAfter) = error { retryAfter > .seconds(3000) } else { false }
    }

    /// One member makes batch calls as fast as it can, another one makes interactive calls every now and then.
    @Test func `Interactive requests are served when batch requests get no more calls`() throws {
        try world([.part(0.1), .units(100)], budget: 1000) { time, owner, fleet in
            fleet.tick()
            for step in 0..<600 {
                for _ in 0..<3 { ask(fleet, 0, of: .batch, on: owner, within: .seconds(2)) }
                if step % 4 == 0 { ask(fleet, 1, of: .interactive, on: owner, within: .seconds(2)) }
                time.run(for: .milliseconds(50))
                fleet.tick()
            }
            time.run(for: .seconds(3))

            let batch = fleet.permits[.batch] ?? 0
            #expect(fleet.permits[.interactive] == 150)
            #expect(fleet.errors[.interactive] == nil)
            // About 70 interactive calls were made by the time at which a hundred calls were left.
            #expect(batch > 780 && batch < 850, "\(batch)")
            #expect(fleet.errors[.batch]?.contains(where: Self.isKept) == true)
        }
    }

    /// After nine tenths are used, interactive requests may use the last tenth, down to its last call.
    @Test func `The last tenth is for interactive requests alone`() throws {
        try world([.part(0.1), .part(0.1)], budget: 100) { time, owner, fleet in
            fleet.tick()
            for _ in 0..<100 {
                for _ in 0..<2 { ask(fleet, 0, of: .batch, on: owner, within: .seconds(2)) }
                time.run(for: .milliseconds(100))
                fleet.tick()
            }
            #expect(fleet.permits[.batch] == 90)
            #expect(fleet.errors[.batch]?.allSatisfy(Self.isKept) == true)
            #expect(fleet.members[0].accounts[0].current?.period.left == 10, "what it held is given back")

            for _ in 0..<12 {
                ask(fleet, 1, of: .interactive, on: owner)
                ask(fleet, 0, of: .batch, on: owner)
                for _ in 0..<5 {
                    time.run(for: .milliseconds(100))
                    fleet.tick()
                }
            }
            #expect(fleet.permits[.batch] == 90)
            #expect(fleet.permits[.interactive] == 10)
            #expect(fleet.errors[.interactive]?.count == 2, "the period is used up")
            #expect(fleet.errors[.interactive]?.contains(where: Self.isKept) == false)
        }
    }

    /// A batch call waits for the log. An interactive call that comes later gets the first permit.
    @Test func `A waiting batch call does not delay an interactive one`() throws {
        try world([.units(1)], budget: 3) { time, owner, fleet in
            ask(fleet, of: .batch, on: owner)
            time.settle()
            ask(fleet, of: .interactive, on: owner)
            time.settle()
            #expect(fleet.permits.isEmpty)

            fleet.tick()
            time.settle()
            #expect(fleet.permits == [.interactive: 1])
            #expect(fleet.errors.isEmpty)
        }
    }

    /// An interactive request joins one of the waiting batch calls.
    @Test func `A promoted batch call may use the interactive reserve`() throws {
        try world([.units(10)], budget: 10) { time, owner, fleet in
            let request = RequestContext(since: time.now, flow: Flow(.batch))
            for caller in [nil, request, nil] { ask(fleet, of: .batch, for: caller, on: owner) }
            time.settle()
            request.becomeInteractive()
            fleet.calls[0].queue.promote(request)
            for _ in 0..<2 {
                fleet.tick()
                time.run(for: .milliseconds(500))
            }
            #expect(fleet.permits == [.batch: 1])
            #expect(fleet.errors[.batch]?.count == 2)
            #expect(fleet.errors[.batch]?.allSatisfy(Self.isKept) == true)
        }
    }

    @Test func `A promoted call that gets no permit in time leaves the queue`() throws {
        try world([.units(10)], budget: 10) { time, owner, fleet in
            let request = RequestContext(since: time.now, flow: Flow(.batch))
            ask(fleet, of: .batch, for: request, on: owner, within: .seconds(1))
            time.settle()
            request.becomeInteractive()
            fleet.calls[0].queue.promote(request)
            time.run(for: .seconds(2))
            #expect(fleet.errors[.batch] == [.tooLate(retryAfter: nil)])

            ask(fleet, of: .interactive, on: owner)
            for _ in 0..<2 {
                fleet.tick()
                time.run(for: .milliseconds(500))
            }
            #expect(fleet.permits == [.interactive: 1])
        }
    }

    @Test func `A member with batch demand only reserves nothing of the interactive reserve`() throws {
        try world([.part(1)], budget: 1000) { time, owner, fleet in
            fleet.tick()
            for _ in 0..<20 {
                ask(fleet, of: .batch, on: owner)
                time.run(for: .milliseconds(100))
                fleet.tick()
            }
            #expect(fleet.errors[.batch]?.count == 20)
            #expect(fleet.log.allSatisfy { $0.entries.allSatisfy { $0.take == 0 } })
        }
    }

    /// After an operator's order, the additional calls of the period are for batch requests too.
    @Test func `Batch calls continue when an operator raises the budget`() throws {
        try world([.units(10)], budget: 10) { time, owner, fleet in
            fleet.tick()
            ask(fleet, of: .batch, on: owner)
            time.settle()
            #expect(fleet.errors[.batch]?.allSatisfy(Self.isKept) == true)

            let order = BudgetMessage.Order("hotpepper", period: "2026-11-23", limit: 12, time: "now")
            fleet.append(BudgetMessage(sender: "cli", number: 1, order: order))
            for _ in 0..<4 {
                ask(fleet, of: .batch, on: owner)
                time.settle()
                for _ in 0..<3 {
                    fleet.tick()
                    time.run(for: .milliseconds(100))
                }
            }
            #expect(fleet.permits == [.batch: 2])
        }
    }

    @Test func `A cancelled batch call leaves the queue`() throws {
        try world([.units(1)], budget: 10) { time, owner, fleet in
            let first = Task.immediate(executorPreference: time) {
                _ = owner
                await fleet.ask(0, of: .batch, within: .seconds(5))
            }
            ask(fleet, of: .batch, on: owner)
            time.settle()
            first.cancel()
            fleet.tick()
            time.settle()
            #expect(fleet.errors[.batch] == [.cancelled])
            #expect(fleet.permits == [.batch: 1])
        }
    }

    @Test func `Nothing is kept without the setting`() throws {
        try world([.units(0)], budget: 20) { time, owner, fleet in
            fleet.tick()
            for _ in 0..<30 {
                ask(fleet, of: .batch, on: owner)
                time.run(for: .milliseconds(100))
                fleet.tick()
            }
            #expect(fleet.permits == [.batch: 20])
            #expect(fleet.errors[.batch]?.contains(where: Self.isKept) == false)
        }
    }

    static let reserves: [(text: String, reserve: BudgetReserve?, ofAThousand: Int)] = [
        ("0", .units(0), 0), ("250", .units(250), 250), ("2000", .units(2000), 1000), ("10%", .part(0.1), 100),
        ("0.25%", .part(0.0025), 3), ("100%", .part(1), 1000), ("0%", .part(0), 0), ("101%", nil, 0), ("-1", nil, 0),
        ("-1%", nil, 0), ("nan%", nil, 0), ("10 %", nil, 0), ("%", nil, 0), ("1.5", nil, 0), ("", nil, 0),
    ]

    @Test(arguments: reserves) func `A reserve is a number or a percentage`(
        text: String, reserve: BudgetReserve?, calls: Int
    ) {
        #expect(BudgetReserve(text: text) == reserve)
        #expect((reserve?.units(of: 1000) ?? 0) == calls)
    }
}
