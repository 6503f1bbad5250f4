import Basics
import SimulatedLoop

/// The wall clocks of the members' machines. What time a deadline or a limit goes by is another clock, which is never set.
extension FleetWorld {
    /// What a process's wall clock shows from an instant on, compared with the simulation's time.
    struct WallOffset {
        let process: String
        let since: Instant
        let seconds: Double
    }

    /// Gives a new process the wall clock of its member's machine, which goes on showing what it showed before.
    func setWallClock(of worker: SimulatedWorker, member: Int) {
        guard plan.wallSkew > 0 else { return }
        let offset =
            wallOffsetOfMember[member] ?? Double.random(in: -plan.wallSkew...plan.wallSkew, using: &clockRandom)
        step(worker, member: member, by: offset, to: offset)
    }

    /// Sets a member's wall clock, as a person or a time service does.
    func stepWallClock(of worker: SimulatedWorker, member: Int, by seconds: Double) {
        step(worker, member: member, by: seconds, to: (wallOffsetOfMember[member] ?? 0) + seconds)
    }

    private func step(_ worker: SimulatedWorker, member: Int, by seconds: Double, to offset: Double) {
        wallOffsetOfMember[member] = offset
        // The lanes of a process share their clock.
        worker.lanes.first?.loop.clock.stepWallTime(by: .seconds(seconds))
        wallOffsets.append(WallOffset(process: worker.name, since: simulation.now, seconds: offset))
    }

    /// The least that a process's wall clock was ahead up to an instant, in seconds; 0 where it was right all the time.
    func leastWallOffset(of process: String, upTo end: Instant) -> Double {
        let offsets = wallOffsets.filter { $0.process == process && $0.since <= end }.map(\.seconds)
        return plan.wallSkew > 0 ? offsets.min() ?? 0 : min(0, offsets.min() ?? 0)
    }

    /// True for a time at which a process may not have noticed yet that its wall clock was set: it looks at the day five times a
    /// second while it runs, and a stopped one stands still for 8 s at most.
    func wasJustSet(_ process: String, at time: Instant) -> Bool {
        wallOffsets.contains { $0.process == process && $0.since <= time && $0.since.duration(to: time) < .seconds(10) }
    }
}
