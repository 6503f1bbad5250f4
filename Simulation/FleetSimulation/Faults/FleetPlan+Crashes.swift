import SimulatedLoop
import WorkerRuntime

/// Schedules in which nothing is repeated but by crashes, so that what they repeat can be told.
extension FleetPlan {
    /// Leaves of all that goes wrong only what is graceful, and has members killed.
    mutating func makeCrashes(_ random: inout SeededGenerator) {
        guard random.chance(0.05) else { return }
        delivery = .atLeastOnce
        (isStatic, losesAssignmentByStaleCommits) = (false, false)
        (fateOfMessages, lostCommits) = (.perfect, 0)
        faults.removeAll { !$0.isGraceful }
        for _ in 0..<Int.random(in: 1...4, using: &random) {
            let member = Int.random(in: 0..<members, using: &random)
            let back = Double.random(in: 0.2...8, using: &random)
            faults.append(
                Fault(time: Double.random(in: 3...32, using: &random), kind: .kill(member: member, back: back)))
        }
        faults.sort { $0.time < $1.time }
    }

    /// True where nothing is repeated but by kills, and by what is handed back.
    var isRepeatedByKillsAlone: Bool {
        let isGracefulOrKill = faults.allSatisfy { fault in
            if case .kill = fault.kind { true } else { fault.isGraceful }
        }
        return delivery == .atLeastOnce && isGracefulOrKill && fateOfMessages.isPerfect && !isStatic
            && !losesAssignmentByStaleCommits
    }
}
