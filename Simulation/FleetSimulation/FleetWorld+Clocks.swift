import Basics
import SimulatedLoop

/// The wall clocks of the members' machines. Deadlines and limits use a different clock, which is never set.
extension FleetWorld {
    /// The difference of a process's wall clock from the simulation's time, from an instant on.
    struct WallOffset {
        let process: String
        let since: Instant
        let seconds: Double
    }

    /// Sets a new process's wall clock to that of its member's machine.
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

    /// Returns the least number of seconds by which a process's wall clock was ahead up to an instant; 0 if it was always right.
    func leastWallOffset(of process: String, upTo end: Instant) -> Double {
        let offsets = wallOffsets.filter { $0.process == process && $0.since <= end }.map(\.seconds)
        return plan.wallSkew > 0 ? offsets.min() ?? 0 : min(0, offsets.min() ?? 0)
    }

    /// True at a time at which a process may not have noticed yet that its wall clock was set.
    ///
    /// A running process checks the day five times a second, and a stopped one stands still for at most 8 s.
    func wasJustSet(_ process: String, at time: Instant) -> Bool {
        wallOffsets.contains { $0.process == process && $0.since <= time && $0.since.duration(to: time) < .seconds(10) }
    }
}
