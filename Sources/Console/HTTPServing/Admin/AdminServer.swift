import Hummingbird
package import Logging

/// `/livez`, `/readyz`, `/metrics` and `/status` over HTTP, from `start` to `stop`. Safe to use from any task.
package final class AdminServer: Sendable {
    /// The port that the server listens on, never 0.
    package var port: Int { server.port }

    private let server: HTTPServer

    private init(_ server: HTTPServer) { self.server = server }

    /// Returns once the server listens.
    /// - Parameters:
    ///   - port: 0 stands for any free port.
    ///   - token: what clients must show for `/metrics` and `/status`; `nil`: nothing. The probes never need it, because a
    ///     kubelet has no way to show one.
    ///   - limits: how many connections the server keeps, and how long each may make it wait.
    /// - Throws: `HTTPServerError` when the port cannot be listened on.
    package static func start(
        source: any AdminSource, host: String, port: Int, token: BearerToken? = nil,
        limits: ConnectionLimits = AdminServer.limits, log: Logger
    ) async throws(HTTPServerError) -> AdminServer {
        let router = router(for: source, token: token)
        return AdminServer(
            try await HTTPServer.start(router.buildResponder(), host: host, port: port, limits: limits, log: log))
    }

    /// Few clients come here: probes, and programs that collect metrics.
    package static var limits: ConnectionLimits {
        var limits = ConnectionLimits()
        limits.maxConnections = 64
        return limits
    }

    /// Ends the server: see `HTTPServer.stop(within:)`.
    package func stop(within grace: Duration) async { await server.stop(within: grace) }

    // MARK: - Endpoints

    private static func router(for source: any AdminSource, token: BearerToken?) -> Router<ClientContext> {
        let throttle = GuessThrottle()

        /// Returns the refusal for a request that does not show the token; `nil` for one that does.
        @Sendable func refusal(of request: Request, from context: ClientContext) -> Response? {
            guard let token else { return nil }
            guard let shown = BearerToken.text(in: request.headers[.authorization]) else { return unauthorized }

            switch throttle.judge(from: context.clientAddress, { token.admits(shown) }) {
            case .right: return nil
            case .wrong: return unauthorized
            case .tooEarly(let wait): return tooEarly(wait)
            }
        }

        let router = Router(context: ClientContext.self, options: .autoGenerateHeadEndpoints)
        router.get("/livez") { _, _ in probe(await source.livenessProblem()) }
        router.get("/readyz") { _, _ in probe(await source.readinessProblem()) }
        router.get("/metrics") { request, context in
            if let refusal = refusal(of: request, from: context) { return refusal }
            return response(.ok, type: "text/plain; version=0.0.4; charset=utf-8", body: await source.metrics())
        }
        router.get("/status") { request, context in
            if let refusal = refusal(of: request, from: context) { return refusal }
            return response(.ok, type: "application/json", body: await source.status())
        }
        router.refuseOtherMethods()
        return router
    }

    /// Says nothing about what is wrong with what was shown.
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

    private static func probe(_ problem: String?) -> Response {
        response(
            problem == nil ? .ok : .serviceUnavailable, type: "text/plain; charset=utf-8",
            body: (problem ?? "ok") + "\n")
    }

    private static func response(_ status: HTTPResponse.Status, type: String, body: String) -> Response {
        Response(
            status: status, headers: [.contentType: type], body: ResponseBody(byteBuffer: ByteBuffer(string: body)))
    }
}
