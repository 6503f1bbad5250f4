import Console
import HTTPServing
import Kafka
import Logging
import Observability
import ProviderSimulator
import TraceExport
import WorkerRuntime

/// The demo's broker, provider and workers in one process.
struct DemoStack: Sendable {
    let broker: EmbeddedBroker
    let simulator: SimulatorServer
    let workers: [WorkerProcess]
    let settings: Settings
    let log: Logger
    /// Exports the traces of all workers; `nil` if tracing is off.
    let traces: TraceExport?
    private let registry: MetricsRegistry
    private let options: SettingsOptions
    /// The demo's values, which replace the default values of settings.
    private let defaults: [String: String]

    /// Creates all parts. The broker and the provider run when this returns, but the workers do not yet.
    /// - Parameters:
    ///   - options: settings of the command line, which override the demo's values.
    ///   - stays: true if the demo stays up after the table.
    init(_ options: SettingsOptions, workers count: Int, stays: Bool) async throws {
        broker = try EmbeddedBroker(
            topics: Setting.defaultTopics.reduce(into: [:]) { $0[$1] = Self.partitions })
        var world = SimulatorConfiguration()
        world.profile.latency = Self.latency
        simulator = try await SimulatorServer.start(world)

        self.options = options
        defaults = Self.defaults(broker: broker, simulatorURL: simulator.baseURL, stays: stays)
        settings = try options.load(defaults: defaults)
        log = try ProcessSetup.logger(settings)
        registry = ProcessSetup.metrics()
        let traces = try settings.traceExport(log: log)
        self.traces = traces

        var workers: [WorkerProcess] = []
        for _ in 0..<count { workers.append(try await WorkerProcess(settings, traces: traces, log: log)) }
        self.workers = workers
    }

    /// The response time of the simulated providers.
    static let latency = LatencyDistribution.lognormal(p50: .milliseconds(60), p99: .milliseconds(300))
    /// The rate limit of the Hot Pepper key, shared by the workers.
    static let callsPerSecond = 20

    private static let partitions = 6

    private static func defaults(broker: EmbeddedBroker, simulatorURL: String, stays: Bool) -> [String: String] {
        let defaults = [
            "kafka.bootstrapServers": broker.bootstrapServers,
            "admin.port": "0", "log.level": "error", "log.format": "text",
            "worker.requestSteps": "true",
            // With the limit, the requests of a batch job have to wait. With the priority, interactive searches do not
            // wait behind them.
            "topics.requests": WorkerConfiguration.Topics().requests + ":interactive+batch",
            "providers.hotpepper.requestsPerSecond": "\(callsPerSecond)",
            // The embedded broker refuses a member whose SyncGroup arrives after the leader's. The group then forms
            // again, which takes the session timeout less a second. Members learn about it from their heartbeats.
            "kafka.properties": "session.timeout.ms=4000,heartbeat.interval.ms=1000",
        ]
        return defaults.merging(DemoState.providerSettings(url: simulatorURL)) { $1 }.merging(breakers(stays: stays)) {
            $1
        }
    }

    /// In a demo that stays up, breakers open after few calls, because the demo makes few. The threshold is above the
    /// number of calls for the table. In a demo that ends after the table, breakers are off, so that its intentional
    /// failures have no effect.
    private static func breakers(stays: Bool) -> [String: String] {
        let values = stays ? ["minimumCalls": "8", "openDuration": "3s"] : ["enabled": "false"]
        var settings: [String: String] = [:]
        for provider in ["googlePlaces", "googlePlacesLegacy", "hotpepper"] {
            for (name, value) in values { settings["providers.\(provider).breaker.\(name)"] = value }
        }
        return settings
    }

    var simulatorURL: String { simulator.baseURL }
    var pictureURL: String { simulatorURL + "/pictures" }

    /// Returns true once every worker has partitions, or all partitions are assigned if there are fewer than workers.
    /// - Parameter child: the worker that runs as a child process; `nil` if there is none.
    func isReady(with child: WorkerChild?) async -> Bool {
        var owners = await child?.hasPartitions() == true ? 1 : 0
        for worker in workers where await !worker.statuses().allSatisfy(\.positions.isEmpty) {
            owners += 1  // bounded: a count of workers
        }
        return owners == min(workers.count + (child == nil ? 0 : 1), Self.partitions)  // bounded: workers
    }

    /// True while batch requests wait in the workers of this process.
    var hasWaitingBatch: Bool {
        get async {
            for worker in workers {
                let waiting = await worker.statuses().flatMap(\.waiting)
                if waiting.contains(where: { $0.flow.requestClass == .batch }) { return true }
            }
            return false
        }
    }

    /// Starts the admin endpoints of the first worker, and prints their address.
    /// - Throws: `Failure` if the server cannot listen on `admin.port`.
    func startAdminServer() async throws -> HTTPServer {
        let (worker, ends) = (workers[0], EndWatch(registry))
        Task { await ends.run() }  // until the process ends
        let source = WorkerStatus(
            worker: worker, watch: LoopWatch(worker.loops, log: log), registry: registry, ends: ends,
            group: settings.text("kafka.groupId"), others: Array(workers.dropFirst()))
        let admin = try await AdminServer.start(for: source, as: settings, token: nil, log: log)
        Terminal.line("admin      \(url(of: admin))  (/livez /readyz /metrics /status)")
        return admin
    }

    func url(of admin: HTTPServer) -> String { settings.url("admin.host", port: admin.port) }

    /// Starts the console. If its default port is taken and the user set no other, a free port is used.
    /// - Throws: `SettingsError` and `Failure` as `ConsoleService` does.
    func startConsole(showing state: DemoState, panel: any DemoPanel) async throws -> ConsoleService {
        let settings = try options.load(defaults: defaults.merging(state.settings) { $1 })
        do {
            return try await ConsoleService(settings, demo: panel, log: log)
        } catch let failure as Failure where failure.code == Failure.configuration && settings.isDefault("console.port")
        {
            let other = defaults.merging(state.settings) { $1 }.merging(["console.port": "0"]) { $1 }
            return try await ConsoleService(
                try options.load(defaults: other), demo: panel, log: log)
        }
    }

    /// Makes the workers use providers again that they disabled because of the key or its quota.
    func renewKeys() async {
        for worker in workers { await worker.renewKeys() }
    }

    /// Makes all workers drain. Returns once they have begun.
    func drain() async {
        for worker in workers { await worker.drain() }
    }
}
