import Basics
import SimulatedLoop
import WorkerRuntime

/// What becomes of the text beside a committed offset, which says what is done beyond it: brokers that keep none, people and tools
/// that commit without it, or copy it to another offset, and workers of an older version that know nothing of it.
extension FleetPlan {
    /// Has the text get lost in some schedules, in one way or another.
    mutating func makeMetadataTrouble(_ random: inout SeededGenerator) {
        switch Double.random(in: 0..<1, using: &random) {
        case ..<0.05: keepsMetadata = false
        case ..<0.17: mixVersions(&random)
        case ..<0.23: addTool(.metadataLost, &random)
        // Runs of done records are short, so that only a small step puts them over records that are open.
        case ..<0.29: addTool(.metadataCopied(records: [1, 1, 2, 5].randomElement(using: &random) ?? 1), &random)
        default: break
        }
    }

    /// Has some processes be of an older version. With exactly-once, newer processes have `worker.doneSetBytes=0` then.
    private mutating func mixVersions(_ random: inout SeededGenerator) {
        olderProcesses = random.next() | 1 << UInt64.random(in: 0..<UInt64(members), using: &random)
        if delivery == .exactlyOnce, !isPutBack(.doneSetsBesideOlder) { settings.doneSetBytes = 0 }
    }

    /// Has all workers die, and the offsets committed anew by a tool before others start, in schedules that have faults.
    private mutating func addTool(_ fault: Fault.Kind, _ random: inout SeededGenerator) {
        let movesOffsets = faults.contains { fault in
            switch fault.kind {
            case .offsetsBack, .cluster(.makeAgain(SimulatedWorker.requests, _)): true
            default: false
            }
        }
        guard !isCalm, !movesOffsets else { return }
        let time = Double.random(in: 2...max(3, faultsEnd - 9), using: &random)
        faults.append(Fault(time: time, kind: fault))
        faults.sort { $0.time < $1.time }
    }

    /// True for a process of a version that neither writes nor reads what is done beyond an offset.
    func isOlder(member: Int, start: Int) -> Bool {
        olderProcesses >> UInt64(truncatingIfNeeded: (member + 13 * start) % 64) & 1 == 1
    }
}
