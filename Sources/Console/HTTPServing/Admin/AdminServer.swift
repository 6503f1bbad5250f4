internal import HTTPTypes
internal import HummingbirdCore
internal import NIOCore
package import Logging

/// `/livez`, `/readyz`, `/metrics` and `/status` over HTTP.
package enum AdminServer {
    /// Returns once the server listens.
    /// - Parameters:
    ///   - port: 0 selects any free port.
    ///   - token: the token that clients need for `/metrics` and `/status`; `nil`: none. The probes never need it, because
    ///     a kubelet cannot send one.
    ///   - limits: the limits on the number of connections and on their waiting times.
    /// - Throws: `HTTPServerError` if the port cannot be opened.
    package static func start(
        source: any AdminSource, host: String, port: Int, token: BearerToken? = nil,
        limits: ConnectionLimits = AdminServer.limits, log: Logger
    ) async throws(HTTPServerError) -> HTTPServer {
        try await HTTPServer.start(
            router(for: source, token: token).responder, host: host, port: port, limits: limits, log: log)
    }

    /// The limits for the few expected clients: probes and metrics collectors.
    package static var limits: ConnectionLimits {
        var limits = ConnectionLimits()
        limits.maxConnections = 64
        return limits
    }

    // MARK: - Endpoints

    private static func router(for source: any AdminSource, token: BearerToken?) -> Router {
        let throttle = GuessThrottle()

        /// Returns the refusal of a request without the token; `nil` if the token is right.
        @Sendable func refusal(of request: Request, from context: ClientContext) -> Response? {
            guard let token else { return nil }
            guard let shown = BearerToken.text(in: request.headers[.authorization]) else { return unauthorized }

            switch throttle.judge(from: context.clientAddress, { token.admits(shown) }) {
            case .right: return nil
            case .wrong: return unauthorized
            case .tooEarly(let wait): return tooEarly(wait)
            }
        }

        let router = Router()
        router.get("/livez") { _, _ in probe(await source.livenessProblem().map { .notReady($0) } ?? .ready) }
        router.get("/readyz") { _, _ in probe(await source.readiness()) }
        router.get("/metrics") { request, context in
            if let refusal = refusal(of: request, from: context) { return refusal }
            let isOpen = request.headers[.accept]?.contains("application/openmetrics-text") == true
            let type = isOpen ? "application/openmetrics-text; version=1.0.0" : "text/plain; version=0.0.4"
            return response(
                .ok, type: "\(type); charset=utf-8", body: await source.metrics(asOpenMetrics: isOpen))
        }
        router.get("/status") { request, context in
            if let refusal = refusal(of: request, from: context) { return refusal }
            return response(.ok, type: "application/json", body: await source.status())
        }
        return router
    }

    /// The answer gives no details about a wrong token.
    private static var unauthorized: Response {
        var response = response(.unauthorized, type: "text/plain; charset=utf-8", body: "unauthorized\n")
        response.headers[.wwwAuthenticate] = "Bearer"
        return response
    }

    private static func tooEarly(_ wait: Duration) -> Response {
        var response = response(.tooManyRequests, type: "text/plain; charset=utf-8", body: "too many wrong tokens\n")
        response.headers[.retryAfter] = "\(wait.components.seconds + 1)"
        return response
    }

    private static func probe(_ state: Readiness) -> Response {
        let (status, body): (HTTPResponse.Status, String) =
            switch state {
            case .ready: (.ok, "ok")
            case .answersWithErrors(let reason): (.ok, "answers with errors: \(reason)")
            case .notReady(let reason): (.serviceUnavailable, reason)
            }
        return response(status, type: "text/plain; charset=utf-8", body: body + "\n")
    }

    private static func response(_ status: HTTPResponse.Status, type: String, body: String) -> Response {
        Response(
            status: status, headers: [.contentType: type], body: ResponseBody(byteBuffer: ByteBuffer(string: body)))
    }
}

/// Whether a process takes requests. Only `notReady` fails a probe: a restart would not help in the other states.
package enum Readiness: Sendable, Hashable {
    case ready
    /// Requests are taken, and none can succeed at present, for this reason.
    case answersWithErrors(String)
    /// No requests are taken, for this reason.
    case notReady(String)
}

/// The state of a process for the admin endpoints. Its functions are called concurrently, and each must return within a few
/// seconds: a probe without an answer counts as failed.
package protocol AdminSource: Sendable {
    /// Returns why the process cannot recover and should be restarted; `nil` while it is alive.
    func livenessProblem() async -> String?

    /// Returns whether requests are taken.
    func readiness() async -> Readiness

    /// Returns all metrics as Prometheus text, or as OpenMetrics with exemplars.
    func metrics(asOpenMetrics: Bool) async -> String

    /// Returns the whole state as one JSON object.
    func status() async -> String
}
