import ArgumentParser
import Basics
import FleetSimulation
import Foundation

/// `make simulate`: runs schedules of a whole fleet under virtual time.
@main
struct Simulate: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "simulate",
        abstract: "Runs schedules of a whole fleet under virtual time, each from its seed.",
        discussion: """
            A failing schedule is narrowed down to few faults and told as a story. --seed replays one, byte for byte.
            docs/simulation.md says what is simulated, and what must hold.
            """)

    @Option(help: "How many schedules to run.") var seeds = 1000
    @Option(help: "The first seed.") var from: UInt64 = 1
    @Option(help: "Runs this one alone and tells its story.") var seed: UInt64?
    @Option(help: "How many processes to run side by side.") var jobs = ProcessInfo.processInfo.activeProcessorCount
    @Flag(help: .hidden) var isPart = false

    /// Without this, dictionaries have an order of their own in each process.
    private static let hashing = "SWIFT_DETERMINISTIC_HASHING"

    func run() throws {
        guard ProcessInfo.processInfo.environment[Self.hashing] != nil else { return try runAgain() }
        if let seed { return try tellStory(of: seed) }
        if isPart || jobs <= 1 { return try runPart() }
        try runParts()
    }

    /// Runs this program with the same arguments and a fixed order of dictionaries.
    private func runAgain() throws {
        let code = try Self.launch(Array(CommandLine.arguments.dropFirst())).waitForStatus()
        throw ExitCode(code)
    }

    private static func launch(_ arguments: [String]) throws -> Process {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath()
        process.arguments = arguments
        process.environment = ProcessInfo.processInfo.environment.merging([hashing: "1"]) { $1 }
        try process.run()
        return process
    }

    // MARK: - Many schedules

    private func runParts() throws {
        let share = (seeds + jobs - 1) / jobs
        let parts = try (0..<jobs).map { part in
            let first = from + UInt64(part * share)
            let count = max(0, min(share, seeds - part * share))
            return try Self.launch(["--is-part", "--from", "\(first)", "--seeds", "\(count)"])
        }
        let codes = parts.map { $0.waitForStatus() }
        if let code = codes.first(where: { $0 != 0 }) { throw ExitCode(code) }
    }

    private func runPart() throws {
        let begin = SystemClock.now
        var tally = Tally()
        for number in 0..<UInt64(max(0, seeds)) {
            let plan = FleetPlan(seed: from + number)
            let outcome = FleetSimulation.run(plan)
            tally.add(outcome)
            if !outcome.verdict.isGood { tell(of: outcome, plan) }
        }
        print(tally.summary(seconds: begin.duration(to: SystemClock.now) / .seconds(1)))
        if tally.failed > 0 { throw ExitCode(1) }
    }

    /// Prints what is wrong and what is left of the schedule when it is narrowed down.
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

extension Process {
    /// Waits for the process's end and returns its exit code.
    fileprivate func waitForStatus() -> Int32 {
        waitUntilExit()
        return terminationStatus
    }
}
