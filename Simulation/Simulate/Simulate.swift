import ArgumentParser
import Basics
// As in locsearch: see docs/internals/decisions/0006-mimalloc.md.
internal import CMimalloc
import FleetSimulation
import Foundation

/// `make simulate`: runs schedules of a whole fleet under virtual time.
@main
struct Simulate: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "simulate",
        abstract: "Runs schedules of a whole fleet under virtual time, each from its seed.",
        discussion: """
            A failing schedule is reduced to few faults, and its events are printed. --seed replays one schedule
            exactly. docs/internals/simulation.md describes what is simulated, and the rules.
            """)

    @Option(help: "Number of schedules to run.") var seeds = 1000
    @Option(help: "The first seed.") var from: UInt64 = 1
    @Option(help: "Runs only this seed, and prints its events.") var seed: UInt64?
    @Option(help: "How many processes to run side by side.") var jobs = ProcessInfo.processInfo.activeProcessorCount
    @Flag(
        help:
            "Runs in one process, and prints for each schedule the seed, milliseconds of CPU time, seconds of virtual time, the digest and the head of its plan."
    )
    var costs = false
    @Flag(help: .hidden) var isPart = false
    @Option(help: .hidden) var tally: String?

    /// Exit code 2: some schedules have no result. Exit code 1: some have failed.
    private static let lostParts = ExitCode(2)

    func run() throws {
        guard SameProgram.hasFixedOrder else { throw ExitCode(try SameProgram.runAgain()) }
        if let seed { return try tellStory(of: seed) }
        if isPart || costs { return try runPart() }
        try runParts()
    }

    // MARK: - Many schedules

    private func runParts() throws {
        let folder = URL(fileURLWithPath: NSTemporaryDirectory()).appendingPathComponent(
            "simulate-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }

        let run = LongRun(first: from, seeds: max(0, seeds)) { line in
            print(line)
            fflush(nil)
        }
        let result = try run.run(jobs: jobs, folder: folder) { part, file in
            try SameProgram.launch([
                "--is-part", "--from", "\(part.first)", "--seeds", "\(part.count)", "--tally", file.path,
            ])
        }
        print(result.tally.summary(seconds: run.seconds))
        if !result.lost.isEmpty {
            let count = result.lost.reduce(0) { $0 + $1.count }
            print("error: \(count) of \(seeds) schedules are not counted, because their processes were lost: see above")
            throw Self.lostParts
        }
        if !result.tally.failing.isEmpty { throw ExitCode(1) }
    }

    private func runPart() throws {
        let begin = SystemClock.now
        var tally = Tally()
        for number in 0..<UInt64(max(0, seeds)) {
            if let file = self.tally {
                try "\(from + number)".write(
                    to: LongRun.noteOfSeed(URL(fileURLWithPath: file)), atomically: false, encoding: .utf8)
            }
            let cost = Self.processorTime
            let plan = FleetPlan(seed: from + number)
            let outcome = FleetSimulation.run(plan)
            tally.add(outcome)
            if costs { tell(of: outcome, plan, cost: Self.processorTime - cost) }
            if !outcome.verdict.isGood { tell(of: outcome, plan) }
        }
        if let file = self.tally { return try tally.write(to: URL(fileURLWithPath: file)) }

        print(tally.summary(seconds: begin.duration(to: SystemClock.now) / .seconds(1)))
        if !tally.failing.isEmpty { throw ExitCode(1) }
    }

    /// Prints a line with the cost of a schedule.
    private func tell(of outcome: FleetSimulation.Outcome, _ plan: FleetPlan, cost: Double) {
        let (milliseconds, seconds) = ((cost * 10).rounded() / 10, outcome.seconds.rounded())
        let head = plan.description.prefix { $0 != "\n" }
        print(outcome.seed, milliseconds, seconds, outcome.digest, head, separator: "\t")
    }

    /// The processor time of the process in milliseconds. Unlike elapsed time, it hardly depends on other programs.
    private static var processorTime: Double { Double(clock()) / 1000 }

    /// Prints the findings and the faults that remain when the schedule is narrowed down.
    private func tell(of outcome: FleetSimulation.Outcome, _ plan: FleetPlan) {
        print("seed \(outcome.seed) fails")
        for finding in outcome.verdict.findings { print("  \(finding)") }
        for fault in FleetSimulation.narrowed(plan).faults { print("  with: \(fault)") }
        print("  replay it: SEED=\(outcome.seed) make simulate")
    }

    // MARK: - One schedule

    private func tellStory(of seed: UInt64) throws {
        let plan = FleetSimulation.narrowed(FleetPlan(seed: seed))
        print(plan)
        let outcome = FleetSimulation.run(plan) { print($0) }
        for finding in outcome.verdict.findings { print("FINDING \(finding)") }
        print("digest \(outcome.digest), \(outcome.calls) calls for \(outcome.requests) requests")
        if !outcome.verdict.isGood { throw ExitCode(1) }
    }
}
