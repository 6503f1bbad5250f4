import EventContract
import Foundation
import Kafka
import TestSupport
import Testing

@testable import locsearch

/// Dead letters viewed, grouped and corrected at a terminal.
struct DeadLetterWorkbenchTests {
    private static let right = #"{"location":{"latitude":35.69,"longitude":139.7}}"#
    private static let wrong = #"{"location":{"latitude":135.69,"longitude":139.7}}"#

    @Test func `Dead letters are counted by reason, member and producer`() async throws {
        let harness = try await DeadLetterHarness(partitions: 1)
        for offset in 0..<3 {
            try await harness.put(
                offset, age: .seconds(60 - offset), value: offset == 0 ? Self.right : Self.wrong,
                member: "location.latitude", producer: "https://shop.example")
        }
        try await harness.put(3)
        try await harness.put(4, isOutcome: true)
        try await harness.put(5, crashesWorkers: true, value: Self.right)

        let json = try await harness.run("groups", "--json")
        let groups = try json.output.split(separator: "\n").map {
            try #require(try JSONSerialization.jsonObject(with: Data($0.utf8)) as? [String: Any])
        }
        #expect(groups.count == 3, "\(json.output)\(json.error)")
        #expect(groups[0]["letters"] as? Int == 3 && groups[0]["producer"] as? String == "https://shop.example")
        #expect(groups[0]["member"] as? String == "location.latitude")
        #expect(groups[0]["pending"] as? Int == 3 && groups[0]["faulty"] as? Int == 2)
        #expect(groups[1]["letters"] as? Int == 2 && groups[1]["pending"] as? Int == 1, "an outcome stays")
        #expect(groups[2]["reason"] as? String == "crashed-workers" && groups[2]["needForce"] as? Int == 1)
        #expect(groups.prefix(2).allSatisfy { $0["needForce"] as? Int == 0 })

        let text = try await harness.run("groups")
        #expect(text.output.split(separator: "\n").count == 4 && text.output.contains("only with --force"))
    }

    @Test func `A whole letter is shown with its present fault`() async throws {
        let harness = try await DeadLetterHarness(partitions: 1)
        try await harness.put(7, value: Self.wrong, producer: "https://shop.example")
        try await harness.put(8, value: Self.right)

        let show = try await harness.run("show", "--from-offset", "7", "--to-offset", "8")
        for text in [
            "invalid-request", "-0@7", "now      still invalid: ", "producer https://shop.example", "key      k7",
            "header   n: 7", "header   ce_source: https://shop.example", "value    \(Self.wrong)", "letter   0/0",
        ] {
            #expect(show.output.contains(text), "\(text) in \(show.output)\(show.error)")
        }
        #expect(show.output.contains("aside    by pod-1\n"), "\(show.output)")
        let right = try await harness.run("show", "--from-offset", "8")
        #expect(right.output.contains("now      a valid request\n"), "\(right.output)")

        let json = try await harness.run("show", "--json", "--limit", "1")
        let letter = try #require(try JSONSerialization.jsonObject(with: Data(json.output.utf8)) as? [String: Any])
        #expect(
            letter["value"] as? String == Self.wrong && letter["fault"] is String && letter["key"] as? String == "k7")
        #expect((letter["headers"] as? [[String: Any]])?.count == 5)
        #expect(json.error.contains("1 more match"))
    }

    @Test func `A redrive can skip letters that are still invalid`() async throws {
        let harness = try await DeadLetterHarness(partitions: 1)
        for (offset, value) in [Self.wrong, Self.right, Self.wrong].enumerated() {
            try await harness.put(offset, value: value)
        }

        let plan = try await harness.run("redrive", "--dry-run")
        #expect(plan.error.contains("2 of 3 are still invalid and would become dead letters again"), "\(plan.error)")
        let run = try await harness.run("redrive", "--skip-faulty")
        #expect(run.code == 0 && run.output.contains("1 dead letter went back"), "\(run.output)\(run.error)")
        let sent = try await harness.requests().map { String(decoding: $0.value ?? [], as: UTF8.self) }
        #expect(sent == [Self.right])
    }

    @Test func `A redrive sets a new expiry, and sends letters again`() async throws {
        let harness = try await DeadLetterHarness(partitions: 1)
        let later = WallTime.now().adding(.seconds(7200))
        for (offset, expiry) in [WallTime(milliseconds: 0), later, nil].enumerated() {
            try await harness.put(offset, value: Self.right, producer: "https://shop.example", expiry: expiry)
        }

        let show = try await harness.run("show", "--limit", "1")
        #expect(
            show.output.contains("now      a valid request; it has expired: redrive it with --expiry"), "\(show.output)"
        )
        let plan = try await harness.run("redrive", "--dry-run")
        #expect(plan.error.contains("1 of 3 have expired or expire before they can be answered"), "\(plan.error)")
        let unchanged = try await harness.run("redrive")
        #expect(unchanged.output.contains("3 dead letters went back"), "\(unchanged.output)\(unchanged.error)")
        #expect(try await harness.run("redrive").output.contains("0 dead letters went back"))

        let again = try await harness.run("redrive", "--again", "--expiry", "5m", "--to-offset", "3")
        #expect(again.error.contains("1 of 3 get a new expiry, 5m after they are sent"), "\(again.error)")
        #expect(again.output.contains("3 dead letters went back"), "\(again.output)\(again.error)")
        let sent = try await harness.requests()
        let expiries = sent.map { $0.headers.last(named: "ce_expirytime")?.text }
        #expect(expiries.count == 6 && expiries[0] == "1970-01-01T00:00:00.000Z")
        #expect(
            [expiries[1], expiries[2], expiries[4], expiries[5]] == [later.description, nil, later.description, nil])
        let new = try #require(expiries[3].flatMap { WallTime(rfc3339: Array($0.utf8)) })
        #expect((WallTime.now()..<WallTime.now().adding(.seconds(301))).contains(new), "\(new)")
        #expect(
            sent[3].headers.filter { $0.name != "ce_expirytime" }
                == sent[0].headers.filter { $0.name != "ce_expirytime" })
        #expect(try await harness.run("redrive", "--expiry", "0s").code == 64)
    }

    /// Runs `redrive --edit` with a program in place of an editor.
    private func edit(
        _ harness: DeadLetterHarness, by editor: String, _ arguments: String...
    ) async throws -> RunningProgram {
        try await RunningProgram.run(
            ["dead-letters", "redrive", "--edit", "--wait", "0s"] + arguments,
            environment: harness.environment.merging(["EDITOR": editor]) { $1 })
    }

    @Test func `Corrected letters are redriven, and the others stay`() async throws {
        let harness = try await DeadLetterHarness(partitions: 1)
        for (offset, value) in [Self.wrong, "nonsense", Self.right].enumerated() {
            try await harness.put(offset, value: value)
        }

        let run = try await edit(harness, by: "sed -i s/135.69/35.69/")
        #expect(run.code == 1, "\(run.output)\(run.error)")
        #expect(run.output.contains("2 dead letters went back"), "\(run.output)\(run.error)")
        #expect(
            run.error.contains("the letter at 0/1 is not a valid request (value): ")
                && run.error.contains("1 were not sent"))
        let sent = try await harness.requests()
        #expect(sent.map { String(decoding: $0.value ?? [], as: UTF8.self) } == [Self.right, Self.right])
        #expect(sent.map { $0.key.map { String(decoding: $0, as: UTF8.self) } } == ["k0", "k2"])
        #expect(sent.allSatisfy { $0.headers.map(\.name) == ["n"] })

        let again = try await edit(harness, by: "sed -i s/nonsense/{}/", "--limit", "1")
        #expect(again.code == 1 && again.output.contains("0 dead letters went back"), "\(again.output)\(again.error)")
    }

    /// At a terminal, an invalid record is opened again, and the user must confirm before any record is sent.
    @Test(.enabled(if: RunningProgram.hasTerminal))
    func `A user edits a letter until it is a valid request`() async throws {
        let harness = try await DeadLetterHarness(partitions: 1)
        try await harness.put(0, value: "nonsense")

        let second = Self.right.replacing("\"", with: "\\\"")
        let editor = "sed -i -e \"s/half/\(second)/\" -e s/nonsense/half/"
        let program = try await RunningProgram.run(
            ["dead-letters", "redrive", "--edit", "--wait", "0s"], atTerminalWith: "y\\ny\\n",
            environment: harness.environment.merging(["EDITOR": editor]) { $1 })
        #expect(
            program.output.contains("is not a valid request (value)") && program.output.contains("Edit it again? [Y/n]")
        )
        #expect(program.output.contains("Send them? [y/N]"), "\(program.output)")
        let sent = try await harness.requests().map { String(decoding: $0.value ?? [], as: UTF8.self) }
        #expect(sent == [Self.right], "\(program.output)")
    }

    @Test func `Ctrl-C in the editor does not end the command`() async throws {
        let harness = try await DeadLetterHarness(partitions: 1)
        try await harness.put(0, value: Self.wrong)

        let run = try await edit(harness, by: "kill -INT $PPID; kill -QUIT $PPID; sed -i s/135.69/35.69/")
        let sent = try await harness.requests().map { String(decoding: $0.value ?? [], as: UTF8.self) }
        #expect(sent == [Self.right], "\(run.output)\(run.error)")
    }

    @Test func `A failed editor sends nothing`() async throws {
        let harness = try await DeadLetterHarness(partitions: 1)
        try await harness.put(0, value: Self.right)

        let run = try await edit(harness, by: "false")
        #expect(run.code == 1 && run.error.contains("the editor false failed"), "\(run.error)")
        #expect(try await harness.requests().isEmpty)
        let usage = try await edit(harness, by: "true", "--dry-run")
        #expect(usage.code == 64, "\(usage.error)")
    }
}
