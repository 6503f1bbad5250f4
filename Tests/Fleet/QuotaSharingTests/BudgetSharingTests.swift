import Basics
import Foundation
import LocationSearch
import TestSupport
import Testing

@testable import QuotaSharing

/// A daily budget that a fleet shares over a log. The simulation of whole fleets checks the same under the faults of
/// processes and brokers: see docs/internals/fleet.md.
struct BudgetSharingTests {
    /// Waiting work uses the whole budget and no more, and members that have read the same records agree.
    @Test(arguments: 1...20 as ClosedRange<UInt64>)
    func `A fleet makes all calls of the budget and no more`(seed: UInt64) {
        let fleet = BudgetFleet(of: 4, budget: 300, dayLength: .seconds(40))
        fleet.delays = UnreliableTopic.delays(seed, upTo: 6000)
        fleet.demand = 20
        fleet.run(until: 10)
        fleet.join(newest: .max)
        fleet.run(until: 79)

        #expect(fleet.calls == ["period 1000": 300, "period 1001": 300])
        #expect(fleet.members[4].isReady)
        #expect(fleet.members.filter(\.isReady).allSatisfy { $0.ledger.periods == fleet.members[0].ledger.periods })
    }

    @Test(arguments: 1...10 as ClosedRange<UInt64>)
    func `All calls are reported although messages are lost`(seed: UInt64) {
        let fleet = BudgetFleet(of: 3, budget: 100_000, dayLength: .seconds(1000))
        fleet.delays = UnreliableTopic.delays(seed, upTo: 6000)
        fleet.demand = 20
        fleet.run(until: 20)
        fleet.demand = 0
        fleet.run(until: 80)

        let known = fleet.members.compactMap { $0.accounts[0].current?.period.used }
        #expect(known.count == 3)
        #expect(known.allSatisfy { $0 == fleet.calls["period 1000"] }, "\(known), \(fleet.calls)")
    }

    /// A member that starts reads the newest records, with a snapshot among them.
    @Test func `A member that reads a snapshot agrees with the others`() {
        let fleet = BudgetFleet(of: 2, budget: 100_000, dayLength: .seconds(10_000))
        fleet.demand = 0.5
        fleet.run(until: 760)
        #expect(fleet.log.count { $0.snapshot != nil } == 1)
        let records = fleet.log.reversed().prefix { $0.snapshot == nil }.count + 10
        #expect(records < fleet.log.count / 2)

        fleet.join(newest: records)
        fleet.run(until: 770)
        #expect(fleet.members[2].isReady)
        #expect(fleet.members[2].ledger == fleet.members[0].ledger)
    }

    @Test func `A fleet warns once a day when four fifths are taken`() {
        let fleet = BudgetFleet(of: 4, budget: 300, dayLength: .seconds(20))
        fleet.demand = 30
        fleet.run(until: 59)
        #expect(fleet.warnings == 3)
    }

    /// docs/internals/budgets.md contains the printed figures.
    @Test func `A large fleet publishes little more than a small one`() {
        let count = ProcessInfo.processInfo.environment["LOCSEARCH_FLEET_MEMBERS"].flatMap { Int($0) } ?? 60
        let fleet = BudgetFleet(of: count, budget: 100_000_000, dayLength: .seconds(1000))
        fleet.demand = 5
        fleet.run(until: 10)
        let before = fleet.messages

        fleet.run(until: 25)
        let perSecond = Double(fleet.messages - before) / 15
        print("measured: \(count) members with 5 calls a second each: \(Int(perSecond.rounded())) messages a second")
        #expect(perSecond < 3 * Double(BudgetTerms.membersAtFullPace))
        #expect(fleet.calls["period 1000"] ?? 0 > count * 50)
    }

    // MARK: - Hundreds of accounts

    /// Runs members with many accounts for five seconds.
    private func fleet(accounts: Int, inDemand: Int) -> BudgetFleet {
        let budgets = (0..<accounts).map {
            Budget(.hotpepper, .allowance(name: "sku-\($0)", []), limit: 1_000_000, per: .month)
        }
        let fleet = BudgetFleet(of: 3, budgets, dayLength: .seconds(1000))
        fleet.accountsInDemand = inDemand
        fleet.demand = 2
        fleet.run(until: 5)
        return fleet
    }

    private func entries(_ fleet: BudgetFleet) -> Int { fleet.log.reduce(0) { $0 + $1.entries.count } }

    @Test func `Accounts without calls add nothing to the messages`() {
        let (few, many) = (fleet(accounts: 2, inDemand: 2), fleet(accounts: 240, inDemand: 2))
        #expect(many.calls == few.calls)
        #expect(many.messages == few.messages)
        #expect(entries(many) == entries(few))
        #expect(many.members.allSatisfy { $0.ledger.periods.count == 2 })
    }

    /// One message has the entries of all accounts. So the messages do not grow with the accounts, and the entries grow
    /// with them at most linearly.
    @Test func `Hundreds of accounts in use share a member's messages`() {
        let (few, many) = (fleet(accounts: 24, inDemand: 24), fleet(accounts: 240, inDemand: 240))
        let (fewCalls, manyCalls) = (few.calls["period 1000"] ?? 0, many.calls["period 1000"] ?? 0)
        #expect(manyCalls == 10 * fewCalls)
        #expect(many.messages <= few.messages)
        #expect(entries(many) <= 10 * entries(few))
        #expect(many.members.allSatisfy { $0.ledger.periods == many.members[0].ledger.periods })

        let sizes = [few, many].map { fleet in
            BudgetMessage(
                sender: "a", number: 1, snapshot: BudgetMessage.Snapshot(offset: 0, ledger: fleet.members[0].ledger))
        }.map { FleetCodec(fleet: "f").bytes(of: .budget($0)).count }
        #expect(sizes[1] <= 10 * sizes[0], "\(sizes)")
        #expect(sizes[1] < 1_000_000, "a snapshot of \(sizes[1]) bytes")
    }

    @Test func `An idle fleet publishes nothing`() {
        let fleet = BudgetFleet(of: 6, budget: 300, dayLength: .seconds(20))
        fleet.run(until: 300)
        #expect(fleet.messages == 0)
    }

    /// Calls at three prices, at an amount that is no multiple of any of them. One member crashes, and another joins.
    @Test(arguments: 1...5 as ClosedRange<UInt64>)
    func `Money is never exceeded and nearly all of it is used`(seed: UInt64) {
        var random = SplitMix64(state: seed)
        var budget = Budget(.googlePlaces, limit: 10_000_000, unit: .money(currency: "USD"))
        budget.prices = [.textSearchPro: 32_000, .placeDetailsPro: 17_000, .placeDetailsPhotos: 7000]
        let fleet = BudgetFleet(of: 4, [budget], dayLength: .seconds(40))
        fleet.unitsOfCall = { [7000, 17_000, 32_000].randomElement(using: &random) ?? 7000 }
        fleet.delays = UnreliableTopic.delays(seed, upTo: 300)
        fleet.demand = 20
        fleet.run(until: 10)
        fleet.crash(2)
        fleet.join(newest: .max)
        fleet.run(until: 39)
        let used = fleet.calls["period 1000"] ?? 0
        #expect(used <= 10_000_000)
        #expect(used >= 8_500_000, "\(used)")
    }
}
