/// Counts of the phases of workers at the times of faults.
extension FleetWorld {
    /// Counts the phases of the workers that a fault hits: one member's, or those of all.
    func cover(_ fault: Fault) {
        let hit = fault.member.map { workers[$0].map { [$0] } ?? [] } ?? everyWorker
        for worker in hit where worker.isAlive {
            for phase in worker.phases(in: self) { count(fault, phase.rawValue) }
        }
    }

    /// Returns the number of a process's calls in flight.
    func callsUnderway(of process: String) -> Int { provider.underwayByMember[process, default: 0] }
}
