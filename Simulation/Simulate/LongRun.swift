import Basics
import Foundation

/// A process that runs a part of the schedules.
protocol PartProcess {
    var isRunning: Bool { get }
    /// The reason why there is no result, for a person; `nil` if the process ended successfully. Read only after it has ended.
    var failure: String? { get }
}

/// Runs any number of schedules in parts. Each part has a separate process, whose end frees the memory that killed workers leave behind.
final class LongRun {
    /// The seeds that one process runs.
    struct Part: Hashable {
        let first: UInt64
        let count: Int
        var end: UInt64 { first + UInt64(count) }
    }

    /// The combined result of all parts.
    struct Result {
        var tally = Tally()
        /// The parts without a result, because their process failed.
        var lost: [Part] = []
    }

    private struct Running {
        let part: Part
        let process: any PartProcess
        let file: URL
    }

    /// Limits the memory of a process, which grows by about a third of a megabyte with each schedule.
    private static let schedulesOfPart = 500
    private static let pauseBetweenReports = Duration.seconds(60)

    private let first: UInt64
    private let end: UInt64
    private let say: (String) -> Void
    private let begin = SystemClock.now
    private var lastReport = SystemClock.now
    private var next: UInt64
    private var running: [Running] = []
    private var result = Result()

    /// - Parameter say: receives a line for each lost part, and a progress line once a minute.
    init(first: UInt64, seeds: Int, say: @escaping (String) -> Void) {
        self.first = first
        self.say = say
        end = first + UInt64(seeds)
        next = first
    }

    /// The seconds since the beginning.
    var seconds: Double { begin.duration(to: SystemClock.now) / .seconds(1) }

    /// Runs all parts, up to `jobs` at a time.
    /// - Parameters:
    ///   - folder: the folder for the results of the processes.
    ///   - launch: starts the process of a part, which writes its tally to a file.
    func run(jobs: Int, folder: URL, launch: (Part, URL) throws -> any PartProcess) throws -> Result {
        while next < end || !running.isEmpty {
            while next < end, running.count < max(1, jobs) {
                let part = Part(first: next, count: sizeOfPart(jobs: max(1, jobs)))
                let file = folder.appendingPathComponent("\(part.first)")
                running.append(Running(part: part, process: try launch(part, file), file: file))
                next = part.end
            }

            Thread.sleep(forTimeInterval: 0.02)
            takeEnded()
            reportNowAndThen()
        }
        return result
    }

    /// Returns the size of the next part. Parts become smaller at the end, so that all processes end at about the same time.
    private func sizeOfPart(jobs: Int) -> Int {
        let left = Int(end - next)
        return min(left, Self.schedulesOfPart, max(20, left / (2 * jobs)))
    }

    private func takeEnded() {
        // Each process is checked once: if it ended between two checks, it would be removed without its tally being read.
        let pivot = running.partition(by: { !$0.process.isRunning })
        let ended = running[pivot...]
        running.removeSubrange(pivot...)

        for ended in ended {
            take(ended)
            for file in [ended.file, Self.noteOfSeed(ended.file)] { try? FileManager.default.removeItem(at: file) }
        }
    }

    /// The file in which the process of a part writes its current seed, next to the file of its tally.
    static func noteOfSeed(_ file: URL) -> URL { file.appendingPathExtension("seed") }

    private func take(_ ended: Running) {
        let (part, tally) = (ended.part, try? Tally(of: ended.file))
        if ended.process.failure == nil, let tally, tally.schedules == part.count { return result.tally.add(tally) }

        result.lost.append(part)
        let why = ended.process.failure ?? "it exited successfully without reporting its schedules"
        let seed = try? String(contentsOf: Self.noteOfSeed(ended.file), encoding: .utf8).trimmingCharacters(
            in: .newlines)
        let place = seed.map { " at seed \($0)" } ?? ""
        say(
            "error: seeds \(part.first) to \(part.end - 1) are not counted, because their process was lost\(place): \(why); "
                + "run them again: make simulate FROM=\(part.first) SEEDS=\(part.count)")
    }

    /// Reports the progress every now and then, and where another run can continue.
    private func reportNowAndThen() {
        guard lastReport.duration(to: SystemClock.now) >= Self.pauseBetweenReports else { return }
        lastReport = SystemClock.now
        let done = running.map(\.part.first).min() ?? next
        let (tally, rate) = (result.tally, (Double(result.tally.schedules) / seconds * 10).rounded() / 10)
        say(
            "\(tally.schedules) of \(end - first) schedules, \(tally.failing.count) failed, \(rate) per second; "
                + "make simulate FROM=\(done) SEEDS=\(end - done) continues from here")
    }
}

extension Process: PartProcess {
    var failure: String? {
        switch (terminationReason, terminationStatus) {
        case (.exit, 0): nil
        case (.exit, let code): "exit code \(code)"
        case (_, let signal): "killed by signal \(signal)"
        }
    }
}
