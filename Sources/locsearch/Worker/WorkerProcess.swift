import EventLoop
import Foundation
import HTTPTransport
import Kafka
import LocationSearch
import Logging
import PlaceProviders
import Resilience
import Synchronization
import TraceExport
import WorkerRuntime

/// A worker put together from settings: lanes, each with its own loop, consumer, producer and connections.
final class WorkerProcess: Sendable {
    private struct Part: Sendable {
        let loop: EventLoop
        let lane: WorkerLane
        let http: HTTPTransport
        let searches: SearchWorker
    }
    /// How long the fleet's topic has for what the lanes say when they leave.
    private static let timeForLastWords = Duration.seconds(1)

    private let parts: [Part]
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
        let configuration = settings.worker()
        var (consumer, producer) = (try settings.consumer(), try settings.producer())
        consumer.statisticsInterval = settings.duration("kafka.statisticsInterval")
        producer.statisticsInterval = consumer.statisticsInterval
        let keys = try ProviderKeys(settings)
        let order = settings.providerOrder()
        let meters = WorkerMeters(topics: configuration.topics, group: consumer.groupID)
        // A static member's next process takes over its name, which fences the last one off at once. Others need a name of
        // their own each; the group's generation fences those that lost their partitions.
        let instance = "\(consumer.groupID)-\(consumer.groupInstanceID ?? UUID().uuidString)"
        let departure = DepartureBarrier(lanes: configuration.loops)
        let budgets = settings.budgetPolicy(log: log)
        let memberName = String(UUID().uuidString.prefix(13))
        var parts: [Part] = []
        var configured: [ProviderID] = []
        var link: FleetLink?
        for number in 0..<configuration.loops {
            let loop = try EventLoop()
            let http = HTTPTransport(loop: loop, configuration: settings.http)
            let services = keys.services(settings, traces == nil ? http : TracedHTTP(http))
            configured = services.map(\.id)
            let searches = SearchWorker(
                executor: loop, policies: settings.policies, name: "\(memberName)-\(number)", budgets: budgets,
                timekeeper: LoopTimekeeper(loop), taskExecutor: loop,
                onTransition: { Self.report($1, of: $0, cause: $2, to: log) },
                onWasted: { meters.calls.countWasted($1) },
                onCall: { meters.calls.countEnded($0, $1, after: $2) })
            await searches.prepare(for: configured)
            if searches.usesWords, link == nil {
                var topic = FleetLink.Configuration(
                    topic: configuration.topics.fleet, consumer: consumer, producer: producer)
                if budgets != nil { (topic.history, topic.isNeeded) = (BudgetTerms.history, true) }
                link = FleetLink(topic, loop: loop, log: log)
            }
            let interactor = SearchInteractor(
                selection: ProviderSelection(services: services, order: order), worker: searches)
            var own = consumer
            // Static members need a name each.
            if configuration.loops > 1 { own.groupInstanceID = consumer.groupInstanceID.map { "\($0)-\(number)" } }
            var sender = producer
            sender.busyLinger = min(producer.linger * 4, .milliseconds(20))
            if configuration.delivery == .exactlyOnce { sender.transactionalID = "\(instance)-\(number)" }
            let makeProducer = { @Sendable [sender] () throws(KafkaError) -> any OutcomeSink in
                try KafkaProducer(loop: loop, configuration: sender, log: log)
            }
            let lane = WorkerLane(
                loop: loop, configuration: configuration,
                source: try KafkaConsumer(loop: loop, configuration: own, log: log),
                sink: try makeProducer(),
                makeSink: configuration.delivery == .atLeastOnce ? makeProducer : nil, interactor: interactor,
                fleet: searches, link: link, departure: departure, meters: meters,
                tracing: traces.map { RequestTracing(tracer: $0.tracer, consumerGroup: consumer.groupID) }, log: log)
            parts.append(Part(loop: loop, lane: lane, http: http, searches: searches))
        }
        self.parts = parts
        self.link = link
        self.keys = keys
        providers = configured
        automaticProviders = order.filter(configured.contains)
    }

    /// Writes one line for a breaker's change of state, not one for each request that meets it.
    private static func report(
        _ transition: CircuitBreaker.Transition, of provider: ProviderID, cause: SearchError?, to log: Logger
    ) {
        var metadata: Logger.Metadata = [
            "provider": "\(provider.rawValue)", "state": "\(transition.to.rawValue)",
            "reason": "\(transition.reason?.rawValue ?? "-")", "openFor": "\(transition.openFor.map(\.text) ?? "-")",
        ]
        if let status = cause?.httpStatus { metadata["httpStatus"] = "\(status)" }
        if let status = cause?.providerStatus { metadata["providerStatus"] = "\(status)" }

        switch (transition.to, transition.reason) {
        case (.open, .budgetUsedUp):
            log.error(
                "the day's budget of calls is used up; the provider is not asked until the next", metadata: metadata)
        case (.open, .keyRefused):
            log.error("provider refuses our key; check it, for it is tried again only later", metadata: metadata)
        case (.open, .quotaUsedUp):
            log.error("the key's quota at the provider is used up; not asked for a while", metadata: metadata)
        case (.open, _): log.warning("provider is failing; not asked for a while", metadata: metadata)
        case (.halfOpen, _): log.info("provider is tried again", metadata: metadata)
        case (.closed, _): log.info("provider answers again", metadata: metadata)
        }
    }

    /// The API keys that stand in files, each with what a new one sets off.
    func keyFiles(of settings: Settings) -> [SecretFiles.Entry] {
        keys.files(of: settings) { providers in
            for part in self.parts {
                for provider in providers { await part.searches.renewKey(of: provider) }
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
                group.addTask {
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
                for part in self.parts { await part.lane.openedFleetTopic(extent) }
            },
            needsOlder: {
                for part in self.parts where await part.lane.needsOlderFleetRecords { return true }
                return false
            },
            { records in
                for part in self.parts { await part.lane.hear(records) }
            })
    }

    /// Does what can fail before any lane joins the group.
    /// - Returns: `false` when a lane has failed; the others end then without having joined.
    private func prepareLanes() async -> Bool {
        await withTaskGroup(of: Bool.self) { group in
            for part in parts { group.addTask { await part.lane.prepare() } }
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
