import TestSupport
import Testing

@testable import QuotaSharing

/// A daily budget that a fleet shares over a log, in virtual time.
struct BudgetSharingTests {
    /// Messages are lost, duplicated, late and out of order; members are stopped, killed, leave and join; the log is truncated.
    private static let hostile: BudgetSimulation.Conditions = {
        var conditions = BudgetSimulation.Conditions()
        conditions.lost = 0.05
        conditions.doubled = 0.1
        conditions.late = 0.1
        conditions.incidents = 0.5
        return conditions
    }()

    @Test(.timeLimit(.minutes(60))) func fleetNeverMakesMoreCallsThanTheBudgetWhateverHappens() {
        let seeds = Schedules.seeds(unlessSet: 200)
        for seed in seeds {
            var simulation = BudgetSimulation(seed: seed, Self.hostile)
            simulation.run()

            guard simulation.problem == nil else {
                Issue.record("\(simulation.problem ?? ""): \(Schedules.again(seed))")
                return
            }
        }
        print("measured: never more calls than the budget in \(seeds.count) schedules")
    }

    /// Without crashes, waiting work uses the whole budget, although messages are lost and members stop.
    @Test(arguments: 1...30 as ClosedRange<UInt64>)
    func waitingWorkUsesAllOfTheBudgetUnlessSomebodyCrashes(seed: UInt64) {
        var conditions = Self.hostile
        conditions.members = 3...6
        conditions.ends = false
        conditions.demand = 10...40
        conditions.day = 40
        conditions.seconds = 80
        var simulation = BudgetSimulation(seed: seed, conditions)
        simulation.run(until: 78)

        #expect(simulation.problem == nil)
        #expect(simulation.calls["day 1000"] == conditions.budget)
        #expect(simulation.calls["day 1001"] == conditions.budget)
    }

    @Test(arguments: 1...10 as ClosedRange<UInt64>)
    func allCallsAreToldOfAlthoughMessagesAreLost(seed: UInt64) {
        var conditions = Self.hostile
        conditions.members = 2...4
        conditions.ends = false
        conditions.incidents = 0
        conditions.day = 1000
        conditions.budget = 100_000
        conditions.quietFrom = 20
        var simulation = BudgetSimulation(seed: seed, conditions)
        simulation.run(until: 80)

        let known = simulation.processes.compactMap { $0.member.today(of: BudgetSimulation.provider)?.day.used }
        #expect(known.allSatisfy { $0 == simulation.calls["day 1000"] }, "\(known), \(simulation.calls)")
    }

    @Test func fleetWarnsOnceADayWhenFourFifthsAreTaken() {
        var conditions = BudgetSimulation.Conditions()
        conditions.members = 4...4
        conditions.demand = 20...40
        conditions.skew = 0
        conditions.day = 20
        conditions.seconds = 59
        var simulation = BudgetSimulation(seed: 1, conditions)
        simulation.run()
        #expect(simulation.warnings == 3)
    }

    /// docs/budgets.md contains the printed figures.
    @Test func largeFleetPublishesLittleMoreThanASmallOne() {
        let count = Schedules.members(unlessSet: 60)
        var conditions = BudgetSimulation.Conditions()
        conditions.members = count...count
        conditions.demand = 5...5
        conditions.day = 1000
        conditions.budget = 100_000_000
        conditions.retention = 100_000
        conditions.terms = BudgetTerms
        var simulation = BudgetSimulation(seed: 1, conditions)
        simulation.run(until: 10)
        let before = simulation.messages

        simulation.run(until: 25)
        let perSecond = Double(simulation.messages - before) / 15
        print("measured: \(count) members with 5 calls a second each: \(Int(perSecond.rounded())) messages a second")
        #expect(simulation.problem == nil)
        #expect(perSecond < 3 * Double(BudgetTerms.membersAtFullPace))
        #expect(simulation.calls["day 1000"] ?? 0 > count * 50)
    }

    @Test func idleFleetPublishesNothing() {
        var conditions = BudgetSimulation.Conditions()
        conditions.members = 6...6
        conditions.demand = 0...0
        conditions.terms = BudgetTerms
        var simulation = BudgetSimulation(seed: 1, conditions)
        simulation.run(until: 300)
        #expect(simulation.messages == 0)
    }
}
