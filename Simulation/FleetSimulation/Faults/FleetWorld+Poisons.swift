import Basics
import EventLoop
import SimulatedLoop

/// Processes that crash because of a record.
extension FleetWorld {
    /// A crash of a process by a record.
    struct Crash {
        /// Seconds from the beginning.
        let time: Double
        let process: String
        /// The keyword of the record.
        let keyword: String
    }

    /// Crashes a process that has read the answer to a record that crashes workers, after the current iteration of its loop.
    func crash(_ name: String, on loop: EventLoop, by keyword: String) {
        after(0) { [self] in
            guard let poison = poisons[keyword],
                let (member, worker) = workers.first(where: { $0.value.name == name }) ?? former(name), worker.isAlive
            else { return }

            say("\(name) is crashed by \(keyword)")
            for phase in worker.phases(in: self) { count(poison.fault, phase.rawValue) }
            noteCrash(
                Crash(time: beginning.duration(to: simulation.now) / .seconds(1), process: name, keyword: keyword))
            let wasRunning = worker.state == .running
            worker.crash(on: poison.traps ? loop : nil) { [self] in
                guard wasRunning else { return }
                restart(worker, at: member)
            }
        }
    }

    /// Returns a process that was drained and already replaced.
    private func former(_ name: String) -> (Int, SimulatedWorker)? {
        everyWorker.first { $0.name == name }.map { (-1, $0) }
    }

    /// Starts the process again after a while, as a supervisor does.
    private func restart(_ worker: SimulatedWorker, at member: Int) {
        after(Double.random(in: 0.3...2, using: &simulation.random)) { [self] in
            if workers[member] === worker { launch(member) }
        }
    }
}
