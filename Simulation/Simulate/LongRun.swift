import Basics
import Foundation

/// Runs any number of schedules, in parts: each is a process of its own, which takes what killed workers have left in its memory
/// with it.
final class LongRun {
    /// Seeds that one process runs.
    struct Part {
        let first: UInt64
        let count: Int
        var end: UInt64 { first + UInt64(count) }
    }

    private struct Running {
        let part: Part
        let process: Process
        let file: URL
    }

    /// A process keeps about a third of a megabyte of each schedule.
    private static let schedulesOfPart = 500
    private static let pauseBetweenReports = Duration.seconds(60)

    private let first: UInt64
    private let end: UInt64
    private let begin = SystemClock.now
    private var lastReport = SystemClock.now
    private var next: UInt64
    private var running: [Running] = []
    private var tally = Tally()

    init(first: UInt64, seeds: Int) {
        self.first = first
        end = first + UInt64(seeds)
        next = first
    }

    /// The time since the beginning.
    var seconds: Double { begin.duration(to: SystemClock.now) / .seconds(1) }

    /// Runs all parts, as many at a time as `jobs` says.
    /// - Parameters:
    ///   - folder: where the processes write what they came to.
    ///   - launch: starts the process of a part, which writes its tally to a file.
    func run(jobs: Int, folder: URL, launch: (Part, URL) throws -> Process) throws -> Tally {
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
        return tally
    }

    /// Smaller parts at the end, so that all processes end at about the same time.
    private func sizeOfPart(jobs: Int) -> Int {
        let left = Int(end - next)
        return min(left, Self.schedulesOfPart, max(20, left / (2 * jobs)))
    }

    private func takeEnded() {
        for ended in running where !ended.process.isRunning {
            if ended.process.terminationStatus == 0, let part = try? Tally(of: ended.file) {
                tally.add(part)
            } else {
                tally.add(crashed: ended.part)
                print("the process of seeds \(ended.part.first) to \(ended.part.end - 1) has crashed")
            }
            try? FileManager.default.removeItem(at: ended.file)
        }
        running.removeAll { !$0.process.isRunning }
    }

    /// Says now and then how far the run has come, and where another one can go on.
    private func reportNowAndThen() {
        guard lastReport.duration(to: SystemClock.now) >= Self.pauseBetweenReports else { return }
        lastReport = SystemClock.now
        let done = running.map(\.part.first).min() ?? next
        let rate = (Double(tally.schedules) / seconds * 10).rounded() / 10
        print(
            "\(tally.schedules) of \(end - first) schedules, \(tally.failing.count) failed, \(rate) a second; "
                + "make simulate FROM=\(done) SEEDS=\(end - done) goes on from here")
        fflush(nil)
    }
}
