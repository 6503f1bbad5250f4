import Basics
import Foundation
import Logging
import Synchronization
import TestSupport
import Testing

@testable import HTTPServing

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

struct AdminServerTests {
    private struct Source: AdminSource {
        var state = Readiness.ready
        /// The duration of `/metrics`.
        var delay = Duration.zero
        let asked = Asked()

        func livenessProblem() async -> String? { nil }
        func readiness() async -> Readiness { state }
        func metrics(asOpenMetrics: Bool) async -> String {
            asked.flag.store(true, ordering: .releasing)
            // Does not stop on cancellation, as a job on an event loop does not.
            await Task.detached { [delay] in try? await Task.sleep(for: delay) }.value
            return asOpenMetrics ? "# EOF\n" : "# TYPE a counter\na 1\n"
        }
        func status() async -> String { "{\"inFlight\":3}\n" }
    }

    /// Set when `/metrics` is requested.
    private final class Asked: Sendable {
        let flag = Atomic(false)
    }

    private struct Answer {
        let status: Int
        let type: String
        let body: String
    }

    private static func start(
        _ source: Source = Source(), port: Int = 0, token: BearerToken? = nil
    ) async throws -> HTTPServer {
        try await AdminServer.start(
            source: source, host: "127.0.0.1", port: port, token: token,
            log: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
    }

    private static func get(
        _ path: String, from server: HTTPServer, authorization: String? = nil, accept: String? = nil
    ) async throws -> Answer {
        var request = URLRequest(url: try #require(URL(string: "http://127.0.0.1:\(server.port)\(path)")))
        request.setValue(authorization, forHTTPHeaderField: "Authorization")
        if let accept { request.setValue(accept, forHTTPHeaderField: "Accept") }
        let (data, response) = try await URLSession.shared.data(for: request)
        let http = try #require(response as? HTTPURLResponse)
        return Answer(
            status: http.statusCode, type: http.value(forHTTPHeaderField: "Content-Type") ?? "",
            body: String(decoding: data, as: UTF8.self))
    }

    @Test func `Metrics are OpenMetrics for those who accept it`() async throws {
        let server = try await Self.start()
        let answer = try await Self.get(
            "/metrics", from: server,
            accept: "application/openmetrics-text;version=1.0.0;q=0.6,text/plain;version=0.0.4;q=0.5,*/*;q=0.2")
        await server.stop(within: .seconds(2))

        #expect(answer.type == "application/openmetrics-text; version=1.0.0; charset=utf-8")
        #expect(answer.body == "# EOF\n")
    }

    @Test(arguments: [
        ("/livez", 200, "text/plain; charset=utf-8", "ok\n"), ("/readyz", 200, "text/plain; charset=utf-8", "ok\n"),
        ("/metrics", 200, "text/plain; version=0.0.4; charset=utf-8", "# TYPE a counter\na 1\n"),
        ("/status", 200, "application/json", "{\"inFlight\":3}\n"), ("/other", 404, "", ""),
    ])
    func `Each path has its answer`(path: String, status: Int, type: String, body: String) async throws {
        let server = try await Self.start()
        let answer = try await Self.get(path, from: server)
        await server.stop(within: .seconds(2))

        #expect(answer.status == status)
        if status == 200 {
            #expect(answer.type == type)
            #expect(answer.body == body)
        }
    }

    @Test(
        arguments: [
            (.notReady("no partitions assigned yet"), 503, "no partitions assigned yet\n"),
            (.answersWithErrors("hotpepper: key-refused"), 200, "answers with errors: hotpepper: key-refused\n"),
        ] as [(Readiness, Int, String)])
    func `Only a worker that takes no requests fails its probe`(
        state: Readiness, status: Int, body: String
    ) async throws {
        let server = try await Self.start(Source(state: state))
        let answer = try await Self.get("/readyz", from: server)
        await server.stop(within: .seconds(2))

        #expect(answer.status == status)
        #expect(answer.body == body)
    }

    // MARK: - The token

    private static let token = "Zq7admintokenWx"

    @Test(arguments: [
        nil, "", "Bearer", "Bearer ", "Bearer Zq7admintokenW", "Bearer Zq7admintokenWxy", "Bearer zq7admintokenwx",
        "Basic Zq7admintokenWx", "Zq7admintokenWx", "Bearer Zq7admintokenWxZq7admintokenWx",
    ])
    func `A client without the token sees only the probes`(authorization: String?) async throws {
        let server = try await Self.start(token: BearerToken(Self.token))
        for path in ["/metrics", "/status"] {
            let answer = try await Self.get(path, from: server, authorization: authorization)
            #expect(answer.status == 401)
            #expect(answer.body == "unauthorized\n", "it says no more than that")
        }
        for path in ["/livez", "/readyz"] {
            #expect(try await Self.get(path, from: server, authorization: authorization).status == 200)
        }
        await server.stop(within: .seconds(2))
    }

    @Test func `A client with the token sees everything until the token changes`() async throws {
        let token = BearerToken(Self.token)
        let server = try await Self.start(token: token)
        for path in ["/metrics", "/status", "/livez", "/readyz"] {
            #expect(try await Self.get(path, from: server, authorization: "Bearer \(Self.token)").status == 200)
            #expect(try await Self.get(path, from: server, authorization: "bearer \(Self.token)").status == 200)
        }

        token.replace(with: "another")
        #expect(try await Self.get("/metrics", from: server, authorization: "Bearer \(Self.token)").status == 401)
        #expect(try await Self.get("/metrics", from: server, authorization: "Bearer another").status == 200)
        await server.stop(within: .seconds(2))
    }

    @Test func `A client with many wrong tokens is rejected`() async throws {
        let server = try await Self.start(token: BearerToken(Self.token))
        var statuses: [Int] = []
        for number in 0..<30 {
            statuses.append(
                try await Self.get("/metrics", from: server, authorization: "Bearer guess-\(number)").status)
        }
        #expect(statuses.prefix(GuessThrottle.mostGuesses).allSatisfy { $0 == 401 })
        #expect(statuses.contains(429), "\(statuses)")
        #expect(try await Self.get("/livez", from: server).status == 200)
        await server.stop(within: .seconds(2))
    }

    @Test func `No description of a token shows it`() {
        let token = BearerToken(Self.token)
        var dumped = ""
        dump(token, to: &dumped)
        #expect(!("\(token)" + String(reflecting: token) + dumped).contains(Self.token))
    }

    @Test func `An error names the port that is taken`() async throws {
        let first = try await Self.start()
        let error = await #expect(throws: HTTPServerError.self) { _ = try await Self.start(port: first.port) }
        await first.stop(within: .seconds(2))

        #expect(error?.description == "cannot listen on 127.0.0.1:\(first.port) (Address already in use)")
    }

    @Test func `A request in flight is answered before the server stops`() async throws {
        let source = Source(delay: .milliseconds(300))
        let server = try await Self.start(source)
        async let answer = Self.get("/metrics", from: server)
        try await eventually("the request to arrive") { source.asked.flag.load(ordering: .acquiring) }
        await server.stop(within: .seconds(10))

        #expect(try await answer.body == "# TYPE a counter\na 1\n")
        await #expect(throws: URLError.self) { _ = try await Self.get("/livez", from: server) }
    }

    /// The answer takes a minute, the second client sends half a request, and the third one reads none of its answers.
    @Test(.timeLimit(.minutes(1)))
    func `No client delays the stop`() async throws {
        let server = try await Self.start(Source(delay: .seconds(60)))
        let connections = try (0..<3).map { _ in try LoopbackConnection(port: server.port) }
        connections[0].send("GET /metrics HTTP/1.1\r\nhost: a\r\n\r\n")
        connections[1].send("GET /metr")
        connections[2].send(String(repeating: "GET /status HTTP/1.1\r\nhost: a\r\n\r\n", count: 20_000))
        _ = try await Self.get("/livez", from: server)

        let begin = Instant.now
        await server.stop(within: .seconds(1))
        #expect(begin.duration(to: .now) < .seconds(30))
        withExtendedLifetime(connections) {}
    }
}
