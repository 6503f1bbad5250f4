import EventLoop
import HTTPTransport
import LocationSearch
import Logging
import Synchronization
import TraceExport
import WorkerRuntime

/// A worker put together from settings: lanes, each with its own loop, consumer, producer and connections.
final class WorkerProcess: Sendable {
    /// How long the fleet's topic has for what the lanes say when they leave.
    private static let timeForLastWords = Duration.seconds(1)

    private let parts: [WorkerPart]
    /// Where the fleet's members talk; `nil` where they have nothing to say.
    let link: FleetLink?
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
        self.link = link

        var parts: [WorkerPart] = []
        for (number, loop) in loops.enumerated() {
            parts.append(try await assembly.makePart(number, on: loop, link: link))
        }
        self.parts = parts
        let configured = parts.first?.providers ?? []
        providers = configured
        automaticProviders = settings.providerOrder().filter(configured.contains)
    }

    /// The API keys that stand in files, each with what a new one sets off.
    func keyFiles(of settings: Settings) -> [SecretFiles.Entry] {
        keys.files(of: settings) { scopes in
            for part in self.parts {
                for (provider, scope) in scopes { await part.searches.renewKey(of: provider, scope: scope) }
            }
        }
    }

    /// Joins the group and works until `drain`, or until a lane fails for good, which ends them all. The loops go on: they
    /// have to answer whoever asks for statuses until `stopLoops`.
    /// - Throws: the first failure, after every lane has ended.
    func run() async throws {
        if await !prepareLanes() { await drain() }
        let talking = Task { await talk() }
        hasJoined.store(true, ordering: .relaxed)

        let result = await runLanes()
        link?.end()
        _ = await answer(within: Self.timeForLastWords) { await talking.value }
        try result.get()
    }

    private func runLanes() async -> Result<Void, any Error> {
        do {
            return .success(try await joinLanes())
        } catch {
            return .failure(error)
        }
    }

    private func joinLanes() async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            for part in parts {
                group.addTask(executorPreference: part.loop) {
                    do {
                        try await part.lane.run()
                    } catch {
                        await self.drain()
                        throw error
                    }
                    await part.http.shutdown()
                }
            }
            try await group.waitForAll()
        }
    }

    /// Has the lanes hear what the fleet says, and says what they say, until all have left.
    private func talk() async {
        await link?.run(
            opened: { extent in
                for part in self.parts { await part.onLoop { await $0.openedFleetTopic(extent) } }
            },
            needsOlder: {
                for part in self.parts where await part.onLoop({ await $0.needsOlderFleetRecords }) { return true }
                return false
            },
            { records in
                for part in self.parts { await part.onLoop { await $0.hear(records) } }
            })
    }

    /// Does what can fail before any lane joins the group.
    /// - Returns: `false` when a lane has failed; the others end then without having joined.
    private func prepareLanes() async -> Bool {
        await withTaskGroup(of: Bool.self) { group in
            for part in parts {
                group.addTask(executorPreference: part.loop) { await part.lane.prepare() }
            }
            return await group.allSatisfy { $0 }
        }
    }

    /// Returns those of the worker's topics that the brokers do not know, or do not let this user see.
    func missingTopics() async -> [String] { await parts[0].lane.missingTopics() }

    /// Ends the loops' threads. Nobody may ask for anything that lives on them any more: it would never be answered.
    func stopLoops() {
        for part in parts { part.loop.stop() }
    }

    /// False until the worker begins to join the group.
    var isStarting: Bool { !hasJoined.load(ordering: .relaxed) }

    var loops: [EventLoop] { parts.map(\.loop) }

    /// Begins the end: nothing more is taken, what is in flight finishes.
    func drain() async {
        for part in parts { await part.lane.drain() }
    }

    /// Of each loop.
    func providerStatuses() async -> [ProviderStatus] {
        var statuses: [ProviderStatus] = []
        for part in parts { statuses += await part.searches.statuses }
        return statuses
    }

    func statuses() async -> [LaneStatus] {
        var statuses: [LaneStatus] = []
        for part in parts { statuses.append(await part.lane.status) }
        return statuses
    }
}
