import Basics
import SimulatedLoop

/// Runs schedules of a whole fleet in one process, each from its seed.
public enum FleetSimulation {
    /// The result of one schedule.
    public struct Outcome: Sendable {
        public var seed: UInt64
        public var verdict: Verdict
        /// A digest of the run. Equal runs have equal digests.
        public var digest: UInt64
        /// The number of times that a fault met a phase of a worker, by `fault / phase`.
        public var coverage: [String: Int]
        /// The number of calls to the provider.
        public var calls: Int
        public var requests: Int
        /// The number of processes that were killed.
        public var kills: Int
        /// The virtual time that it took.
        public var seconds: Double
    }

    /// The names of all faults, in the order of a table's rows.
    public static var faults: [String] { Fault.names }
    /// The names of all phases of a worker, in the order of a table's columns.
    public static var phases: [String] { WorkerPhase.names }

    /// Runs one schedule.
    /// - Parameter tell: receives the story, line by line.
    public static func run(_ plan: FleetPlan, tell: ((String) -> Void)? = nil) -> Outcome {
        let world = FleetWorld(plan, tell: tell)
        defer { world.forgetEverything() }
        var judge = Judge(world)
        do throws(SimulationError) {
            try world.run { judge.judgeProgress() }
            world.reportPositions()
            try world.end(within: .seconds(plan.shutdownGrace + 20))
            judge.judgeEnd()
        } catch {
            judge.note(error)
        }
        return Outcome(
            seed: plan.seed, verdict: judge.verdict, digest: world.simulation.digest, coverage: world.coverage,
            calls: world.provider.calls.count, requests: plan.requests.count, kills: world.kills.count,
            seconds: world.simulation.elapsed / .seconds(1))
    }

    /// Removes faults for as long as the same promise is broken, so that few are left.
    public static func narrowed(_ plan: FleetPlan) -> FleetPlan {
        guard let rule = run(plan).verdict.findings.first?.rule else { return plan }
        var plan = plan
        var index = 0
        while index < plan.faults.count {
            var smaller = plan
            smaller.faults.remove(at: index)
            if run(smaller).verdict.findings.contains(where: { $0.rule == rule }) { plan = smaller } else { index += 1 }
        }
        return plan
    }
}
