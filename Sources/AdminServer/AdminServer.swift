package import Logging
import Hummingbird

/// What the admin endpoints show. Called concurrently.
package protocol AdminSource: Sendable {
    /// Why the process is of no use any more, `nil` while it lives.
    func livenessProblem() async -> String?
    /// Why no requests are being taken, `nil` when the worker is ready.
    func readinessProblem() async -> String?
    /// Prometheus text.
    func metrics() async -> String
    /// One JSON object.
    func status() async -> String
}

/// `/livez`, `/readyz`, `/metrics` and `/status` over HTTP.
package struct AdminServer: Sendable {
    private let source: any AdminSource
    private let host: String
    private let port: Int
    private let log: Logger

    /// - Parameter port: 0: any free one.
    package init(source: any AdminSource, host: String, port: Int, log: Logger) {
        self.source = source
        self.host = host
        self.port = port
        self.log = log
    }

    /// Serves until the task is cancelled.
    /// - Parameter onRunning: called once with the port.
    /// - Throws: when the port cannot be listened on.
    package func run(onRunning: @escaping @Sendable (Int) async -> Void) async throws {
        let source = source
        let router = Router()
        router.get("/livez") { _, _ in Self.probe(await source.livenessProblem()) }
        router.get("/readyz") { _, _ in Self.probe(await source.readinessProblem()) }
        router.get("/metrics") { _, _ in
            Self.response(.ok, "text/plain; version=0.0.4; charset=utf-8", await source.metrics())
        }
        router.get("/status") { _, _ in Self.response(.ok, "application/json", await source.status()) }
        var quiet = log
        quiet.logLevel = .critical
        let application = Application(
            router: router,
            configuration: ApplicationConfiguration(address: .hostname(host, port: port)),
            onServerRunning: { channel in await onRunning(channel.localAddress?.port ?? 0) },
            logger: quiet)
        try await application.run()
    }

    private static func probe(_ problem: String?) -> Response {
        response(problem == nil ? .ok : .serviceUnavailable, "text/plain; charset=utf-8", (problem ?? "ok") + "\n")
    }

    private static func response(_ status: HTTPResponse.Status, _ type: String, _ body: String) -> Response {
        Response(
            status: status, headers: [.contentType: type], body: ResponseBody(byteBuffer: ByteBuffer(string: body)))
    }
}
