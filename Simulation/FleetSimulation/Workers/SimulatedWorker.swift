import Basics
import EventLoop
import Kafka
import LocationSearch
import Logging
import Observability
import Resilience
import SimulatedKafka
import SimulatedKafkaClients
import SimulatedLoop
import WorkerRuntime

/// One lane of a simulated process: the real lane with the real search worker, between simulated clients.
final class SimulatedLane: @unchecked Sendable {
    // Sendable by hand: a simulation has one thread.

    let loop: SimulatedLoop
    let lane: WorkerLane
    let searches: SearchWorker
    let source: SimulatedSource
    let sinks: SinkFactory

    init(loop: SimulatedLoop, lane: WorkerLane, searches: SearchWorker, source: SimulatedSource, sinks: SinkFactory) {
        self.loop = loop
        self.lane = lane
        self.searches = searches
        self.source = source
        self.sinks = sinks
    }

    /// Has the lane do something on its loop, from a task of another one.
    func onLoop<Value: Sendable>(_ body: @escaping @Sendable (WorkerLane) async -> Value) async -> Value {
        await Task(executorPreference: loop.eventLoop) { [lane] in await body(lane) }.value
    }
}

/// Makes a lane's producers: the first one, and those that take the place of one that failed for good.
final class SinkFactory: @unchecked Sendable {
    // Sendable by hand: a simulation has one thread.

    private let settings: SimulatedProducerSettings
    private let name: String
    private let group: String
    private let loop: SimulatedLoop
    private let network: SimulatedNetwork
    private(set) var made: [SimulatedSink] = []

    init(
        _ settings: SimulatedProducerSettings, name: String, group: String, loop: SimulatedLoop,
        network: SimulatedNetwork
    ) {
        self.settings = settings
        self.name = name
        self.group = group
        self.loop = loop
        self.network = network
    }

    /// The names under which the network knows them.
    var clientIDs: [String] { made.indices.map { "\(name)-p\($0)" } }

    func make(singly: Bool = false) -> SimulatedSink {
        var settings = settings
        if singly { (settings.batchRecords, settings.linger) = (1, 0) }
        let producer = SimulatedProducer(settings, clientID: "\(name)-p\(made.count)", network: network)
        let sink = SimulatedSink(
            producer, group: group, loop: loop.eventLoop,
            inbox: LoopInbox(loop, descriptor: Int32(10 + made.count)))
        made.append(sink)
        return sink
    }
}

/// A worker process, put together as `locsearch worker` puts one together.
final class SimulatedWorker: @unchecked Sendable {
    // Sendable by hand: a simulation has one thread.

    enum State: Equatable {
        case running
        case draining
        case killed
        /// All lanes have returned, with the first failure.
        case ended(failure: String?)
    }

    static let (group, requests, deadLetters) = ("workers", "requests", "dead-letters")
    /// Whose quota all calls count for.
    static let scope = scope(of: .hotpepper)

    static func scope(of provider: ProviderID) -> QuotaScope {
        QuotaScope(provider: provider.rawValue, fleet: "fleet", key: "key")
    }

    /// Unlike that of any process before.
    let name: String
    private(set) var lanes: [SimulatedLane] = []
    private(set) var state = State.running
    let registry = MetricsRegistry()
    let breakers = BreakerWatch()
    private let simulation: Simulation
    private let network: SimulatedNetwork
    private let link: SimulatedFleetLink?
    private var lanesToEnd = 0
    private var failure: String?
    /// What lanes that ended well had not returned by then.
    private(set) var leaks: [String] = []
    var onEnd: (SimulatedWorker) -> Void = { _ in }

    /// - Parameters:
    ///   - number: the member whose place the process takes.
    ///   - start: counts the processes that took it.
    init(number: Int, start: Int, plan: FleetPlan, world: FleetWorld) {
        name = "m\(number).\(start)"
        (simulation, network) = (world.simulation, world.network)
        let sharesByWords = plan.callsPerDay != nil || (plan.hasRateLimit && plan.share == .byDemand)
        link = sharesByWords ? SimulatedFleetLink(world.fleetTopic) : nil

        let clock = simulation.makeClock(
            skew: .seconds(Double.random(in: 0...100, using: &simulation.random)),
            drift: Double.random(in: -plan.drift...max(0, plan.drift), using: &simulation.random))
        let departure = DepartureBarrier(lanes: plan.lanes)
        for index in 0..<plan.lanes {
            let instance = plan.isStatic ? "static-\(number)-\(index)" : nil
            lanes.append(
                makeLane(index, instance: instance, clock: clock, departure: departure, plan: plan, world: world))
        }
    }

    private func makeLane(
        _ index: Int, instance: String?, clock: SimulatedClock, departure: DepartureBarrier, plan: FleetPlan,
        world: FleetWorld
    ) -> SimulatedLane {
        let loop = simulation.makeLoop("\(name)-\(index)", clock: clock)
        let eventLoop = loop.eventLoop
        let configuration = Self.configuration(plan)

        let consumer = SimulatedConsumer(
            Self.consumerSettings(plan, instance: instance), clientID: "\(name)-\(index)-c", network: network)
        let source = SimulatedSource(consumer, loop: eventLoop, inbox: LoopInbox(loop, descriptor: 3))
        var settings = SimulatedProducerSettings()
        if plan.delivery == .exactlyOnce {
            settings.transactionalID = "\(Self.group)-\(instance ?? name).\(index)"
            settings.transactionTimeout = Int64(plan.transactionTimeout * 1e9)
        }
        let sinks = SinkFactory(
            settings, name: "\(name)-\(index)", group: Self.group, loop: loop, network: network)

        var policies: [ProviderID: ProviderPolicy] = [:]
        var scopes: [ProviderID: QuotaScope] = [:]
        for provider in plan.providers {
            policies[provider] = Self.policy(plan, of: provider)
            scopes[provider] = Self.scope(of: provider)
        }
        let searches = SearchWorker(
            executor: eventLoop, policies: policies, name: "\(name)-\(index)",
            budgets: world.budgetPolicy(for: eventLoop),
            scopes: scopes,
            clock: LoopClock(eventLoop), timekeeper: LoopTimekeeper(eventLoop), taskExecutor: eventLoop,
            random: eventLoop.random,
            onTransition: { [breakers] provider, transition, _ in
                breakers.note(transition, of: provider, lane: loop.name)
            })
        let services = plan.providers.map {
            SimulatedPlaces(id: $0, provider: world.provider, member: name, loop: eventLoop)
        }
        let interactor = SearchInteractor(
            selection: ProviderSelection(services: services, order: plan.providers), worker: searches)

        let lane = WorkerLane(
            loop: eventLoop, configuration: configuration, source: source, sink: sinks.make(),
            makeSink: { @Sendable () throws(KafkaError) in sinks.make() },
            makeSingleSink: plan.delivery == .atLeastOnce
                ? { @Sendable () throws(KafkaError) in sinks.make(singly: true) } : nil,
            interactor: interactor, fleet: searches, link: link, departure: departure,
            meters: WorkerMeters(topics: configuration.topics, group: Self.group, factory: registry),
            log: world.makeLog(name))
        return SimulatedLane(loop: loop, lane: lane, searches: searches, source: source, sinks: sinks)
    }

    // MARK: - Settings

    private static func configuration(_ plan: FleetPlan) -> WorkerConfiguration {
        var configuration = WorkerConfiguration()
        configuration.topics.requests = requests
        configuration.topics.results = "results"
        configuration.topics.errors = "errors"
        configuration.topics.deadLetters = deadLetters
        configuration.concurrency = plan.concurrency
        configuration.loops = plan.lanes
        configuration.delivery = plan.delivery
        configuration.ordering = plan.ordering
        configuration.shutdownGrace = .seconds(plan.shutdownGrace)
        configuration.maxAge = plan.maxAge.map { .seconds($0) }
        plan.settings.apply(to: &configuration)
        return configuration
    }

    private static func consumerSettings(_ plan: FleetPlan, instance: String?) -> SimulatedConsumerSettings {
        var settings = SimulatedConsumerSettings(group: group)
        settings.instanceID = instance
        settings.groupProtocol = plan.groupProtocol
        settings.assignor = plan.assignor
        settings.sessionTimeout = 6_000_000_000
        settings.losesAssignmentByStaleCommits = plan.losesAssignmentByStaleCommits
        return settings
    }

    private static func policy(_ plan: FleetPlan, of provider: ProviderID) -> ProviderPolicy {
        var policy = ProviderPolicy(concurrency: max(1, plan.concurrency / plan.lanes))
        plan.settings.apply(to: &policy)
        policy.rateLimit = plan.rateLimit(of: provider)
        policy.share = plan.share
        policy.whenOpen = plan.whenOpen
        return policy
    }

    // MARK: - Life and death

    func start() {
        lanesToEnd = lanes.count
        if let link, let first = lanes.first {
            simulation.spawn(on: first.loop) { [lanes] in await link.run(lanes) }
        }
        for lane in lanes {
            simulation.spawn(on: lane.loop) { await self.run(lane) }
        }
    }

    private func run(_ lane: SimulatedLane) async {
        do {
            try await lane.lane.run()
            // What was given up a moment ago still unwinds.
            await lane.loop.eventLoop.pause(.milliseconds(100))
            await noteLeaks(of: lane)
        } catch {
            failure = failure ?? "\(error)"
            drain()
        }

        lanesToEnd -= 1
        guard lanesToEnd == 0, state != .killed else { return }
        link?.end()
        state = .ended(failure: failure)
        // What is left of a process dies with it.
        simulation.schedule(after: .milliseconds(1)) { [self] in
            endClients()
            onEnd(self)
        }
    }

    private func noteLeaks(of lane: SimulatedLane) async {
        let status = await lane.lane.status
        if status.inFlight != 0 { leaks.append("\(name): \(status.inFlight) places in flight") }
        if status.undelivered != 0 { leaks.append("\(name): \(status.undelivered) places of outcomes") }
        for provider in await lane.searches.statuses {
            if provider.concurrency.inFlight != 0 {
                leaks.append("\(name): \(provider.concurrency.inFlight) slots of the adaptive limit")
            }
            if provider.held != 0 { leaks.append("\(name): \(provider.held) requests that wait for a breaker") }
        }
    }

    /// SIGTERM.
    func drain() {
        guard state == .running else { return }
        state = .draining
        for lane in lanes { simulation.spawn(on: lane.loop) { await lane.lane.drain() } }
    }

    /// SIGKILL.
    func kill() {
        guard isAlive else { return }
        state = .killed
        endClients()
    }

    private func endClients() {
        link?.end()
        for lane in lanes {
            lane.loop.kill()
            lane.source.kill()
            for sink in lane.sinks.made { sink.kill() }
        }
    }

    /// The names under which the network knows the process's clients.
    var clientIDs: [String] {
        lanes.indices.map { "\(name)-\($0)-c" } + lanes.flatMap(\.sinks.clientIDs)
    }

    var isAlive: Bool { state == .running || state == .draining }
}
