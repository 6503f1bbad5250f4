import Foundation
import TestSupport
import Testing

/// `locsearch console` as a process without any worker, whose pages send several Kafka queries at a time.
struct ConsoleLoadTests {
    private static func threads(of console: ConsoleProcess) throws -> Int {
        try FileManager.default.contentsOfDirectory(atPath: "/proc/\(console.program.pid)/task").count
    }

    @Test(.timeLimit(.minutes(3)), arguments: ["/api/controls", "/api/dead-letters/0/NUMBER"])
    func `Concurrent requests of 200 pages need few threads`(path: String) async throws {
        let console = try await ConsoleProcess()
        let before = try Self.threads(of: console)
        let pages = try (0..<200).map { try console.connect(path.replacing("NUMBER", with: "\($0)")) }

        var (most, answers) = (before, [String](repeating: "", count: pages.count))
        try await eventually("all are answered", within: .seconds(60)) {
            most = max(most, try Self.threads(of: console))
            for (index, page) in pages.enumerated() {
                answers[index] += String(decoding: page.readAvailable(), as: UTF8.self)
            }
            return answers.allSatisfy { $0.contains("\r\n\r\n") }
        }
        let statuses = Dictionary(grouping: answers) { String($0.dropFirst("HTTP/1.1 ".count).prefix(3)) }
        let isShared = !path.contains("NUMBER")
        #expect(Set(statuses.keys).isSubset(of: isShared ? ["200"] : ["404", "503"]), "\(statuses.mapValues(\.count))")
        #expect(statuses["503"]?.allSatisfy { $0.lowercased().contains("retry-after: 2") } ?? true)
        // A client has five to seven threads. At most eight queries are in flight, some of them ending.
        #expect(most - before < 130, "\(before) threads became \(most)")
    }

    @Test(.timeLimit(.minutes(3))) func `An order for no worker is given only if the user confirms it`() async throws {
        let console = try await ConsoleProcess()
        let pause = "\(console.url)/api/controls/pause"
        let refused = try await HTTPAnswer(pause, json: #"{"pause":true,"intake":true}"#)
        let error = refused.object["error"] as? [String: Any]
        #expect(refused.status == 400 && error?["member"] as? String == "later")
        #expect((error?["message"] as? String)?.hasPrefix("0 workers of the group ") == true)

        func orders() async throws -> Int? {
            (try await HTTPAnswer("\(console.url)/api/controls").object["orders"] as? [Any])?.count
        }
        #expect(try await orders() == 0)
        let given = try await HTTPAnswer(pause, json: #"{"pause":true,"intake":true,"later":true}"#)
        #expect(given.status == 200 && given.object["workers"] as? Int == 0)
        #expect(try await orders() == 1)
    }
}
