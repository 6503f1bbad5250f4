import Foundation
import KafkaTestSupport
import TestSupport
import Testing

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// `locsearch console` as a process whose pages send several Kafka queries at a time.
struct ConsoleLoadTests {
    private static let topics = [
        "location-search.requests": 1, "location-search.results": 1, "location-search.errors": 1,
        "location-search.dead-letters": 1, "location-search.fleet": 1,
    ]

    /// Runs a console without any worker.
    private static func run(_ body: (RunningProgram, URL) async throws -> Void) async throws {
        let broker = try TestBroker(topics: topics)
        let names = [
            "requests": "requests", "results": "results", "errors": "errors", "dead-letters": "dead-letters",
            "fleet": "fleet",
        ].flatMap { ["--topics-\($0)", broker.name("location-search.\($1)")] }
        let console = try RunningProgram(
            ["console", "--kafka-bootstrap-servers", broker.bootstrapServers, "--console-port", "0"] + names)
        defer { console.end() }
        try await eventually("the console says where it is", within: .seconds(60)) { console.firstLine != nil }
        let address = try #require(console.firstLine?.split(separator: " ").last.map(String.init))
        try await body(console, try #require(URL(string: address)))
    }

    private static func threads(of console: RunningProgram) throws -> Int {
        try FileManager.default.contentsOfDirectory(atPath: "/proc/\(console.pid)/task").count
    }

    private static func post(_ body: String, to url: URL) async throws -> (status: Int, json: [String: Any]) {
        var request = URLRequest(url: url)
        request.httpMethod = "POST"
        request.setValue("application/json", forHTTPHeaderField: "Content-Type")
        request.httpBody = Data(body.utf8)
        let (data, response) = try await URLSession.shared.data(for: request)
        let json = try JSONSerialization.jsonObject(with: data) as? [String: Any]
        return ((response as? HTTPURLResponse)?.statusCode ?? 0, json ?? [:])
    }

    @Test(.timeLimit(.minutes(3)), arguments: ["/api/controls", "/api/dead-letters/0/NUMBER"])
    func `Concurrent requests of 200 pages need few threads`(path: String) async throws {
        try await Self.run { console, url in
            let port = try #require(url.port)
            let before = try Self.threads(of: console)
            let pages = try (0..<200).map { number in
                let page = try LoopbackConnection(port: port)
                let path = path.replacing("NUMBER", with: "\(number)")
                page.send("GET \(path) HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
                return page
            }

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
            #expect(
                Set(statuses.keys).isSubset(of: isShared ? ["200"] : ["404", "503"]), "\(statuses.mapValues(\.count))")
            #expect(statuses["503"]?.allSatisfy { $0.lowercased().contains("retry-after: 2") } ?? true)
            // A client has five to seven threads. At most eight queries are in flight, some of them ending.
            #expect(most - before < 130, "\(before) threads became \(most)")
        }
    }

    @Test(.timeLimit(.minutes(3))) func `An order for no worker is given only if the user confirms it`() async throws {
        try await Self.run { _, url in
            let address = url.appending(path: "api/controls/pause")
            let refused = try await Self.post(#"{"pause":true,"intake":true}"#, to: address)
            let error = refused.json["error"] as? [String: Any]
            #expect(refused.status == 400 && error?["member"] as? String == "later")
            #expect((error?["message"] as? String)?.hasPrefix("0 workers of the group ") == true)

            func orders() async throws -> Int? {
                let (data, _) = try await URLSession.shared.data(from: url.appending(path: "api/controls"))
                let json = try JSONSerialization.jsonObject(with: data) as? [String: Any]
                return (json?["orders"] as? [Any])?.count
            }
            #expect(try await orders() == 0)
            let given = try await Self.post(#"{"pause":true,"intake":true,"later":true}"#, to: address)
            #expect(given.status == 200 && given.json["workers"] as? Int == 0)
            #expect(try await orders() == 1)
        }
    }
}
