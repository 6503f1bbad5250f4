import Basics
import FleetSimulation
import Foundation

/// Puts known defects back, one at a time, and counts the schedules that it takes to find each.
///
/// A defect counts as found by a schedule that breaks a promise with it and none without it.
struct DefectHunt {
    /// The result of the hunt for one defect.
    struct Result {
        let defect: Defect
        /// The promise that was broken, and the seed; `nil` if no schedule has found the defect.
        var found: (rule: String, seed: UInt64)?
    }

    /// Prints the promise that a defect breaks and the first seed that shows it, for the process that started this one.
    static func hunt(_ defect: Defect, from first: UInt64, most: Int) {
        for seed in first..<first + UInt64(max(0, most)) {
            guard let rule = rule(brokenBy: defect, seed: seed) else { continue }
            return print("\(seed)\t\(rule)")
        }
    }

    #if DEFECTS
        private static func rule(brokenBy defect: Defect, seed: UInt64) -> String? {
            // No code runs between two schedules. A defect may be in the workers' settings, which the plan contains.
            unsafe Defect.current = defect
            guard let finding = FleetSimulation.run(FleetPlan(seed: seed)).verdict.findings.first else { return nil }
            unsafe Defect.current = nil
            return FleetSimulation.run(FleetPlan(seed: seed)).verdict.isGood ? finding.rule.rawValue : nil
        }

        static let isPossible = true
        static func putBack(_ defect: Defect) { unsafe Defect.current = defect }
    #else
        private static func rule(brokenBy defect: Defect, seed: UInt64) -> String? { nil }

        /// `false` in a normal build, which contains no defects.
        static let isPossible = false
        static func putBack(_ defect: Defect) {}
    #endif

    /// Hunts for several defects in as many processes as there are cores.
    /// - Parameter launch: starts this program with arguments, and returns it with its output.
    /// - Parameter report: called for each defect when the hunt for it has ended.
    static func huntAll(
        _ defects: [Defect], jobs: Int, launch: (Defect) throws -> (Process, Pipe), report: (Result) -> Void
    ) throws -> [Result] {
        var waiting = defects[...]
        var running: [(defect: Defect, process: Process, output: Pipe)] = []
        var results: [Result] = []
        while !waiting.isEmpty || !running.isEmpty {
            while running.count < max(1, jobs), let next = waiting.popFirst() {
                let (process, output) = try launch(next)
                running.append((next, process, output))
            }

            // A process prints little, so its output fits into the pipe until it has ended.
            Thread.sleep(forTimeInterval: 0.05)
            for (index, hunt) in running.enumerated().reversed() where !hunt.process.isRunning {
                running.remove(at: index)
                let result = Result(hunt)
                results.append(result)
                report(result)
            }
        }
        return results
    }
}

extension DefectHunt.Result {
    fileprivate init(_ hunt: (defect: Defect, process: Process, output: Pipe)) {
        defect = hunt.defect
        let text = String(decoding: hunt.output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        let parts = text.split(separator: "\n").last?.split(separator: "\t") ?? []
        if parts.count == 2, let seed = UInt64(parts[0]) { found = (String(parts[1]), seed) }
    }
}
