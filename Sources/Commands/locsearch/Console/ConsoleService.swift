import Console
import EventContract
import EventLoop
import HTTPServing
import HTTPTransport
import Kafka
import Logging
import ProviderSimulator
import SessionState

/// A running console: the web server and everything that supplies it with data.
final class ConsoleService: Sendable {
    /// How long answers in progress may take at shutdown. Event streams end immediately.
    private static let grace = Duration.seconds(2)
    /// Map pictures are small. Larger responses are not shown.
    private static let mostPictureBytes = 2_000_000

    /// The URL of the page: `http://127.0.0.1:8081`.
    let url: String

    private let server: HTTPServer
    private let backend: KafkaConsoleBackend
    private let http: HTTPTransport
    private let adminHTTP: HTTPTransport
    private let loop: EventLoop
    private let feeding: Task<Void, Never>

    /// Returns once the page can be opened.
    /// - Parameters:
    ///   - demo: the controls of the demo; `nil` if the console does not belong to one.
    /// - Throws: `SettingsError`, or a `Failure` that names the broker or `console.port`.
    init(_ settings: Settings, demo: (any DemoPanel)? = nil, log: Logger) async throws {
        var configuration = try settings.console()
        // Only a simulator replaces pictures, and its places are on invented streets.
        if settings["console.pictureBaseURL"] != nil {
            let streets = StreetMap()
            configuration.streets = { row, column in streets.block(row: row, column: column) }
        }
        configuration.limits = configuration.limits.within(descriptors: FileDescriptors.limit)
        Self.warnOfHosts(settings, configuration: configuration, log: log)
        // The visible states may take as much again, and the pods have 512 MiB.
        let (store, traffic, pipeline) = (Store(StoreConfiguration(maxBytes: 128 << 20)), Traffic(), Pipeline())
        let feed = ConsoleFeed(settings, store: store, traffic: traffic, log: log)
        let brokers = settings.text("kafka.bootstrapServers")
        let reader = try await Failure.naming("the console cannot read from \(brokers)") { try await feed.open() }

        loop = try EventLoop()
        var limits = settings.http
        limits.maxResponseBytes = Self.mostPictureBytes
        http = HTTPTransport(loop: loop, configuration: limits)
        adminHTTP = HTTPTransport(loop: loop, configuration: settings.adminHTTP)
        backend = try await KafkaConsoleBackend(settings, http: http, pipeline: pipeline, log: log)
        let backlog = try BacklogReader(
            settings, timeout: PipelineWatch.timeout, window: PipelineWatch.window, log: log)
        server = try await Self.listen(
            configuration, store: store, traffic: traffic, pipeline: pipeline, backend: backend, demo: demo, log: log)
        url = settings.url("console.host", port: server.port)

        let workerToken = WorkerToken(try settings.adminToken())
        let watch = PipelineWatch(
            pipeline: pipeline, traffic: traffic, poll: WorkerPoll(settings, token: workerToken, http: adminHTTP))
        // Workers reload their token from the file, so the console must do the same.
        let files = SecretFiles(
            settings.tokenFile("console", current: try settings.consoleToken()) { [token = configuration.token] in
                token?.replace(with: $0)
            } + settings.tokenFile("admin", current: workerToken.text) { workerToken.replace(with: $0) }, log: log)
        feeding = Task {
            await withTaskGroup(of: Void.self) { group in
                group.addTask { await feed.run(reader) }
                group.addTask { await watch.run(backlog) }
                group.addTask { await files.run() }
                group.addTask { await Self.tick(traffic) }
            }
        }
    }

    /// Ends the event streams first, so that no page receives half an event.
    func stop() async {
        await server.stop(within: Self.grace)
        feeding.cancel()
        await feeding.value
        await backend.close()
        await http.shutdown()
        await adminHTTP.shutdown()
        loop.stop()
    }

    /// Warns if other machines can connect but no host name is allowed for them, so that their browsers are rejected.
    private static func warnOfHosts(_ settings: Settings, configuration: ConsoleConfiguration, log: Logger) {
        let isForOthers = configuration.token == nil && !settings.isLocal("console.host")
        guard isForOthers, configuration.allowedHosts.isEmpty else { return }
        log.warning(
            "the console accepts only this machine's own names: set console.allowedHosts to other names in use",
            metadata: ["host": "\(configuration.host)"])
    }

    private static func listen(
        _ configuration: ConsoleConfiguration, store: Store, traffic: Traffic, pipeline: Pipeline,
        backend: KafkaConsoleBackend, demo: (any DemoPanel)?, log: Logger
    ) async throws -> HTTPServer {
        do {
            return try await ConsoleServer.start(
                configuration, store: store, traffic: traffic, pipeline: pipeline, backend: backend, demo: demo,
                log: log)
        } catch {
            throw Failure(
                "console.port: \(error); choose another, or 0 for any free one", code: Failure.configuration)
        }
    }

    /// Advances the per-second rates.
    private static func tick(_ traffic: Traffic) async {
        while !Task.isCancelled {
            traffic.advance()
            try? await Task.sleep(for: .milliseconds(200))
        }
    }
}
