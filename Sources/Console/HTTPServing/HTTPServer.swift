package import Hummingbird
internal import HummingbirdCore
internal import LibC
package import Logging
internal import NIOCore
internal import ServiceLifecycle

/// An HTTP server of this process, from `start` to `stop`. Safe to use from any task.
package final class HTTPServer: Sendable {
    /// The port that the server listens on, never 0.
    package let port: Int

    private let table: ConnectionTable
    private let services: ServiceGroup
    private let serving: Task<Void, any Error>

    /// The number of open connections.
    package var connectionCount: Int { table.count }

    private init(port: Int, table: ConnectionTable, services: ServiceGroup, serving: Task<Void, any Error>) {
        (self.port, self.table, self.services, self.serving) = (port, table, services, serving)
    }

    /// Returns once the server listens.
    ///
    /// The server runs in an unstructured task and not in a child task. A parent always waits for its children, so a client
    /// that never reads its answer would delay the end of the process.
    /// - Parameters:
    ///   - port: 0 selects any free port.
    ///   - limits: the limits on the number of connections and on their waiting times.
    /// - Throws: `HTTPServerError` if the port cannot be opened.
    package static func start<Responder: HTTPResponder>(
        _ responder: Responder, host: String, port: Int, limits: ConnectionLimits = ConnectionLimits(), log: Logger
    ) async throws(HTTPServerError) -> HTTPServer
    where Responder.Context: InitializableFromSource<ApplicationRequestContextSource> {
        // Hummingbird logs each broken connection, which is irrelevant in this process's log.
        var quiet = log
        quiet.logLevel = .critical

        let table = ConnectionTable(limits) { count in
            log.warning(
                "an HTTP server closes connections, because there are too many",
                metadata: [
                    "host": "\(host)", "port": "\(port)", "most": "\(limits.maxConnections)", "closed": "\(count)",
                ])
        }

        let (ports, announcing) = AsyncStream.makeStream(of: Int.self)
        let application = Application(
            responder: responder,
            server: HTTPServerBuilder { GuardedChannel($0, limits: limits, table: table) },
            configuration: ApplicationConfiguration(address: .hostname(host, port: port)),
            onServerRunning: { channel in announcing.yield(channel.localAddress?.port ?? 0) },
            logger: quiet)
        let services = ServiceGroup(configuration: ServiceGroupConfiguration(services: [application], logger: quiet))

        let serving = Task {
            defer { announcing.finish() }
            try await services.run()
        }
        for await listening in ports {
            return HTTPServer(port: listening, table: table, services: services, serving: serving)
        }

        // The server ended before it listened.
        do {
            try await serving.value
            throw HTTPServerError(host: host, port: port, cause: CancellationError())
        } catch {
            throw error as? HTTPServerError ?? HTTPServerError(host: host, port: port, cause: error)
        }
    }

    /// Accepts no further connections, waits for the answers in progress, and closes all connections.
    ///
    /// Answers that have not ended after `grace` end with the process. They are not cancelled: SwiftNIO traps if a
    /// connection is cancelled between being accepted and being served.
    /// - Parameter grace: the time for answers in progress.
    package func stop(within grace: Duration) async {
        await services.triggerGracefulShutdown()
        _ = await answer(within: grace) { [serving] in await serving.result }
    }
}

/// The error for an address that a server cannot listen on. The remedy is another port or host.
package struct HTTPServerError: Error, Hashable, CustomStringConvertible {
    package let host: String
    package let port: Int
    /// The system's message, such as "Address already in use".
    package let reason: String

    init(host: String, port: Int, cause: any Error) {
        self.host = host
        self.port = port
        reason = (cause as? IOError).map { unsafe String(cString: strerror($0.errnoCode)) } ?? "\(cause)"
    }

    package var description: String { "cannot listen on \(host):\(port) (\(reason))" }
}
