import Foundation
import Kafka
import KafkaTestSupport
import TestSupport
import Testing
import WorkerRuntime

@testable import locsearch

/// `locsearch status` as a process with a group's broker.
@Suite(.timeLimit(.minutes(2)))
struct StatusCommandTests {
    private let group: GroupFixture

    init() throws { group = try GroupFixture() }

    /// Writes 20 records to partition 0, each a minute older than the next one, and commits offset 5, with 8 and 9 done as well.
    private func fill() async throws {
        let now = Int64(Date().timeIntervalSince1970 * 1000)
        for age in (1...20 as ClosedRange<Int64>).reversed() {
            try await group.producer.send([1], to: group.ids[0].topic, partition: 0, at: now - age * 60_000)
        }
        try await group.commit()
    }

    private func run(_ arguments: [String], workers: String?) async throws -> RunningProgram {
        try await group.run(
            ["status", "--window", "200ms"] + arguments, workers.map { ["CONSOLE_WORKERS": $0] } ?? [:])
    }

    @Test(.enabled(if: TestBroker.isEmbedded, "\(GroupFixture.keepsNoMetadata)"))
    func `The backlog is right while no worker runs`() async throws {
        try await fill()
        let nobody = "http://127.0.0.1:\(try RawServer.unusedPort())"
        let shown = try await run(["--json"], workers: nobody)
        #expect(shown.code == 2, "\(shown.error)")

        let status = try shown.json()
        #expect(status["verdict"] as? String == "no-worker")
        let backlog = try #require(status["backlog"] as? [String: Any])
        #expect(backlog["waiting"] as? Int == 13)
        #expect(backlog["lag"] as? Int == 15)
        #expect(backlog["doneBeyond"] as? Int == 2)
        // The record at the committed offset is 15 minutes old.
        let oldest = try #require(backlog["oldestMs"] as? Int)
        #expect((900_000..<960_000).contains(oldest), "\(oldest)")
        #expect(backlog["makesNoProgress"] as? Bool == true)
        let partitions = try #require(backlog["partitions"] as? [[String: Any]])
        #expect(partitions.map { $0["waiting"] as? Int } == [13, 0])

        let text = try await run([], workers: nobody)
        #expect(text.code == 2)
        for words in [
            "no worker runs", "waiting   13 requests, the oldest for 15m", "the backlog does not shrink",
            "the connection was refused, or the host is unreachable",
        ] { #expect(text.output.contains(words), "\(words): \(text.output)") }
    }

    @Test(
        arguments: [
            (#"{"host":"pod-7","version":"1","ready":true,"inFlight":3,"assignment":[]}"#, 0, "pod-7   ready"),
            (
                #"{"host":"pod-7","version":"1","ready":false,"notReady":"no broker answers"}"#, 2,
                "no worker is ready: no broker answers"
            ),
            (
                #"{"ready":true,"answersWithErrors":"no provider is available: hotpepper: key-refused"}"#, 2,
                "workers take requests and answer with errors: no provider is available: hotpepper: key-refused"
            ),
            (
                #"{"ready":true,"lastOutcomes":{"seconds":60,"counts":{"ok":20,"timeout":70,"circuit-open":10}}}"#, 2,
                "failures  80 % of 100 outcomes over the last 1m, mostly timeout"
            ),
            (
                #"{"ready":true,"lastOutcomes":{"seconds":60,"counts":{"ok":20,"invalid-request":7}}}"#, 0,
                "failures  none of 27 outcomes over the last 1m; 7 invalid"
            ),
            (
                #"{"ready":true,"providers":[{"provider":"hotpepper","breaker":"open","breakerReason":"key-refused","openForSeconds":250}]}"#,
                0, "provider  hotpepper: not called: it rejects the API key, for 4m 10s"
            ),
            (
                #"{"ready":true,"assignment":[{"topic":"TOPIC","partition":1}]}"#, 2,
                "unread    1 of 2 partitions, of which no worker takes requests: 0"
            ),
        ] as [(String, Int32, String)])
    func `The state of the workers is told in words`(answer: String, code: Int32, words: String) async throws {
        let answer = answer.replacing("TOPIC", with: group.ids[0].topic)
        let worker = try RawServer { $0.answerAll(answer) }
        let program = try await run([], workers: worker.url)
        #expect(program.code == code, "\(program.error)")
        #expect(program.output.contains(words), "\(program.output)")
    }

    @Test func `The first line counts workers that do not answer`() async throws {
        let worker = try RawServer { $0.answerAll(#"{"ready":true}"#) }
        let program = try await run([], workers: "\(worker.url),http://127.0.0.1:\(try RawServer.unusedPort())")
        let first = program.output.split(separator: "\n").first
        #expect(first == "workers take requests; 1 of 2 workers without an answer", "\(program.output)")
    }

    @Test func `A missing topic is reported`() async throws {
        let program = try await run(["--topic", "missing"], workers: nil)
        #expect(program.code == 1 && program.error.contains("there is no topic missing"), "\(program.error)")
    }
}
