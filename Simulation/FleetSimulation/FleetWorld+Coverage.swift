/// Which faults met which phase of the workers that they hit.
extension FleetWorld {
    /// Counts the phases in which a fault finds the workers that it hits: one member's, or those of all.
    func cover(_ fault: Fault) {
        let hit = fault.member.map { workers[$0].map { [$0] } ?? [] } ?? everyWorker
        for worker in hit where worker.isAlive {
            for phase in worker.phases(in: self) { count(fault, phase.rawValue) }
        }
    }

    /// The calls of a process that are under way.
    func callsUnderway(of process: String) -> Int { provider.underwayByMember[process, default: 0] }
}
