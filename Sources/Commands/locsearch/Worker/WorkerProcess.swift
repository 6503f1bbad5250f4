import EventLoop
import HTTPTransport
import LocationSearch
import Logging
import ProviderCalls
import QuotaSharing
import Synchronization
import TraceExport
import WorkerRuntime

/// A worker assembled from settings: lanes, each with its own loop, consumer, producer and connections.
final class WorkerProcess: Sendable {
    private let lanes: LaneGroup
    /// The provider connections of each lane.
    private let transports: [HTTPTransport]
    private let hasJoined = Atomic<Bool>(false)
    private let keys: ProviderKeys
    /// The providers that have an API key.
    let providers: [ProviderID]
    /// The configured providers that `auto` uses.
    let automaticProviders: [ProviderID]

    /// - Parameter traces: the trace export of this process; `nil`: no request is traced.
    init(_ settings: Settings, traces: TraceExport? = nil, log: Logger) async throws {
        try settings.validate()
        let assembly = try WorkerAssembly(settings, random: SystemRandomNumberGenerator(), traces: traces, log: log)
        keys = assembly.keys
        let loops = try (0..<assembly.configuration.loops).map { _ in try EventLoop() }
        let link = loops.first.flatMap { assembly.makeLink(on: $0) }
        transports = loops.map { assembly.makeTransport(on: $0) }

        var (lanes, configured) = ([WorkerLane](), [ProviderID]())
        for (number, loop) in loops.enumerated() {
            let lane = try assembly.makeLane(number, on: loop, http: transports[number], link: link)
            configured = await lane.prepareProviders()
            lanes.append(lane)
        }
        self.lanes = LaneGroup(lanes, link: link, controls: loops.first.flatMap { assembly.makeControls(on: $0) })
        providers = configured
        automaticProviders = settings.providerOrder().filter(configured.contains)
    }

    /// The process's connection to the fleet topic; `nil` if members have nothing to publish.
    var link: FleetLink? { lanes.link }

    /// Returns the control orders that apply to this process.
    func controls() async -> ControlStatus? { await lanes.controls?.status }

    /// Returns the API keys that are stored in files, each with the action for a new key.
    func keyFiles(of settings: Settings) -> [SecretFiles.Entry] {
        keys.files(of: settings) { await self.renewKeys(of: $0) }
    }

    /// Makes all lanes use providers again that are disabled because of their key or its quota, as a new key does.
    func renewKeys() async { await renewKeys(of: providers) }

    private func renewKeys(of providers: [ProviderID]) async {
        for lane in lanes.lanes {
            for provider in providers { await lane.renewKey(of: provider) }
        }
    }

    /// Joins the group and works until `drain`. If a lane fails permanently, all lanes end. The loops keep running,
    /// because status requests need them until `stopLoops`.
    /// - Throws: the first failure, after all lanes have ended.
    func run() async throws {
        try await lanes.run(
            joining: { self.hasJoined.store(true, ordering: .relaxed) },
            ended: { await self.transports[$0].shutdown() })
    }

    /// Returns the worker's topics that the brokers do not know, or do not let this user see.
    func missingTopics() async -> [String] { await lanes.lanes[0].missingTopics() }

    /// Stops the loops' threads. Do not call objects on the loops afterwards, because the call would never return.
    func stopLoops() {
        for loop in loops { loop.stop() }
    }

    /// False until the worker begins to join the group.
    var isStarting: Bool { !hasJoined.load(ordering: .relaxed) }

    var loops: [EventLoop] { lanes.lanes.map(\.loop) }

    /// Begins to drain: no more requests are taken, and those in flight finish.
    func drain() async {
        await lanes.drain()
    }

    func providerStatuses() async -> [ProviderStatus] {
        var statuses: [ProviderStatus] = []
        for lane in lanes.lanes { statuses += await lane.providerStatuses }
        return statuses
    }

    func statuses() async -> [LaneStatus] {
        var statuses: [LaneStatus] = []
        for lane in lanes.lanes { statuses.append(await lane.status) }
        return statuses
    }
}
