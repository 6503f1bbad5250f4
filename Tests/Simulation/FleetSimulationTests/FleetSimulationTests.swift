import Foundation
import Testing
import WorkerRuntime

@testable import FleetSimulation

/// Whole fleets under virtual time. `make simulate` runs thousands of schedules; these tests are about the simulation itself.
@Suite(.serialized)  // Schedules of a process count their calls together.
struct FleetSimulationTests {
    /// Without this variable, each dictionary has a random order. `make test` and `make simulate` set it.
    private static let isOrderFixed = ProcessInfo.processInfo.environment["SWIFT_DETERMINISTIC_HASHING"] != nil

    /// Returns the first plan that fits.
    private func plan(where fits: (FleetPlan) -> Bool) throws -> FleetPlan {
        let found = (1...3000 as ClosedRange<UInt64>).lazy.map { FleetPlan(seed: $0) }.first(where: fits)
        return try #require(found)
    }

    @Test(.enabled(if: isOrderFixed, "SWIFT_DETERMINISTIC_HASHING is not set"))
    func `A seed determines its schedule`() {
        for seed in 1...4 as ClosedRange<UInt64> {
            let (first, second) = (
                FleetSimulation.run(FleetPlan(seed: seed)), FleetSimulation.run(FleetPlan(seed: seed))
            )
            #expect(first.digest == second.digest)
            #expect(first.calls == second.calls)
        }
    }

    @Test func `Schedules of different seeds differ`() {
        let digests = (1...6 as ClosedRange<UInt64>).map { FleetSimulation.run(FleetPlan(seed: $0)).digest }
        #expect(Set(digests).count == digests.count)
    }

    @Test func `Omitting a fault changes nothing else`() throws {
        let plan = try plan { $0.faults.count > 1 }
        var smaller = plan
        smaller.faults.removeFirst()
        #expect(smaller.requests.map(\.keyword) == plan.requests.map(\.keyword))
        #expect(smaller.faults.map(\.time) == Array(plan.faults.map(\.time).dropFirst()))
        #expect(FleetSimulation.run(smaller).requests == plan.requests.count)
    }

    /// The judge detects that a fleet cannot answer, and the finding names the requests.
    @Test func `Each request has an outcome although the provider always fails`() {
        var plan = FleetPlan(seed: 7)
        (plan.faults, plan.failures, plan.latency) = ([], 1, 10...20)
        let outcome = FleetSimulation.run(plan)
        #expect(outcome.verdict.isGood, "\(outcome.verdict.findings)")
    }

    /// With exactly-once, newer workers write no done-sets while older ones are there.
    @Test func `Plans lose metadata in every way`() {
        let plans = (1...300 as ClosedRange<UInt64>).map { FleetPlan(seed: $0) }
        let mixed = plans.filter { $0.olderProcesses != 0 }
        #expect(mixed.contains { $0.delivery == .atLeastOnce && $0.settings.doneSetBytes > 0 })
        #expect(mixed.contains { $0.delivery == .exactlyOnce })
        #expect(mixed.allSatisfy { $0.delivery == .atLeastOnce || $0.settings.doneSetBytes == 0 })
        #expect(mixed.allSatisfy { plan in (0..<plan.members).contains { plan.isOlder(member: $0, start: 0) } })

        #expect(plans.contains { !$0.keepsMetadata })
        #expect(plans.contains { $0.faults.contains { $0.name == "metadata lost" } })
        #expect(plans.contains { $0.faults.contains { $0.name == "metadata copied" } })
        #expect(plans.allSatisfy { $0.keepsMetadata && $0.olderProcesses == 0 || !$0.keepsDoneSets })
    }

    /// As MirrorMaker does. With another offset the metadata names other records, which would be skipped.
    @Test func `Metadata that a tool copies to another offset loses no request`() {
        let plans = (1...400 as ClosedRange<UInt64>).lazy.map { FleetPlan(seed: $0) }.filter { plan in
            plan.settings.doneSetBytes > 100 && plan.faults.contains { $0.name == "metadata copied" }
        }
        var copies = 0
        for plan in plans.prefix(8) {
            let outcome = FleetSimulation.run(plan)
            #expect(outcome.verdict.isGood, "seed \(plan.seed): \(outcome.verdict.findings)")
            copies += outcome.coverage.keys.count { $0.hasPrefix("metadata copied") }
        }
        #expect(copies > 0)
    }

    /// docs/guarantees.md, "A record that crashes workers": three crashes by a record that traps, five by one that gets processes killed.
    @Test(arguments: [
        (WorkerConfiguration.Delivery.atLeastOnce, true, 3), (.exactlyOnce, true, 3), (.atLeastOnce, false, 5),
    ])
    func `A record is set aside after the documented number of crashes`(
        delivery: WorkerConfiguration.Delivery, traps: Bool, ends: Int
    ) throws {
        let plan = try plan { plan in
            plan.isOnlyPoisoned && plan.delivery == delivery && plan.poisons.count == 1
                && plan.poisons.values.allSatisfy { $0.traps == traps }
        }
        let outcome = FleetSimulation.run(plan)
        #expect(outcome.verdict.isGood, "\(outcome.verdict.findings)")
        #expect(outcome.kills == ends)
        #expect(
            !outcome.coverage.filter { $0.key.hasPrefix(traps ? "record that traps" : "record that kills") }.isEmpty)
    }

    /// Without its fault, the record is a request like any other.
    @Test func `A record without its fault crashes no process`() throws {
        var plan = try plan { $0.isOnlyPoisoned && !$0.poisons.isEmpty }
        plan.faults = []
        let outcome = FleetSimulation.run(plan)
        #expect(outcome.verdict.isGood, "\(outcome.verdict.findings)")
        #expect(outcome.kills == 0)
    }

    @Test func `The story has every fault`() throws {
        let plan = try plan { $0.faults.count > 2 }
        var lines: [String] = []
        _ = FleetSimulation.run(plan) { lines.append($0) }
        for fault in plan.faults { #expect(lines.contains { $0.contains("\(fault)") }) }
    }

    // MARK: - A requests topic that is recreated under running workers, which lose members afterwards

    /// The number of schedules. Set the variable for more, to look for rare failures.
    private static let remadeSchedules =
        ProcessInfo.processInfo.environment["REMADE_SCHEDULES"].flatMap { Int($0) } ?? 10

    /// Returns a plan in which the topic is recreated while much is open, requests come faster than they are
    /// answered, and members are killed.
    private func planOfRecreatedTopic(seed: UInt64) -> FleetPlan? {
        var plan = FleetPlan(seed: seed)
        guard plan.faults.contains(where: { $0.name == "requests topic recreated" }) else { return nil }
        let time = plan.faults.first { $0.name == "requests topic recreated" }?.time ?? 5
        for member in 0..<plan.members {
            let kill = Fault(time: time + 1.5 + Double(seed % 7), kind: .kill(member: member, back: 0.5))
            plan.faults.append(kill)
        }
        plan.faults.sort { $0.time < $1.time }
        return plan
    }

    @Test func `No request of the new topic is lost`() {
        var found = 0
        for seed in 1...100_000 as ClosedRange<UInt64> {
            guard let plan = planOfRecreatedTopic(seed: seed) else { continue }
            found += 1
            if found > Self.remadeSchedules { break }
            let outcome = FleetSimulation.run(plan)
            #expect(outcome.verdict.isGood, "seed \(seed): \(outcome.verdict.findings)")
        }
    }
}
