import ArgumentParser
import Basics
// As in locsearch: see docs/internals/decisions/0006-mimalloc.md.
internal import CMimalloc
import FleetSimulation
import Foundation

/// `make simulate-defects`: puts known defects back, one at a time, and counts the schedules that it takes to find each.
///
/// A defect counts as found by a schedule that breaks a promise with it and none without it. `tools/defects copy` puts this
/// program in the place of `Simulate`, in a copy of the sources to which all patches of this folder are applied.
@main
struct DefectHunt: ParsableCommand {
    /// The result of the hunt for one defect.
    struct Result {
        let defect: Defect
        /// The promise that was broken, and the seed; `nil` if no schedule has found the defect.
        var found: (rule: String, seed: UInt64)?
    }

    static let configuration = CommandConfiguration(
        commandName: "simulate-defects",
        abstract: "Counts the schedules until each known defect is found, from the first seed on.")

    @Option(help: "The first seed.") var from: UInt64 = 1
    @Option(help: "The most schedules for one defect.") var most = 10_000
    @Option(help: "How many processes to run side by side.") var jobs = ProcessInfo.processInfo.activeProcessorCount
    @Option(help: "Hunts for this defect only; may be repeated.", transform: Self.defect(named:)) var defect: [Defect] =
        []
    @Option(help: "Runs this schedule with the defect and prints its story.") var seed: UInt64?
    @Flag(help: .hidden) var isPart = false

    private static func defect(named name: String) throws -> Defect {
        guard let defect = Defect(rawValue: name) else { throw ValidationError("no defect has the name \(name)") }
        return defect
    }

    /// - Throws: if a defect was not found.
    func run() throws {
        guard SameProgram.hasFixedOrder else { throw ExitCode(try SameProgram.runAgain()) }
        if let seed { return tellStory(of: seed) }
        if isPart, let defect = defect.first { return Self.hunt(defect, from: from, most: most) }

        print("| defect | found by | schedules |\n|---|---|---|")
        let results = try Self.huntAll(defect.isEmpty ? Defect.allCases : defect, jobs: jobs) { defect in
            let output = Pipe()
            let arguments = ["--is-part", "--defect", defect.rawValue, "--from", "\(from)", "--most", "\(most)"]
            return (try SameProgram.launch(arguments, output: output), output)
        } report: { result in
            let found = result.found.map { "\($0.rule) | \($0.seed - from + 1)" } ?? "not found | more than \(most)"
            print("| `\(result.defect.rawValue)` | \(found) |")
            fflush(nil)
        }

        let missed = results.filter { $0.found == nil }
        print("\(results.count - missed.count) of \(results.count) found")
        if !missed.isEmpty { throw ExitCode(1) }
    }

    private func tellStory(of seed: UInt64) {
        unsafe Defect.current = defect.first
        let outcome = FleetSimulation.run(FleetPlan(seed: seed)) { print($0) }
        for finding in outcome.verdict.findings { print("FINDING \(finding)") }
    }

    /// Prints the promise that a defect breaks and the first seed that shows it, for the process that started this one.
    private static func hunt(_ defect: Defect, from first: UInt64, most: Int) {
        for seed in first..<first + UInt64(max(0, most)) {
            guard let rule = rule(brokenBy: defect, seed: seed) else { continue }
            return print("\(seed)\t\(rule)")
        }
    }

    private static func rule(brokenBy defect: Defect, seed: UInt64) -> String? {
        // No code runs between two schedules. A defect may be in the workers' settings, which the plan contains.
        unsafe Defect.current = defect
        guard let finding = FleetSimulation.run(FleetPlan(seed: seed)).verdict.findings.first else { return nil }
        unsafe Defect.current = nil
        return FleetSimulation.run(FleetPlan(seed: seed)).verdict.isGood ? finding.rule.rawValue : nil
    }

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
