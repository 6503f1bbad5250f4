import Basics
import Resilience
import TestSupport
import Testing

@testable import QuotaSharing

/// The leases that the members of a fleet should grant each other.
struct LeasePlanTests {
    private typealias Member = LeasePlan.Member

    private static func member(
        _ name: String, own: Double, interactive: Double = 0, batch: Double = 0, tenants: Int = 1,
        batchTenants: Int = 1
    ) -> Member {
        let demand = LimitDemand(
            interactive + batch, interactive: interactive, interactiveTenants: tenants, batchTenants: batchTenants)
        return Member(name: name, own: own, demand: demand)
    }

    private static func isNear(_ a: Double, _ b: Double) -> Bool { (a - b).magnitude < 1e-9 }

    /// Returns each member's share after all leases of a plan are granted.
    private static func shares(_ members: [Member], _ plan: LeasePlan) -> [String: Double] {
        var shares = Dictionary(uniqueKeysWithValues: members.map { ($0.name, $0.own) })
        for (lessor, leases) in plan.leases {
            for lease in leases {
                shares[lessor, default: 0] -= lease.share
                shares[lease.lessee, default: 0] += lease.share
            }
        }
        return shares
    }

    private static func invented(_ random: inout SplitMix64) -> [Member] {
        let count = Int.random(in: 1...8, using: &random)
        let weights = (0..<count).map { _ in Double(Int.random(in: 0...4, using: &random)) }
        let sum = max(weights.reduce(0, +), 1) * ([1, 1, 1.5].randomElement(using: &random) ?? 1)
        return weights.enumerated().map { index, weight in
            let total = [0, 1, Double.random(in: 0...1, using: &random)].randomElement(using: &random) ?? 1
            let part = [0, 1, Double.random(in: 0...1, using: &random)].randomElement(using: &random) ?? 1
            return Member(
                name: "m\(index)", own: weight / sum,
                demand: LimitDemand(
                    total, interactive: part * total,
                    interactiveTenants: Int.random(in: 1...3, using: &random),
                    batchTenants: Int.random(in: 1...3, using: &random)))
        }
    }

    /// For any demand, no member gets more than its demand or less than its floor, and all quota with demand is used. No batch
    /// request gets quota that an interactive one lacks.
    @Test func `The plan uses the limit and serves interactive demand first`() {
        var random = SplitMix64(state: 2)
        for _ in 0..<5000 {
            let members = Self.invented(&random)
            let targets = LeasePlan.divide(among: members, batchFloor: 0.05)
            let owned = members.reduce(0) { $0 + $1.own }
            let wanted = members.reduce(0) { $0 + $1.demand.total }
            let planned = targets.reduce(0) { $0 + $1.total }
            #expect(Self.isNear(planned, min(owned, wanted)), "\(members) \(targets)")

            var isInteractiveShort = false
            for (member, target) in zip(members, targets) {
                #expect(target.interactive <= member.demand.interactive + 1e-9, "\(members) \(targets)")
                #expect(target.batch <= member.demand.batch + 1e-9, "\(members) \(targets)")
                #expect(
                    target.batch >= min(member.demand.batch, 0.05 * member.own) - 1e-9, "\(members) \(targets)")
                if target.interactive < member.demand.interactive - 1e-6 {
                    isInteractiveShort = true
                }
            }
            guard isInteractiveShort else { continue }
            for (member, target) in zip(members, targets) {
                #expect(target.batch <= 0.05 * member.own + 1e-9, "\(members) \(targets)")
            }
        }
    }

    @Test func `The shares after all leases are those of the plan`() {
        var random = SplitMix64(state: 3)
        for _ in 0..<1000 {
            let members = Self.invented(&random)
            let plan = LeasePlan(members)
            let shares = Self.shares(members, plan)
            for member in members {
                let (share, target) = (shares[member.name] ?? 0, plan.targets[member.name]?.total ?? 0)
                #expect(share > target - 1e-5, "\(member.name) of \(members)")
                #expect(share > -1e-9)
            }
        }
    }

    @Test func `A member with only batch work leases out all but its floor`() {
        let members = [
            Self.member("a", own: 0.5, batch: 1), Self.member("b", own: 0.25, interactive: 1),
            Self.member("c", own: 0.25, batch: 0.01),
        ]
        let shares = Self.shares(members, LeasePlan(members, batchFloor: 0.1))
        #expect(Self.isNear(shares["a"] ?? 0, 0.05))
        #expect(Self.isNear(shares["c"] ?? 0, 0.01))
        #expect(Self.isNear(shares["b"] ?? 0, 0.94))
    }

    @Test func `Batch demand yields only as much as is needed`() {
        let members = [
            Self.member("a", own: 0.4, batch: 1), Self.member("b", own: 0.2, interactive: 0.5),
            Self.member("c", own: 0.4, batch: 1),
        ]
        let shares = Self.shares(members, LeasePlan(members))
        #expect(Self.isNear(shares["b"] ?? 0, 0.5))
        #expect(Self.isNear(shares["a"] ?? 0, 0.25))
        #expect(Self.isNear(shares["c"] ?? 0, 0.25))
    }

    @Test func `A member with both classes keeps its interactive part`() {
        let members = [
            Self.member("a", own: 0.5, interactive: 0.2, batch: 0.8), Self.member("b", own: 0.5, interactive: 0.75),
        ]
        let targets = LeasePlan(members).targets
        #expect(Self.isNear(targets["a"]?.interactive ?? 0, 0.2))
        #expect(Self.isNear(targets["a"]?.batch ?? 0, 0.05))
        #expect(Self.isNear(targets["b"]?.total ?? 0, 0.75))
    }

    @Test func `Members have parts in proportion to their tenants`() {
        let members = [
            Self.member("a", own: 0.5, interactive: 1), Self.member("b", own: 0.5, interactive: 1, tenants: 9),
        ]
        let shares = Self.shares(members, LeasePlan(members))
        #expect(Self.isNear(shares["a"] ?? 0, 0.1))
        #expect(Self.isNear(shares["b"] ?? 0, 0.9))
    }

    @Test func `Tenants with less demand leave the rest to the others`() {
        let members = [
            Self.member("a", own: 0.5, interactive: 1),
            Self.member("b", own: 0.5, interactive: 0.45, tenants: 9),
        ]
        let plan = LeasePlan(members)
        #expect(Self.isNear(Self.shares(members, plan)["a"] ?? 0, 0.55))
    }

    @Test func `Batch tenants divide the rest`() {
        let members = [
            Self.member("a", own: 0.5, batch: 1), Self.member("b", own: 0.25, batch: 1, batchTenants: 3),
            Self.member("c", own: 0.25, interactive: 0.2),
        ]
        let targets = LeasePlan(members).targets
        #expect(Self.isNear(targets["a"]?.batch ?? 0, 0.2))
        #expect(Self.isNear(targets["b"]?.batch ?? 0, 0.6))
    }
}
