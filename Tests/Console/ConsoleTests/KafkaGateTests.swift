import Foundation
import Synchronization
import TestSupport
import Testing

@testable import Console

/// The limit on concurrent Kafka queries of a console's pages, and on their duration.
struct KafkaGateTests {
    /// Requests all paths at once while the backend answers none of them, and returns the answers after it does.
    private static func answers(
        of paths: [String], from console: RunningConsole, whileHeld: () async throws -> Void
    ) async throws -> [RunningConsole.Answer] {
        console.backend.state.withLock { $0.isHeld = true }
        let asked = paths.map { path in Task { try await console.get(path) } }
        try await whileHeld()
        console.backend.state.withLock { $0.isHeld = false }

        var answers: [RunningConsole.Answer] = []
        for task in asked { answers.append(try await task.value) }
        return answers
    }

    @Test func `Identical reads of many pages are coalesced`() async throws {
        let console = try await RunningConsole()
        let paths = [String](repeating: "/api/controls", count: 100)
        let answers = try await Self.answers(of: paths, from: console) {
            try await eventually("a read") { console.backend.state.withLock { $0.underWay } > 0 }
        }

        #expect(answers.allSatisfy { $0.status == 200 && $0.body == answers[0].body })
        #expect(console.backend.state.withLock { $0.mostUnderWay } == 1)
    }

    @Test func `A page beyond the limit of reads is told to retry`() async throws {
        let console = try await RunningConsole()
        var refused: RunningConsole.Answer?
        let paths = (0..<8).map { "/api/dead-letters/1/\($0)" }
        let answers = try await Self.answers(of: paths, from: console) {
            try await eventually("8 reads") { console.backend.state.withLock { $0.underWay } == 8 }
            refused = try await console.get("/api/controls")
            let order = try await console.post("/api/controls/pause", #"{"pause":true,"intake":true}"#)
            #expect(order.status == 503)
        }

        #expect(refused?.status == 503 && Int(refused?.headers["retry-after"] ?? "") == 2)
        #expect(refused?.problem == "too much is read from Kafka just now: try again in a moment")
        #expect(answers.map(\.status) == [404, 404, 404, 404, 404, 404, 404, 200])
        #expect(console.backend.state.withLock { $0.choices.isEmpty && $0.mostUnderWay == 8 })
        #expect(try await console.get("/api/controls").status == 200)
    }

    @Test func `A read that times out counts until it ends`() async throws {
        let gate = KafkaGate(longest: .milliseconds(20))
        let isReleased = Mutex(false)
        let ended = Mutex(0)
        for _ in 0..<8 {
            let error = await #expect(throws: ConsoleError.self) {
                try await gate.run {
                    while !isReleased.withLock({ $0 }) { await Task.yield() }
                    ended.withLock { $0 += Task.isCancelled ? 1 : 0 }
                }
            }
            #expect(error?.kind == .busy && error?.message.hasPrefix("no answer within 0 s") == true)
        }
        let error = await #expect(throws: ConsoleError.self) { try await gate.run {} }
        #expect(error?.message.hasPrefix("too much") == true)

        isReleased.withLock { $0 = true }
        try await eventually("all have ended, and know that nobody waits") { ended.withLock { $0 } == 8 }
        try await eventually("there is room again") { (try? await gate.run {}) != nil }
    }
}
