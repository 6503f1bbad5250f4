import Foundation
import Testing

@testable import FleetSimulation

/// Fleets whose requests topic is deleted and recreated under running workers, and which lose members afterwards.
@Suite(.serialized)  // Schedules of a process count their calls together.
struct RemadeTopicTests {
    /// The number of schedules. Set the variable for more, to look for rare failures.
    private static let count = ProcessInfo.processInfo.environment["REMADE_SCHEDULES"].flatMap { Int($0) } ?? 10

    /// Returns a plan in which the topic is recreated while much is open, requests come faster than they are
    /// answered, and members are killed.
    private func plan(seed: UInt64) -> FleetPlan? {
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
            guard let plan = plan(seed: seed) else { continue }
            found += 1
            if found > Self.count { break }
            let outcome = FleetSimulation.run(plan)
            #expect(outcome.verdict.isGood, "seed \(seed): \(outcome.verdict.findings)")
        }
    }
}
