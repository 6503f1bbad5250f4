import AdminServer
import Kafka
import Logging
import Observability
import ProviderSimulator
import WorkerRuntime

/// Broker, provider and workers in one process.
struct DemoHouse: Sendable {
    let broker: EmbeddedBroker
    let simulator: SimulatorServer
    let simulatorURL: String
    let workers: [WorkerProcess]
    let settings: Settings
    let log: Logger

    /// - Parameter options: what the user set wins over what the demo needs.
    init(_ options: SettingsOptions, workers count: Int) async throws {
        let topics = Dictionary(
            uniqueKeysWithValues: Setting.all.filter { $0.name.hasPrefix("topics.") }.compactMap(\.defaultValue).map {
                ($0, 6)
            })
        broker = try EmbeddedBroker(topics: topics)
        var world = SimulatorConfiguration()
        world.profile.latency = .lognormal(p50: .milliseconds(60), p99: .milliseconds(300))
        simulator = try SimulatorServer(world)
        simulatorURL = try await simulator.start()
        settings = try options.load(defaults: [
            "kafka.bootstrapServers": broker.bootstrapServers,
            "hotpepper.baseURL": simulatorURL, "googlePlaces.baseURL": simulatorURL,
            "googlePlacesLegacy.baseURL": simulatorURL, "hotpepper.apiKey": "demo-key",
            "googlePlaces.apiKey": "demo-key",
            "admin.port": "0", "log.level": "error", "log.format": "text",
            // The embedded broker refuses a member whose SyncGroup comes after the leader's. The group then forms again, which
            // takes it the session timeout less a second.
            "kafka.properties": "session.timeout.ms=6000",
            // One made-up refusal would close a provider, for minutes, to the requests beside it and to what is tried next.
            "providers.googlePlaces.breaker.enabled": "false",
            "providers.googlePlacesLegacy.breaker.enabled": "false",
            "providers.hotpepper.breaker.enabled": "false",
        ])
        log = try ProcessSetup.logger(settings)
        var workers: [WorkerProcess] = []
        for _ in 0..<count { workers.append(try await WorkerProcess(settings, log: log)) }
        self.workers = workers
    }

    /// Whether every worker has partitions.
    func isReady() async -> Bool {
        for worker in workers where await worker.statuses().allSatisfy(\.positions.isEmpty) { return false }
        return true
    }

    func drain() async {
        for worker in workers { await worker.drain() }
    }
}
