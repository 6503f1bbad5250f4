import HTTPServing
import Kafka
import Logging
import Observability
import ProviderSimulator
import TraceExport
import WorkerRuntime

/// Broker, provider and workers in one process.
struct DemoHouse: Sendable {
    let broker: EmbeddedBroker
    let simulator: SimulatorServer
    let simulatorURL: String
    let workers: [WorkerProcess]
    let settings: Settings
    let log: Logger
    /// The traces of all workers; `nil` where nothing is traced.
    let traces: TraceExport?
    private let registry: MetricsRegistry
    private let options: SettingsOptions
    /// The demo's values in place of the settings' own defaults.
    private let defaults: [String: String]

    /// Makes everything; the broker and the provider are up when this returns, the workers are not running yet.
    /// - Parameter options: settings of the command line, which win over what the demo needs.
    init(_ options: SettingsOptions, workers count: Int) async throws {
        broker = try EmbeddedBroker(topics: Self.topics)
        var world = SimulatorConfiguration()
        world.profile.latency = .lognormal(p50: .milliseconds(60), p99: .milliseconds(300))
        simulator = try SimulatorServer(world)
        simulatorURL = try await simulator.start()

        self.options = options
        defaults = Self.defaults(broker: broker, simulatorURL: simulatorURL)
        settings = try options.load(defaults: defaults)
        log = try ProcessSetup.logger(settings)
        registry = ProcessSetup.metrics()
        let traces = try settings.traceExport(log: log)
        self.traces = traces

        var workers: [WorkerProcess] = []
        for _ in 0..<count { workers.append(try await WorkerProcess(settings, traces: traces, log: log)) }
        self.workers = workers
    }

    /// Partitions by topic.
    private static var topics: [String: Int] {
        let names = Setting.all.filter { $0.name.hasPrefix("topics.") }.compactMap(\.defaultValue)
        return Dictionary(names.map { ($0, 6) }, uniquingKeysWith: { first, _ in first })
    }

    private static func defaults(broker: EmbeddedBroker, simulatorURL: String) -> [String: String] {
        [
            "kafka.bootstrapServers": broker.bootstrapServers,
            "hotpepper.baseURL": simulatorURL, "googlePlaces.baseURL": simulatorURL,
            "googlePlacesLegacy.baseURL": simulatorURL, "hotpepper.apiKey": "demo-key",
            "googlePlaces.apiKey": "demo-key",
            "admin.port": "0", "log.level": "error", "log.format": "text",
            "worker.requestSteps": "true",
            // The embedded broker refuses a member whose SyncGroup comes after the leader's. The group then forms again,
            // which takes it the session timeout less a second.
            "kafka.properties": "session.timeout.ms=6000",
            // A breaker would close its provider for minutes after one made-up refusal, also to the requests beside it and
            // to whatever is tried next.
            "providers.googlePlaces.breaker.enabled": "false",
            "providers.googlePlacesLegacy.breaker.enabled": "false",
            "providers.hotpepper.breaker.enabled": "false",
        ]
    }

    /// The URL at which the simulator serves pictures.
    var pictureURL: String { simulatorURL + "/pictures" }

    /// True once every worker has partitions.
    func isReady() async -> Bool {
        for worker in workers where await worker.statuses().allSatisfy(\.positions.isEmpty) { return false }
        return true
    }

    /// Starts the admin endpoints of the first worker, and says where they are.
    /// - Throws: `Failure` when `admin.port` cannot be listened on.
    func startAdminServer() async throws -> AdminServer {
        let worker = workers[0]
        let source = WorkerStatus(
            worker: worker, watch: LoopWatch(worker.loops, log: log), registry: registry)
        let admin = try await AdminServer.start(for: source, as: settings, token: nil, log: log)
        Terminal.line("admin      \(url(of: admin))  (/livez /readyz /metrics /status)")
        return admin
    }

    func url(of admin: AdminServer) -> String { "http://\(settings.text("admin.host")):\(admin.port)" }

    /// Starts the console. Where nobody chose its port and the usual one is taken, it takes any other.
    /// - Throws: `SettingsError` and `Failure` as `ConsoleService` does.
    func startConsole(showing state: DemoState) async throws -> ConsoleService {
        let settings = try options.load(defaults: defaults.merging(state.settings) { $1 })
        do {
            return try await ConsoleService(settings, streets: StreetMap(), log: log)
        } catch let failure as Failure where failure.code == Failure.configuration && settings.isDefault("console.port")
        {
            let other = defaults.merging(state.settings) { $1 }.merging(["console.port": "0"]) { $1 }
            return try await ConsoleService(try options.load(defaults: other), streets: StreetMap(), log: log)
        }
    }

    /// Tells all workers to end. Returns once they know.
    func drain() async {
        for worker in workers { await worker.drain() }
    }
}
