import Basics
import Resilience
import TestSupport
import Testing

@testable import QuotaSharing

/// A limit that a fleet shares by class of request and by tenants.
struct FleetClassesTests {
    @Test func `A lessor stops using what it grants`() {
        let fleet = LeaseFleet(of: 2)
        fleet.setDemand(Self.batch, of: 0)
        fleet.run(until: 4)

        fleet.setDemand(1, of: 1)
        let before = fleet.messages.count
        while fleet.share(of: 1) < 0.97, fleet.elapsed < .seconds(6) {
            fleet.step()
            #expect(fleet.share(of: 0) + fleet.share(of: 1) <= 1 + 1e-9)
        }
        #expect(fleet.messages.count > before)
        #expect((fleet.share(of: 0) - 0.025).magnitude < 1e-9)
        #expect((fleet.share(of: 1) - 0.975).magnitude < 1e-9)
    }

    // MARK: - Served demand

    /// Returns a fleet without faults in which every member has batch demand for the whole limit.
    private static func busyFleet(of count: Int) -> LeaseFleet {
        let fleet = LeaseFleet(of: count)
        for member in 0..<count { fleet.setDemand(batch, of: member) }
        fleet.run(until: 10)
        return fleet
    }

    private static let batch = LimitDemand(1, interactive: 0)

    /// All other members have batch demand for the whole limit. The interactive demand is in one member, which has a third.
    @Test(arguments: [0.4, 0.7, 1.0])
    func `Interactive demand is served half a second after it begins`(interactive: Double) {
        let fleet = Self.busyFleet(of: 3)
        #expect(fleet.used > 0.999)
        fleet.setDemand(LimitDemand(1, interactive: interactive), of: 0)
        fleet.run(until: 10.5)

        let most = 1 - 2 * LeasePlan.usualBatchFloor / 3
        for step in 0..<50 {
            fleet.run(until: fleet.elapsed.inSeconds + 0.1)
            #expect(fleet.share(of: 0) > min(interactive, most) - 0.001)
            #expect(fleet.used > (step < 10 ? 0.85 : 0.999), "\(step)")
        }
        for member in 1...2 {
            #expect(fleet.share(of: member) >= LeasePlan.usualBatchFloor / 3 - 1e-9, "batch keeps its floor")
        }

        // Soon after, batch demand has the whole limit again.
        fleet.setDemand(Self.batch, of: 0)
        fleet.run(until: 17.5)
        #expect((0..<3).allSatisfy { fleet.share(of: $0) > 0.333 })
    }

    /// A member that leases to other members' batch demand needs its share back for interactive requests.
    @Test func `Interactive demand has its own share back within half a second`() {
        let fleet = Self.busyFleet(of: 3)
        fleet.setDemand(0, of: 0)
        fleet.run(until: 15)
        #expect(fleet.used > 0.999)
        #expect(fleet.share(of: 0) < 0.001)

        for (index, interactive) in [0.04, 0.1, 0.3].enumerated() {
            fleet.setDemand(LimitDemand(interactive), of: 0)
            fleet.run(until: 15.5 + 2 * Double(index))
            #expect(fleet.share(of: 0) > interactive - 0.011, "\(interactive)")
            fleet.run(until: 17 + 2 * Double(index))
        }
    }

    /// One tenant's flood waits at one member, those of nine at the other: each of the ten gets a tenth.
    @Test(arguments: [true, false]) func `Tenants on different members get equal parts`(isInteractive: Bool) {
        let fleet = Self.busyFleet(of: 2)
        let interactive = isInteractive ? 1.0 : 0
        fleet.setDemand(LimitDemand(1, interactive: interactive), of: 0)
        fleet.setDemand(LimitDemand(1, interactive: interactive, interactiveTenants: 9, batchTenants: 9), of: 1)
        fleet.run(until: 13)
        for _ in 0..<50 {
            fleet.run(until: fleet.elapsed.inSeconds + 0.1)
            #expect((fleet.share(of: 0) - 0.1).magnitude < 0.01)
            #expect((fleet.share(of: 1) - 0.9).magnitude < 0.01)
        }
    }

    /// A plan that changed with each message would cost messages, and quota between the end of a lease and the next one.
    @Test func `A fleet with steady demand by class publishes at its pace`() {
        let fleet = Self.busyFleet(of: 3)
        fleet.setDemand(LimitDemand(1, interactive: 0.6, interactiveTenants: 3), of: 0)
        fleet.setDemand(LimitDemand(1, interactive: 0.2, batchTenants: 5), of: 1)
        fleet.run(until: 13)
        let before = fleet.messages.count
        fleet.run(until: 33)
        #expect(fleet.messages.count - before <= 3 * 20 * 3)
        #expect(fleet.used > 0.999)
    }
}
