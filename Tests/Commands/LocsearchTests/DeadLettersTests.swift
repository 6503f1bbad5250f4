import EventContract
import Foundation
import Kafka
import KafkaTestSupport
import LocationSearch
import TestSupport
import Testing

@testable import locsearch

/// `dead-letters` as a process.
struct DeadLettersTests {
    @Test func `A redrive sends each letter once, with its original bytes`() async throws {
        let harness = try await DeadLetterHarness(partitions: 2)
        for offset in 0..<7 {
            try await harness.put(
                offset, in: Int32(offset % 2), reason: offset < 4 ? .invalidRequest : .internal,
                withoutContent: offset == 6)
        }

        let some = try await harness.run("redrive", "--reason", "invalid-request", "--from-offset", "1")
        #expect(some.output.contains("3 dead letters went back"), "\(some.output)\(some.error)")
        #expect(!some.error.contains("cannot go back"), "the one without content is of another reason")

        let rest = try await harness.run("redrive", "--rate", "100")
        #expect(rest.output.contains("3 dead letters went back"), "\(rest.output)\(rest.error)")
        #expect(rest.output.contains("3 were sent earlier"))
        #expect(rest.error.contains("1 cannot go back"))

        let again = try await harness.run("redrive")
        #expect(again.output.contains("0 dead letters went back"), "\(again.output)\(again.error)")

        let sent = try await harness.requests()
        let values = sent.map { String(decoding: $0.value ?? [], as: UTF8.self) }.sorted()
        #expect(values == (0..<6).map { "broken \($0) \u{1B}[2J" })
        for record in sent {
            #expect(record.headers.map(\.name) == ["n"])
            #expect(record.key.map { String(decoding: $0, as: UTF8.self) }?.hasPrefix("k") == true)
        }
    }

    @Test func `A limited snapshot has the newest records of each partition`() async throws {
        let harness = try await DeadLetterHarness(partitions: 2)
        for offset in 0..<10 { try await harness.put(offset, in: Int32(offset % 2)) }
        let settings = try Settings.load(flags: [:], file: nil, environment: harness.environment)
        let topic = try DeadLetterTopic(settings, timeout: .seconds(30), log: .silent)

        let part = try await topic.snapshot(of: DeadLetterTopic.Extent(records: 4))
        #expect(part.letters.map(\.mark.offset).sorted() == [3, 3, 4, 4])
        #expect(part.isPartial)

        let whole = try await topic.snapshot()
        #expect(whole.letters.count == 10)
        #expect(!whole.isPartial)
        #expect(part.version == whole.version && whole.continues(part.version))

        try await harness.put(10)
        let later = try await topic.snapshot()
        #expect(later.continues(whole.version), "more letters change none of the earlier positions")
        #expect(!whole.continues(later.version), "a topic that ends before it did is another one")
        for version in ["0", "7:0", "0:x", "a:0"] { #expect(!later.continues(version), "\(version)") }

        let error = await #expect(throws: Failure.self) {
            _ = try await topic.snapshot(of: DeadLetterTopic.Extent(time: .zero))
        }
        #expect(error?.description.contains("reading takes longer than") == true)
    }

    @Test func `The list shows the oldest letters first, across partitions`() async throws {
        let harness = try await DeadLetterHarness(partitions: 3)
        // Each partition has a newer letter before an older one.
        let ages = [30, 10, 50, 20, 60, 40]
        for (offset, age) in ages.enumerated() {
            try await harness.put(offset, in: Int32(offset / 2), age: .seconds(age))
        }

        let list = try await harness.run("list", "--json")
        #expect(try offsets(in: list.output) == [4, 2, 5, 0, 3, 1], "\(list.output)\(list.error)")

        let oldest = try await harness.run("list", "--json", "--limit", "2")
        #expect(try offsets(in: oldest.output) == [4, 2], "\(oldest.output)\(oldest.error)")

        let text = try await harness.run("list")
        #expect(text.output.contains("key k4  broken 4"), "\(text.output)")
        #expect(text.output.split(separator: "\n").count == 18, "three lines each")
        #expect(text.output.contains("invalid-request  \(harness.broker.name("requests"))-0@4"))
        #expect(!text.output.contains("\u{1B}"), "a stranger's bytes steer the terminal")
    }

    @Test func `A redrive leaves out outcomes that a worker set aside`() async throws {
        let harness = try await DeadLetterHarness(partitions: 1)
        try await harness.put(0, age: .seconds(2))
        try await harness.put(1, age: .seconds(1), isOutcome: true)

        let run = try await harness.run("redrive")
        #expect(run.output.contains("1 dead letter went back"), "\(run.output)\(run.error)")
        #expect(run.error.contains("1 are not sent"), "\(run.error)")
        let again = try await harness.run("redrive")
        #expect(again.output.contains("0 dead letters went back"), "\(again.output)\(again.error)")
        let list = try await harness.run("list", "--json")
        #expect(list.output.contains(#""outcome":true"#), "\(list.output)")
    }

    @Test func `Records that crash workers are redriven only with force`() async throws {
        let harness = try await DeadLetterHarness(partitions: 1)
        try await harness.put(0)
        try await harness.put(1, crashesWorkers: true)

        let plain = try await harness.run("redrive")
        #expect(plain.output.contains("1 dead letter went back"), "\(plain.output)\(plain.error)")
        let forced = try await harness.run("redrive", "--force")
        #expect(forced.output.contains("1 dead letter went back"), "\(forced.output)\(forced.error)")
        #expect(try await harness.requests().compactMap(\.key) == [Array("k0".utf8), Array("k1".utf8)])
    }

    // MARK: - Results of a redrive

    /// Runs a redrive and answers each record that is sent back, with an error if there is a code for its offset.
    private func redrive(
        _ harness: DeadLetterHarness, answering codes: [String?], _ arguments: String...
    ) async throws -> RunningProgram {
        let program = try harness.start(["redrive"] + arguments)
        defer { program.end() }
        var answered = 0
        try await eventually("redrive ends", within: .seconds(60)) {
            for record in try await harness.requests() where record.offset >= answered {
                if answered < codes.count { try await harness.answer(record.offset, with: codes[answered]) }
                answered += 1
            }
            return !program.isRunning
        }
        return program
    }

    @Test func `A redrive reports how many letters failed again, and why`() async throws {
        let harness = try await DeadLetterHarness(partitions: 2)
        for offset in 0..<5 { try await harness.put(offset, in: Int32(offset % 2)) }

        let codes = [nil, "invalid-request", "timeout", "invalid-request", nil]
        let run = try await redrive(harness, answering: codes, "--wait", "30s")
        #expect(run.code == 1, "some failed again")
        #expect(run.error.contains("5 of 5 are still invalid and would become dead letters again"), "\(run.error)")
        #expect(
            run.error.contains("5 dead letters go back to \(harness.broker.name("requests")), at most 20 per second"))
        #expect(run.output.contains("5 dead letters went back"), "\(run.output)\(run.error)")
        #expect(
            run.output.contains(
                "5 of 5 were answered: 2 with a result, 3 failed again (invalid-request 2, timeout 1)\n"),
            "\(run.output)\(run.error)")
    }

    @Test func `A redrive reports that all letters failed again`() async throws {
        let harness = try await DeadLetterHarness(partitions: 1)
        for offset in 0..<2 { try await harness.put(offset) }

        let run = try await redrive(harness, answering: ["invalid-request", "invalid-request"], "--wait", "30s")
        #expect(run.output.contains("2 of 2 were answered: 2 failed again (invalid-request 2)"), "\(run.output)")
        #expect(run.error.contains("all of them failed again"), "\(run.error)")
    }

    @Test func `A redrive waits for outcomes no longer than requested`() async throws {
        let harness = try await DeadLetterHarness(partitions: 1)
        for offset in 0..<3 { try await harness.put(offset) }

        let run = try await redrive(harness, answering: [nil], "--wait", "2s")
        #expect(run.code == 0, "none was seen to fail")
        #expect(
            run.output.contains("1 of 3 were answered: 1 with a result; 2 have no outcome 2s after the last went back"),
            "\(run.output)\(run.error)")
    }

    @Test(.enabled(if: TestBroker.isEmbedded)) func `A redrive sends letters even if it may not read outcomes`()
        async throws
    {
        let harness = try await DeadLetterHarness(partitions: 1)
        try await harness.put(0)
        try harness.embedded.setError(29, ofTopic: harness.broker.name("errors"))  // TOPIC_AUTHORIZATION_FAILED

        let run = try await harness.run("redrive", "--wait", "5s")
        #expect(run.code == 0)
        #expect(run.output.contains("1 dead letter went back"), "\(run.output)\(run.error)")
        #expect(run.error.contains("outcomes cannot be read: "), "\(run.error)")
    }

    @Test(
        .enabled(if: RunningProgram.hasTerminal),
        arguments: [("n", [], 0), ("y", [], 2), ("n", ["--yes"], 2)] as [(String, [String], Int)])
    func `A redrive asks for confirmation at a terminal`(answer: String, arguments: [String], sent: Int) async throws {
        let harness = try await DeadLetterHarness(partitions: 1)
        for offset in 0..<2 { try await harness.put(offset) }

        let program = try await RunningProgram.run(
            ["dead-letters", "redrive", "--wait", "0s"] + arguments, atTerminalWith: "\(answer)\\n",
            environment: harness.environment)
        #expect(program.output.contains("2 dead letters go back to"), "\(program.output)")
        #expect(program.output.contains("Send them? [y/N]") == arguments.isEmpty, "\(program.output)")
        #expect(try await harness.requests().count == sent, "\(program.output)")
    }

    @Test func `A dry run shows a line for each letter and sends nothing`() async throws {
        let harness = try await DeadLetterHarness(partitions: 2)
        for offset in 0..<4 { try await harness.put(offset, in: Int32(offset % 2), age: .seconds(10 - offset)) }
        try await harness.put(4, withoutContent: true)
        try await harness.mark(RedriveMark(partition: 0, offset: 0), in: 1)

        let dry = try await harness.run("redrive", "--dry-run", "--limit", "2")
        let lines = dry.output.split(separator: "\n")
        #expect(lines.count == 3, "\(dry.output)\(dry.error)")
        for (line, offset) in zip(lines, [1, 2]) {
            let source = "\(harness.broker.name("requests"))-0@\(offset)"
            for part in [source, "invalid-request", "key k\(offset)", "broken \(offset)"] {
                #expect(line.contains(part), "\(part) in \(line)")
            }
        }
        #expect(lines.last?.hasPrefix("2 dead letters would go back") == true)
        #expect(dry.error.contains("1 cannot go back"))
        #expect(try await harness.requests().isEmpty)
    }

    /// Returns the `offset` of each line of JSON.
    private func offsets(in output: String) throws -> [Int] {
        try output.split(separator: "\n").map { line in
            let end = try #require(line.firstRange(of: #""offset":"#)).upperBound
            return try #require(Int(line[end...].prefix { $0.isNumber }))
        }
    }
}
