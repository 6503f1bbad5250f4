import Hummingbird
package import Logging
internal import ServiceLifecycle

/// `/livez`, `/readyz`, `/metrics` and `/status` over HTTP, from `start` to `stop`. Safe to use from any task.
package final class AdminServer: Sendable {
    /// The port that the server listens on, never 0.
    package let port: Int

    private let services: ServiceGroup
    private let serving: Task<Void, any Error>

    private init(port: Int, services: ServiceGroup, serving: Task<Void, any Error>) {
        self.port = port
        self.services = services
        self.serving = serving
    }

    // MARK: - Start and stop

    /// Returns once the server listens.
    ///
    /// The server runs in a task of its own and not in a child of the caller's: a child is always waited for, and a
    /// client that never reads its answer would hold up the end of the process.
    /// - Parameters:
    ///   - port: 0 stands for any free port.
    ///   - token: what clients must show for `/metrics` and `/status`; `nil`: nothing. The probes never need it, because a
    ///     kubelet has no way to show one.
    /// - Throws: `AdminServerError` when the port cannot be listened on.
    package static func start(
        source: any AdminSource, host: String, port: Int, token: AdminToken? = nil, log: Logger
    ) async throws(AdminServerError) -> AdminServer {
        // Hummingbird reports each connection that breaks off, which is no news to whoever reads the worker's log.
        var quiet = log
        quiet.logLevel = .critical

        let (ports, announcing) = AsyncStream.makeStream(of: Int.self)
        let application = Application(
            router: router(for: source, token: token),
            configuration: ApplicationConfiguration(address: .hostname(host, port: port)),
            onServerRunning: { channel in announcing.yield(channel.localAddress?.port ?? 0) },
            logger: quiet)
        let services = ServiceGroup(configuration: ServiceGroupConfiguration(services: [application], logger: quiet))

        let serving = Task {
            defer { announcing.finish() }
            try await services.run()
        }
        for await listening in ports {
            return AdminServer(port: listening, services: services, serving: serving)
        }

        // The server has ended before it listened.
        do {
            try await serving.value
            throw AdminServerError(host: host, port: port, cause: CancellationError())
        } catch {
            throw error as? AdminServerError ?? AdminServerError(host: host, port: port, cause: error)
        }
    }

    /// Accepts no further connections, lets the requests in flight have their answers, and closes all connections.
    ///
    /// What has not ended after `grace` is left to the exit of the process. Cancelling it would be no better: SwiftNIO
    /// ends the whole process with a trap when a connection is cancelled between being accepted and being served.
    /// - Parameter grace: the time for answers that are under way.
    package func stop(within grace: Duration) async {
        await services.triggerGracefulShutdown()
        await waitForEnd(within: grace)
    }

    private func waitForEnd(within bound: Duration) async {
        let (ends, ending) = AsyncStream.makeStream(of: Void.self)
        let serving = serving
        Task {
            _ = await serving.result
            ending.finish()
        }
        let timer = Task {
            try? await Task.sleep(for: bound)
            ending.finish()
        }
        defer { timer.cancel() }

        for await _ in ends {}
    }

    // MARK: - Endpoints

    private static func router(for source: any AdminSource, token: AdminToken?) -> Router<BasicRequestContext> {
        @Sendable func isAdmitted(_ request: Request) -> Bool {
            token?.admits(authorization: request.headers[.authorization]) ?? true
        }

        let router = Router()
        router.get("/livez") { _, _ in probe(await source.livenessProblem()) }
        router.get("/readyz") { _, _ in probe(await source.readinessProblem()) }
        router.get("/metrics") { request, _ in
            guard isAdmitted(request) else { return refusal }
            return response(.ok, type: "text/plain; version=0.0.4; charset=utf-8", body: await source.metrics())
        }
        router.get("/status") { request, _ in
            guard isAdmitted(request) else { return refusal }
            return response(.ok, type: "application/json", body: await source.status())
        }
        return router
    }

    /// Says nothing about what is wrong with what was shown.
    private static var refusal: Response {
        var response = response(.unauthorized, type: "text/plain; charset=utf-8", body: "unauthorized\n")
        response.headers[.wwwAuthenticate] = "Bearer"
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
