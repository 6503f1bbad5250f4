import EventLoop
import HTTPTransport
import LocationSearch
import Logging
import ProviderCalls
import QuotaSharing
import Synchronization
import TraceExport
import WorkerRuntime

/// A worker put together from settings: lanes, each with its own loop, consumer, producer and connections.
final class WorkerProcess: Sendable {
    private let lanes: LaneGroup
    /// The connections of each lane to the providers.
    private let transports: [HTTPTransport]
    private let hasJoined = Atomic<Bool>(false)
    private let keys: ProviderKeys
    /// The providers that have an API key.
    let providers: [ProviderID]
    /// The configured providers that `auto` asks.
    let automaticProviders: [ProviderID]

    /// - Parameter traces: of this process; `nil`: no request is traced.
    init(_ settings: Settings, traces: TraceExport? = nil, log: Logger) async throws {
        try settings.validate()
        let assembly = try WorkerAssembly(settings, random: SystemRandomNumberGenerator(), traces: traces, log: log)
        keys = assembly.keys
        let loops = try (0..<assembly.configuration.loops).map { _ in try EventLoop() }
        let link = loops.first.flatMap { assembly.makeLink(on: $0) }
        transports = loops.map { assembly.makeTransport(on: $0) }

        var lanes: [AssembledLane] = []
        for (number, loop) in loops.enumerated() {
            let lane = try assembly.makeLane(number, on: loop, http: transports[number], link: link)
            await lane.makeProvidersKnown()
            lanes.append(lane)
        }
        self.lanes = LaneGroup(lanes, link: link, controls: loops.first.flatMap { assembly.makeControls(on: $0) })
        let configured = lanes.first?.providers ?? []
        providers = configured
        automaticProviders = settings.providerOrder().filter(configured.contains)
    }

    /// The process's link to the fleet's topic; `nil` where members have nothing to publish.
    var link: FleetLink? { lanes.link }

    /// The orders of people that count for this process.
    func controls() async -> ControlStatus? { await lanes.controls?.status }

    /// The API keys that stand in files, each with what a new one sets off.
    func keyFiles(of settings: Settings) -> [SecretFiles.Entry] {
        keys.files(of: settings) { scopes in
            for lane in self.lanes.lanes {
                for (provider, scope) in scopes { await lane.searches.renewKey(of: provider, scope: scope) }
            }
        }
    }

    /// Has each provider asked again that is shut for its key or the key's quota, as a new key does.
    func renewKeys() async {
        for lane in lanes.lanes {
            for provider in providers { await lane.searches.renewKey(of: provider) }
        }
    }

    /// Joins the group and works until `drain`, or until a lane fails for good, which ends them all. The loops go on: they
    /// have to answer questions for statuses until `stopLoops`.
    /// - Throws: the first failure, after every lane has ended.
    func run() async throws {
        try await lanes.run(
            joining: { self.hasJoined.store(true, ordering: .relaxed) },
            ended: { await self.transports[$0].shutdown() })
    }

    /// Returns those of the worker's topics that the brokers do not know, or do not let this user see.
    func missingTopics() async -> [String] { await lanes.lanes[0].lane.missingTopics() }

    /// Ends the loops' threads. Nobody may ask for anything that lives on them any more: it would never be answered.
    func stopLoops() {
        for loop in loops { loop.stop() }
    }

    /// False until the worker begins to join the group.
    var isStarting: Bool { !hasJoined.load(ordering: .relaxed) }

    var loops: [EventLoop] { lanes.lanes.map(\.loop) }

    /// Begins the end: nothing more is taken, what is in flight finishes.
    func drain() async {
        await lanes.drain()
    }

    func providerStatuses() async -> [ProviderStatus] {
        var statuses: [ProviderStatus] = []
        for lane in lanes.lanes { statuses += await lane.searches.statuses }
        return statuses
    }

    func statuses() async -> [LaneStatus] {
        var statuses: [LaneStatus] = []
        for lane in lanes.lanes { statuses.append(await lane.lane.status) }
        return statuses
    }
}
