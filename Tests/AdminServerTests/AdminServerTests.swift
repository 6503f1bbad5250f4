import Foundation
import Logging
import Synchronization
import Testing

@testable import AdminServer

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

struct AdminServerTests {
    private final class Source: AdminSource {
        private let problem: String?
        init(problem: String? = nil) { self.problem = problem }
        func livenessProblem() async -> String? { nil }
        func readinessProblem() async -> String? { problem }
        func metrics() async -> String { "# TYPE a counter\na 1\n" }
        func status() async -> String { "{\"inFlight\":3}\n" }
    }

    private func answer(_ path: String, from source: Source = Source()) async throws -> (
        status: Int, type: String, body: String
    ) {
        let (ports, found) = AsyncStream.makeStream(of: Int.self)
        let server = AdminServer(
            source: source, host: "127.0.0.1", port: 0, log: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
        return try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await server.run { found.yield($0) } }
            let port = try #require(await ports.first { _ in true })
            let url = try #require(URL(string: "http://127.0.0.1:\(port)\(path)"))
            let (data, response) = try await URLSession.shared.data(from: url)
            group.cancelAll()
            let http = try #require(response as? HTTPURLResponse)
            return (
                http.statusCode, http.value(forHTTPHeaderField: "Content-Type") ?? "",
                String(decoding: data, as: UTF8.self)
            )
        }
    }

    @Test(arguments: [
        ("/livez", 200, "text/plain; charset=utf-8", "ok\n"), ("/readyz", 200, "text/plain; charset=utf-8", "ok\n"),
        ("/metrics", 200, "text/plain; version=0.0.4; charset=utf-8", "# TYPE a counter\na 1\n"),
        ("/status", 200, "application/json", "{\"inFlight\":3}\n"), ("/other", 404, "", ""),
    ])
    func eachPathAnswers(path: String, status: Int, type: String, body: String) async throws {
        let answer = try await answer(path)
        #expect(answer.status == status)
        if status == 200 {
            #expect(answer.type == type)
            #expect(answer.body == body)
        }
    }

    @Test func whoIsNotReadySaysWhy() async throws {
        let answer = try await answer("/readyz", from: Source(problem: "no partitions assigned yet"))
        #expect(answer.status == 503)
        #expect(answer.body == "no partitions assigned yet\n")
    }
}
