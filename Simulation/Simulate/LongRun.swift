import Basics
import Foundation

/// A process that runs a part of the schedules.
protocol PartProcess {
    var isRunning: Bool { get }
    /// Why there is no result to read, for a person; `nil` when the process has ended well. Asked once it has ended.
    var failure: String? { get }
}

/// Runs any number of schedules, in parts: each is a process of its own, which takes what killed workers have left in its memory
/// with it.
final class LongRun {
    /// Seeds that one process runs.
    struct Part: Hashable {
        let first: UInt64
        let count: Int
        var end: UInt64 { first + UInt64(count) }
    }

    /// What all parts came to.
    struct Result {
        var tally = Tally()
        /// The parts of which nothing is known, because their process did not end as it should.
        var lost: [Part] = []
    }

    private struct Running {
        let part: Part
        let process: any PartProcess
        let file: URL
    }

    /// A process keeps about a third of a megabyte of each schedule.
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

    /// - Parameter say: gets a line for each part that is lost, and one a minute about how far the run has come.
    init(first: UInt64, seeds: Int, say: @escaping (String) -> Void) {
        self.first = first
        self.say = say
        end = first + UInt64(seeds)
        next = first
    }

    /// The time since the beginning.
    var seconds: Double { begin.duration(to: SystemClock.now) / .seconds(1) }

    /// Runs all parts, as many at a time as `jobs` says.
    /// - Parameters:
    ///   - folder: where the processes write what they came to.
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

    /// Smaller parts at the end, so that all processes end at about the same time.
    private func sizeOfPart(jobs: Int) -> Int {
        let left = Int(end - next)
        return min(left, Self.schedulesOfPart, max(20, left / (2 * jobs)))
    }

    private func takeEnded() {
        // Each process is asked once: one that ends between two questions would be removed with nobody reading its tally.
        let pivot = running.partition(by: { !$0.process.isRunning })
        let ended = running[pivot...]
        running.removeSubrange(pivot...)

        for ended in ended {
            take(ended)
            for file in [ended.file, Self.noteOfSeed(ended.file)] { try? FileManager.default.removeItem(at: file) }
        }
    }

    /// Where the process of a part notes the seed that it runs, beside the file of its tally.
    static func noteOfSeed(_ file: URL) -> URL { file.appendingPathExtension("seed") }

    private func take(_ ended: Running) {
        let (part, tally) = (ended.part, try? Tally(of: ended.file))
        if ended.process.failure == nil, let tally, tally.schedules == part.count { return result.tally.add(tally) }

        result.lost.append(part)
        let why = ended.process.failure ?? "it ended well and did not say what its schedules came to"
        let seed = try? String(contentsOf: Self.noteOfSeed(ended.file), encoding: .utf8).trimmingCharacters(
            in: .newlines)
        let place = seed.map { " at seed \($0)" } ?? ""
        say(
            "error: seeds \(part.first) to \(part.end - 1) are not counted, their process is lost\(place): \(why); "
                + "run them again: make simulate FROM=\(part.first) SEEDS=\(part.count)")
    }

    /// Says now and then how far the run has come, and where another one can go on.
    private func reportNowAndThen() {
        guard lastReport.duration(to: SystemClock.now) >= Self.pauseBetweenReports else { return }
        lastReport = SystemClock.now
        let done = running.map(\.part.first).min() ?? next
        let (tally, rate) = (result.tally, (Double(result.tally.schedules) / seconds * 10).rounded() / 10)
        say(
            "\(tally.schedules) of \(end - first) schedules, \(tally.failing.count) failed, \(rate) a second; "
                + "make simulate FROM=\(done) SEEDS=\(end - done) goes on from here")
    }
}

extension Process: PartProcess {
    var failure: String? {
        switch (terminationReason, terminationStatus) {
        case (.exit, 0): nil
        case (.exit, let code): "it ended with exit code \(code)"
        case (_, let signal): "it was ended by signal \(signal)"
        }
    }
}
