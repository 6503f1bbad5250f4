import Console
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
    /// - Parameters:
    ///   - options: settings of the command line, which win over what the demo needs.
    ///   - stays: whether the demo stays up after the table.
    init(_ options: SettingsOptions, workers count: Int, stays: Bool) async throws {
        broker = try EmbeddedBroker(topics: Self.topics)
        var world = SimulatorConfiguration()
        world.profile.latency = Self.latency
        simulator = try SimulatorServer(world)
        simulatorURL = try await simulator.start()

        self.options = options
        defaults = Self.defaults(broker: broker, simulatorURL: simulatorURL, stays: stays)
        settings = try options.load(defaults: defaults)
        log = try ProcessSetup.logger(settings)
        registry = ProcessSetup.metrics()
        let traces = try settings.traceExport(log: log)
        self.traces = traces

        var workers: [WorkerProcess] = []
        for _ in 0..<count { workers.append(try await WorkerProcess(settings, traces: traces, log: log)) }
        self.workers = workers
    }

    /// The time that the simulated providers take.
    static let latency = LatencyDistribution.lognormal(p50: .milliseconds(60), p99: .milliseconds(300))
    /// The limit of Hot Pepper's key, which is shared by the workers.
    static let callsPerSecond = 20
    /// The providers' key, unless somebody gives the demo another.
    static let key = "demo-key"

    /// The partitions of each topic.
    private static let partitions = 6

    /// Partitions by topic.
    private static var topics: [String: Int] {
        let names = Setting.all.filter { $0.name.hasPrefix("topics.") }.compactMap(\.defaultValue)
        return Dictionary(names.map { ($0, partitions) }, uniquingKeysWith: { first, _ in first })
    }

    private static func defaults(broker: EmbeddedBroker, simulatorURL: String, stays: Bool) -> [String: String] {
        let defaults = [
            "kafka.bootstrapServers": broker.bootstrapServers,
            "admin.port": "0", "log.level": "error", "log.format": "text",
            "worker.requestSteps": "true",
            // So that a batch job has something to wait for, and a visitor's search does not wait behind it.
            "topics.requests": WorkerConfiguration.Topics().requests + ":interactive+batch",
            "providers.hotpepper.requestsPerSecond": "\(callsPerSecond)",
            // The embedded broker refuses a member whose SyncGroup comes after the leader's. The group then forms again,
            // which takes it the session timeout less a second. Members learn of that with their heartbeats.
            "kafka.properties": "session.timeout.ms=4000,heartbeat.interval.ms=1000",
        ]
        return defaults.merging(providerSettings(url: simulatorURL)) { $1 }.merging(breakers(stays: stays)) { $1 }
    }

    /// The settings with which a worker asks the demo's providers, and no other ones.
    static func providerSettings(url: String) -> [String: String] {
        [
            "hotpepper.baseURL": url, "googlePlaces.baseURL": url, "googlePlacesLegacy.baseURL": url,
            "hotpepper.apiKey": key, "googlePlaces.apiKey": key, "http.noProxy": "127.0.0.1",
        ]
    }

    /// In a demo that stays up, breakers open after few calls, because it makes few, but after more than the table's requests
    /// take. In one that ends after the table, its made-up refusals close no provider.
    private static func breakers(stays: Bool) -> [String: String] {
        let values = stays ? ["minimumCalls": "8", "openDuration": "3s"] : ["enabled": "false"]
        var settings: [String: String] = [:]
        for provider in ["googlePlaces", "googlePlacesLegacy", "hotpepper"] {
            for (name, value) in values { settings["providers.\(provider).breaker.\(name)"] = value }
        }
        return settings
    }

    var pictureURL: String { simulatorURL + "/pictures" }

    /// True once every worker has partitions, as far as there are enough of them.
    /// - Parameter child: the worker that is a process of its own; `nil` where there is none.
    func isReady(with child: WorkerChild?) async -> Bool {
        var owners = await child?.hasPartitions() == true ? 1 : 0
        for worker in workers where await !worker.statuses().allSatisfy(\.positions.isEmpty) {
            owners += 1  // bounded: a count of workers
        }
        return owners == min(workers.count + (child == nil ? 0 : 1), Self.partitions)  // bounded: workers
    }

    /// The requests that wait for their turn in the workers of this process.
    var waitingRequests: Int {
        get async {
            var waiting = 0
            for worker in workers {
                waiting += await worker.statuses().flatMap(\.waiting).reduce(0) { $0 + $1.count }  // bounded: by memory
            }
            return waiting
        }
    }

    /// Starts the admin endpoints of the first worker, and says where they are.
    /// - Throws: `Failure` when `admin.port` cannot be listened on.
    func startAdminServer() async throws -> AdminServer {
        let worker = workers[0]
        let source = WorkerStatus(
            worker: worker, watch: LoopWatch(worker.loops, log: log), registry: registry,
            group: settings.text("kafka.groupId"))
        let admin = try await AdminServer.start(for: source, as: settings, token: nil, log: log)
        Terminal.line("admin      \(url(of: admin))  (/livez /readyz /metrics /status)")
        return admin
    }

    func url(of admin: AdminServer) -> String { settings.url("admin.host", port: admin.port) }

    /// Starts the console. Where nobody chose its port and the usual one is taken, it takes any other.
    /// - Throws: `SettingsError` and `Failure` as `ConsoleService` does.
    func startConsole(showing state: DemoState, panel: any DemoPanel) async throws -> ConsoleService {
        let settings = try options.load(defaults: defaults.merging(state.settings) { $1 })
        do {
            return try await ConsoleService(settings, demo: panel, streets: StreetMap(), log: log)
        } catch let failure as Failure where failure.code == Failure.configuration && settings.isDefault("console.port")
        {
            let other = defaults.merging(state.settings) { $1 }.merging(["console.port": "0"]) { $1 }
            return try await ConsoleService(
                try options.load(defaults: other), demo: panel, streets: StreetMap(), log: log)
        }
    }

    /// Has the workers ask those providers again that they have shut for their key or its quota.
    func renewKeys() async {
        for worker in workers { await worker.renewKeys() }
    }

    /// Tells all workers to end. Returns once they know.
    func drain() async {
        for worker in workers { await worker.drain() }
    }
}
