import Console
import Foundation
import HTTPServing
import Logging
import SessionState

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// A console on an unused port, and its HTTP client. It stops once its test has released it.
final class RunningConsole: Sendable {
    struct Answer {
        let status: Int
        let headers: [String: String]
        let body: String
        /// The answer as JSON; empty if it is no object.
        var json: [String: Any] {
            (try? JSONSerialization.jsonObject(with: Data(body.utf8))) as? [String: Any] ?? [:]
        }
        /// The error message of the answer.
        var problem: String { (json["error"] as? [String: Any])?["message"] as? String ?? "" }
    }

    /// A client that keeps no cookies: each test sends its own.
    private static let client: URLSession = {
        let configuration = URLSessionConfiguration.ephemeral
        configuration.httpCookieStorage = nil
        configuration.httpShouldSetCookies = false
        configuration.httpMaximumConnectionsPerHost = 100
        return URLSession(configuration: configuration)
    }()

    let backend = FakeBackend()
    let store = Store()
    let traffic = Traffic()
    let pipeline = Pipeline()
    let server: HTTPServer

    init(demo: (any DemoPanel)? = nil, _ adjust: (inout ConsoleConfiguration) -> Void = { _ in }) async throws {
        var configuration = ConsoleConfiguration()
        configuration.port = 0
        adjust(&configuration)
        server = try await ConsoleServer.start(
            configuration, store: store, traffic: traffic, pipeline: pipeline, backend: backend, demo: demo,
            log: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
    }

    deinit {
        Task { [server] in await server.stop(within: .seconds(2)) }
    }

    var port: Int { server.port }

    // MARK: - Asking

    func get(_ path: String, headers: [String: String] = [:]) async throws -> Answer {
        try await ask(path, headers: headers, body: nil)
    }

    func post(_ path: String, _ body: String, headers: [String: String] = [:]) async throws -> Answer {
        let headers = ["Content-Type": "application/json"].merging(headers) { $1 }
        return try await ask(path, headers: headers, body: body)
    }

    func head(_ path: String) async throws -> Answer { try await ask(path, method: "HEAD", headers: [:], body: nil) }

    private func ask(
        _ path: String, method: String? = nil, headers: [String: String], body: String?
    ) async throws -> Answer {
        guard let url = URL(string: "http://127.0.0.1:\(port)\(path)") else { throw URLError(.badURL) }
        var request = URLRequest(url: url)
        request.httpMethod = method ?? (body == nil ? "GET" : "POST")
        request.httpBody = body.map { Data($0.utf8) }
        for (name, value) in headers { request.setValue(value, forHTTPHeaderField: name) }

        let (data, response) = try await Self.client.data(for: request)
        let fields = (response as? HTTPURLResponse)?.allHeaderFields ?? [:]
        let named = fields.map { (name, value) in ("\(name)".lowercased(), "\(value)") }
        return Answer(
            status: (response as? HTTPURLResponse)?.statusCode ?? 0,
            headers: Dictionary(named) { first, _ in first }, body: String(decoding: data, as: UTF8.self))
    }
}
