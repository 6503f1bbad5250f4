internal import Basics
internal import HTTPTypes
internal import HummingbirdCore
internal import LibC
package import Logging
internal import NIOCore
internal import NIOHTTP1
internal import NIOPosix
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
    package static func start(
        _ responder: @escaping Responder, host: String, port: Int, limits: ConnectionLimits = ConnectionLimits(),
        log: Logger
    ) async throws(HTTPServerError) -> HTTPServer {
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
        let channel = GuardedChannel(
            { request, writer, channel in try await respond(to: request, with: writer, from: channel, by: responder) },
            limits: limits, table: table)
        let server = channel.server(
            configuration: ServerConfiguration(address: .hostname(host, port: port)),
            onServerRunning: { channel in announcing.yield(channel.localAddress?.port ?? 0) },
            eventLoopGroup: MultiThreadedEventLoopGroup.singleton, logger: quiet)
        let services = ServiceGroup(configuration: ServiceGroupConfiguration(services: [server], logger: quiet))

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

    /// Answers one request. The server closes the connection if this throws.
    @concurrent
    private static func respond(
        to request: Request, with writer: consuming ResponseWriter, from channel: any Channel, by responder: Responder
    ) async throws {
        var response: Response
        do {
            response = try await responder(request, ClientContext(clientAddress: channel.remoteAddress?.ipAddress))
        } catch let error as HTTPParserError {
            throw error
        } catch {
            response = Response(status: error is UnknownPath ? .notFound : .internalServerError)
        }
        // The client would read a body as the next response.
        if request.method == .head { response = response.createHeadResponse() }
        response.headers[.date] = HTTPDate.text(WallTime.now().milliseconds / 1000)
        do {
            try await writer.write(response: response.head, body: response.body)
        } catch is HTTPParserError {
            // The server would answer that error with a second response.
            throw CancellationError()
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
