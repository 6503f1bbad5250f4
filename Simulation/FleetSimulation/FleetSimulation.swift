import Basics
import SimulatedLoop
import SimulatedKafka
import SimulatedKafkaClients

/// Runs schedules of a whole fleet in one process, each from its seed.
public enum FleetSimulation {
    /// What one schedule came to.
    public struct Outcome: Sendable {
        public var seed: UInt64
        public var verdict: Verdict
        /// Equal runs have equal digests.
        public var digest: UInt64
        /// Which faults met which state.
        public var coverage: [String: Int]
        /// Calls to the provider.
        public var calls: Int
        public var requests: Int
    }

    /// Runs one schedule.
    /// - Parameter tell: gets the story, a line at a time.
    public static func run(_ plan: FleetPlan, tell: ((String) -> Void)? = nil) -> Outcome {
        let world = FleetWorld(plan, tell: tell)
        var judge = Judge(world)
        do throws(SimulationError) {
            try world.run {
                judge.judgeProgress()
                return judge.isEverythingAnswered
            }
            for w in world.everyWorker where w.isAlive { for l in w.lanes { world.say("DEBUG \(w.name) \(l.source.debugText)") } }
            try world.end(within: .seconds(plan.shutdownGrace + 20))
            judge.judgeEnd()
            world.say("DEBUG committed \(world.network.cluster.committed(by: "workers").sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" })")
            for (p, _) in world.requestAt { if let l = world.network.cluster.log(of: p) { world.say("DEBUG \(p) hw \(l.highWatermark) lso \(l.lastStableOffset)") } }
            for topic in ["results", "errors"] { for p in 0..<Int32(2) {
                guard let log = world.network.cluster.log(of: PartitionID(topic, p)) else { continue }
                for e in log.entries { world.say("DEBUG \(topic)[\(p)]@\(e.offset) \(e.marker.map { "\($0)" } ?? "rec") pid \(e.producerID) e\(e.producerEpoch) txn \(e.isTransactional) val \(String(decoding: (e.record.value ?? []).prefix(40), as: UTF8.self)) src \(RequestRecord.source(of: e.record).map { "\($0)" } ?? "-")") }
                world.say("DEBUG aborted \(log.aborted)")
            } }
        } catch {
            judge.note(error)
        }
        return Outcome(
            seed: plan.seed, verdict: judge.verdict, digest: world.simulation.digest, coverage: world.coverage,
            calls: world.provider.calls.count, requests: plan.requests.count)
    }

    /// Leaves out faults for as long as the same promise is broken, so that few are left.
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
