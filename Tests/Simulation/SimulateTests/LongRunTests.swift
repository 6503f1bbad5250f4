import Foundation
import Testing

@testable import Simulate

struct LongRunTests {
    /// A process that ends between two checks: the first one still finds it running.
    private final class FakeProcess: PartProcess {
        private var questions = 0
        private(set) var failure: String?
        private let questionsUntilEnd: Int

        init(failure: String? = nil, questionsUntilEnd: Int = 1) {
            self.failure = failure
            self.questionsUntilEnd = questionsUntilEnd
        }

        var isRunning: Bool {
            questions += 1
            return questions <= questionsUntilEnd
        }
    }

    private let folder: URL
    private let lines = Lines()

    private final class Lines {
        var all: [String] = []
    }

    init() throws {
        folder = FileManager.default.temporaryDirectory.appendingPathComponent("long-run-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    }

    private func run(
        seeds: Int, jobs: Int = 2, launch: (LongRun.Part, URL) throws -> any PartProcess
    ) throws -> LongRun.Result {
        let lines = lines
        defer { try? FileManager.default.removeItem(at: folder) }
        return try LongRun(first: 1, seeds: seeds) { lines.all.append($0) }
            .run(jobs: jobs, folder: folder, launch: launch)
    }

    private func writeTally(of count: Int, to file: URL) throws {
        try Data(#"{"schedules":\#(count),"failing":[],"calls":0,"requests":0,"kills":0,"coverage":{}}"#.utf8).write(
            to: file)
    }

    @Test(arguments: [1, 2, 3])
    func `Parts that end at any moment are counted`(questionsUntilEnd: Int) throws {
        let result = try run(seeds: 3000) { part, file in
            try writeTally(of: part.count, to: file)
            return FakeProcess(questionsUntilEnd: questionsUntilEnd)
        }
        #expect(result.tally.schedules == 3000)
        #expect(result.lost.isEmpty && lines.all.isEmpty)
    }

    @Test func `A part whose process is killed is reported in one line`() throws {
        let result = try run(seeds: 1000) { part, file in
            let process = Process()
            process.executableURL = URL(fileURLWithPath: "/bin/sh")
            let isKilled = part.first == 1
            if !isKilled { try writeTally(of: part.count, to: file) }
            process.arguments = ["-c", isKilled ? "echo 7 > \(LongRun.noteOfSeed(file).path); kill -9 $$" : "true"]
            try process.run()
            return process
        }
        let lost = try #require(result.lost.first)
        #expect(result.lost.count == 1 && result.tally.schedules == 1000 - lost.count)
        #expect(
            lines.all == [
                """
                error: seeds 1 to \(lost.count) are not counted, because their process was lost at seed 7: killed by signal 9; \
                run them again: make simulate FROM=1 SEEDS=\(lost.count)
                """
            ])
    }

    @Test(arguments: [nil, 19])
    func `A part with an incomplete tally is lost`(told: Int?) throws {
        let result = try run(seeds: 20, jobs: 1) { _, file in
            if let told { try writeTally(of: told, to: file) }
            return FakeProcess()
        }
        #expect(result.lost == [LongRun.Part(first: 1, count: 20)] && result.tally.schedules == 0)
        #expect(lines.all.count == 1)
    }

    @Test func `A part that fails is lost even with a tally`() throws {
        let result = try run(seeds: 20, jobs: 1) { part, file in
            try writeTally(of: part.count, to: file)
            return FakeProcess(failure: "exit code 1")
        }
        #expect(result.lost.count == 1 && result.tally.schedules == 0)
    }
}
