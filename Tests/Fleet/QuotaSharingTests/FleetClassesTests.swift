import Basics
import Resilience
import TestSupport
import Testing

@testable import QuotaSharing

/// A limit that a fleet shares by class of request and by tenants, in virtual time.
struct FleetClassesTests {
    /// Messages are lost, doubled, late and out of order; members are stopped, killed, leave and join.
    @Test(.timeLimit(.minutes(60))) func sharesByClassNeverSumToMoreThanTheLimit() {
        var conditions = FleetSimulation.Conditions()
        (conditions.lost, conditions.doubled, conditions.late, conditions.incidents) = (0.05, 0.1, 0.1, 0.5)
        conditions.hasClasses = true
        conditions.demandChanges = 0.5

        let seeds = Schedules.seeds(unlessSet: 75)
        var highest = 0.0
        for seed in seeds {
            var simulation = FleetSimulation(seed: seed, conditions)
            simulation.run()

            let (share, time) = simulation.highestSum
            guard share <= 1 + 1e-9 else {
                Issue.record("\(share) of the limit at \(time) s: \(Schedules.again(seed))")
                return
            }
            highest = max(highest, share)
        }
        print("measured: never more than \((highest * 1e6).rounded() / 1e4) % of the limit in \(seeds.count) schedules")
    }

    /// A lessor that leases out its batch share stops using it at the same moment.
    @Test func lessorStopsUsingWhatItGrants() throws {
        let limit = FleetSimulation.limit
        var now = Instant.now
        let lessor = LeaseMember(name: "a", limits: [limit], at: now)
        let lessee = LeaseMember(name: "b", limits: [limit], at: now)
        lessor.assign([0], of: 2, at: now)
        lessee.assign([1], of: 2, at: now)
        lessor.setDemand(LimitDemand(1, interactive: 0), of: limit)

        let end = now + .seconds(10)
        var granted = 0.0
        while now < end, granted == 0 {
            now += .milliseconds(100)
            if now > end - .seconds(6) { lessee.setDemand(LimitDemand(1), of: limit) }
            if let message = lessee.tick(at: now) { lessor.receive(message, at: now) }
            let before = lessor.share(of: limit, at: now)
            guard let message = lessor.tick(at: now) else { continue }
            granted = message.limits[limit]?.grants.first { $0.lessee == "b" }?.share ?? 0
            if granted > 0 { #expect(lessor.share(of: limit, at: now) <= before - granted + 1e-9) }
            lessee.receive(message, at: now)
        }
        #expect((granted - 0.475).magnitude < 1e-9)
        #expect((lessor.share(of: limit, at: now) - 0.025).magnitude < 1e-9)
    }

    // MARK: - Served demand

    /// Returns a fleet without faults in which every member has batch demand for the whole limit.
    private static func busyFleet(of count: Int) -> FleetSimulation {
        var conditions = FleetSimulation.Conditions()
        conditions.members = count...count
        conditions.demandChanges = 0
        var simulation = FleetSimulation(seed: 1, conditions)
        for member in 0..<count { simulation.setDemand(batch, of: member) }
        simulation.run(until: 10)
        return simulation
    }

    private static let batch = LimitDemand(1, interactive: 0)

    /// All other members have batch demand for the whole limit. The interactive demand is in one member, which has a third.
    @Test(arguments: [0.4, 0.7, 1.0])
    func interactiveDemandIsServedHalfASecondAfterItBegins(interactive: Double) {
        var simulation = Self.busyFleet(of: 3)
        #expect(simulation.used > 0.999)
        simulation.setDemand(LimitDemand(1, interactive: interactive), of: 0)
        simulation.run(until: 10.5)

        let most = 1 - 2 * LeasePlan.usualBatchFloor / 3
        for step in 0..<50 {
            simulation.run(until: simulation.now + 0.1)
            #expect(simulation.share(of: 0) > min(interactive, most) - 0.001)
            #expect(simulation.used > (step < 10 ? 0.85 : 0.999), "\(step)")
        }
        for member in 1...2 {
            #expect(simulation.share(of: member) >= LeasePlan.usualBatchFloor / 3 - 1e-9, "batch keeps its floor")
        }

        // Soon after, batch demand has the whole limit again.
        simulation.setDemand(Self.batch, of: 0)
        simulation.run(until: 17.5)
        #expect((0..<3).allSatisfy { simulation.share(of: $0) > 0.333 })
    }

    /// A member that leases to other members' batch demand needs its share back for interactive requests.
    @Test func interactiveDemandHasItsOwnShareBackWithinHalfASecond() {
        var simulation = Self.busyFleet(of: 3)
        simulation.setDemand(0, of: 0)
        simulation.run(until: 15)
        #expect(simulation.used > 0.999)
        #expect(simulation.share(of: 0) < 0.001)

        for (index, interactive) in [0.04, 0.1, 0.3].enumerated() {
            simulation.setDemand(LimitDemand(interactive), of: 0)
            simulation.run(until: 15.5 + 2 * Double(index))
            #expect(simulation.share(of: 0) > interactive - 0.011, "\(interactive)")
            simulation.run(until: 17 + 2 * Double(index))
        }
    }

    /// One tenant's flood waits at one member, those of nine at the other: each of the ten gets a tenth.
    @Test(arguments: [true, false]) func tenantsThatAreSpreadUnevenlyGetEqualParts(isInteractive: Bool) {
        var simulation = Self.busyFleet(of: 2)
        let interactive = isInteractive ? 1.0 : 0
        simulation.setDemand(LimitDemand(1, interactive: interactive), of: 0)
        simulation.setDemand(
            LimitDemand(1, interactive: interactive, interactiveTenants: 9, batchTenants: 9), of: 1)
        simulation.run(until: 13)
        for _ in 0..<50 {
            simulation.run(until: simulation.now + 0.1)
            #expect((simulation.share(of: 0) - 0.1).magnitude < 0.01)
            #expect((simulation.share(of: 1) - 0.9).magnitude < 0.01)
        }
    }

    /// A plan that changed with each message would cost messages, and quota between the end of a lease and the next one.
    @Test func fleetWithSteadyDemandByClassPublishesAtItsPace() {
        var simulation = Self.busyFleet(of: 3)
        simulation.setDemand(LimitDemand(1, interactive: 0.6, interactiveTenants: 3), of: 0)
        simulation.setDemand(LimitDemand(1, interactive: 0.2, batchTenants: 5), of: 1)
        simulation.run(until: 13)
        let before = simulation.messages
        simulation.run(until: 33)
        #expect(simulation.messages - before <= 3 * 20 * 3)
        #expect(simulation.used > 0.999)
    }
}
