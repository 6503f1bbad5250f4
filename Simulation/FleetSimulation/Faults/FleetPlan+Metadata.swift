import Basics
import SimulatedLoop
import WorkerRuntime

/// Loss of the metadata of committed offsets, which lists the requests done beyond the offset.
///
/// Some brokers keep no metadata, some tools commit without it or copy it to another offset, and older workers ignore it.
extension FleetPlan {
    /// Makes the metadata get lost in some schedules, in one of several ways.
    mutating func makeMetadataTrouble(_ random: inout SeededGenerator) {
        switch Double.random(in: 0..<1, using: &random) {
        case ..<0.05: keepsMetadata = false
        case ..<0.17: mixVersions(&random)
        case ..<0.23: addTool(.metadataLost, &random)
        // Runs of done records are short, so only a small step moves them over records that are open.
        case ..<0.29: addTool(.metadataCopied(records: [1, 1, 2, 5].randomElement(using: &random) ?? 1), &random)
        default: break
        }
    }

    /// Makes some processes run an older version. With exactly-once, newer processes then have `worker.doneSetBytes=0`.
    private mutating func mixVersions(_ random: inout SeededGenerator) {
        olderProcesses = random.next() | 1 << UInt64.random(in: 0..<UInt64(members), using: &random)
        if delivery == .exactlyOnce { settings.doneSetBytes = 0 }
    }

    /// Kills all workers, and lets a tool commit the offsets before others start, in schedules that have faults.
    private mutating func addTool(_ fault: Fault.Kind, _ random: inout SeededGenerator) {
        let movesOffsets = faults.contains(where: \.movesOffsets)
        guard !isCalm, !movesOffsets else { return }
        let time = Double.random(in: 2...max(3, faultsEnd - 9), using: &random)
        faults.append(Fault(time: time, kind: fault))
        faults.sort { $0.time < $1.time }
    }

    /// True for a process of a version that neither writes nor reads done-sets.
    func isOlder(member: Int, start: Int) -> Bool {
        olderProcesses >> UInt64(truncatingIfNeeded: (member + 13 * start) % 64) & 1 == 1
    }
}
