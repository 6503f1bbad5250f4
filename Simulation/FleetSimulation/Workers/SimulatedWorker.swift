import Basics
import EventLoop
import Kafka
import LocationSearch
import Logging
import Observability
import ProviderCalls
import QuotaSharing
import Resilience
import SimulatedKafka
import SimulatedKafkaClients
import SimulatedLoop
import WorkerRuntime

/// One lane of a simulated process, assembled by `LaneAssembly` with simulated clients.
final class SimulatedLane: @unchecked Sendable {
    // Sendable by hand: a simulation has one thread.

    let loop: SimulatedLoop
    let lane: WorkerLane
    let source: SimulatedSource
    let sinks: SinkFactory
    var careWatch = CareWatch()

    init(loop: SimulatedLoop, lane: WorkerLane, source: SimulatedSource, sinks: SinkFactory) {
        self.loop = loop
        self.lane = lane
        self.source = source
        self.sinks = sinks
    }

    /// Measures whether careful intake keeps the lane from reading.
    func lookAtCare(at now: Instant) {
        let status = loop.inspect { lane.assumeIsolated { $0.intakeStatus } }
        careWatch.look(at: now, status, isFrozen: loop.isFrozen, source)
    }
}

/// Makes a lane's producers: the first one, and those that replace a producer that has failed permanently.
final class SinkFactory: @unchecked Sendable {
    // Sendable by hand: a simulation has one thread.

    private let settings: SimulatedProducerSettings
    private let name: String
    private let group: String
    private let loop: SimulatedLoop
    private let network: SimulatedNetwork
    private let dropsAnswer: () -> Bool
    private(set) var made: [SimulatedSink] = []

    /// - Parameter dropsAnswer: see `SimulatedProducer`.
    init(
        _ settings: SimulatedProducerSettings, name: String, group: String, loop: SimulatedLoop,
        network: SimulatedNetwork, dropsAnswer: @escaping () -> Bool
    ) {
        self.settings = settings
        self.name = name
        self.group = group
        self.loop = loop
        self.network = network
        self.dropsAnswer = dropsAnswer
    }

    /// The client names used by the network.
    var clientIDs: [String] { made.indices.map { "\(name)-p\($0)" } }
    var transactionalID: String? { settings.transactionalID }

    func make(singly: Bool = false) -> SimulatedSink {
        var settings = settings
        if singly { (settings.batchRecords, settings.linger) = (1, 0) }
        let producer = SimulatedProducer(settings, clientID: "\(name)-p\(made.count)", network: network)
        producer.dropsAnswer = dropsAnswer
        let sink = SimulatedSink(
            producer, group: group, loop: loop.eventLoop,
            inbox: LoopInbox(loop, descriptor: Int32(10 + made.count)))
        made.append(sink)
        return sink
    }
}

/// A worker process, assembled as in `locsearch worker`: by `LaneAssembly`, and run by a `LaneGroup`.
final class SimulatedWorker: @unchecked Sendable {
    // Sendable by hand: a simulation has one thread.

    enum State: Equatable {
        case running
        case draining
        case killed
        /// All lanes have returned, with the first failure.
        case ended(failure: String?)
    }

    static let (group, requests, fleetTopic, deadLetters) = ("workers", "requests", "fleet", "dead-letters")
    /// The topic for batch requests only, in some schedules.
    static let batchRequests = "batch-requests"
    /// The account to which all calls count.
    static let account = ProviderID.hotpepper.rawValue

    /// The name of the process, which no earlier process has.
    let name: String
    private(set) var lanes: [SimulatedLane] = []
    private(set) var state = State.running
    /// The time at which the drain began; `nil` before.
    private(set) var drainedAt: Instant?
    let breakers: BreakerWatch
    /// The metrics of all processes of all schedules together. Making a registry takes longer than most work of a lane.
    private static let registry = MetricsRegistry()
    private static let meters = {
        var topics = configuredTopics
        topics.requestTopics.append(RequestTopic(batchRequests, classes: [.batch]))
        return WorkerMeters(topics: topics, group: group, factory: registry)
    }()

    /// Returns the number of calls that all processes of all schedules have counted under a price class.
    static func callsCounted(as priceClass: PriceClass) -> Int {
        _ = meters
        let labels = [("provider", priceClass.provider.rawValue), ("sku", priceClass.rawValue)]
        return Int(registry.value(of: "locsearch_provider_calls_by_sku_total", dimensions: labels))
    }
    private let simulation: Simulation
    private let network: SimulatedNetwork
    private let fleet: SimulatedFleetClients
    private let group: LaneGroup
    private let crashHandler = SimulatedCrashHandler()
    /// Resources that lanes had not returned when they ended in order.
    private(set) var leaks: [String] = []
    var onEnd: (SimulatedWorker) -> Void = { _ in }

    /// - Parameters:
    ///   - number: the number of the member.
    ///   - start: the number of earlier processes with this member number.
    init(number: Int, start: Int, plan: FleetPlan, world: FleetWorld) {
        let name = "m\(number).\(start)"
        self.name = name
        let (simulation, network) = (world.simulation, world.network)
        (self.simulation, self.network) = (simulation, network)

        let clock = simulation.makeClock(
            skew: .seconds(Double.random(in: 0...100, using: &simulation.random)),
            drift: Double.random(in: -plan.drift...max(0, plan.drift), using: &simulation.random))
        let loops = (0..<plan.lanes).map { simulation.makeLoop("\(name)-\($0)", clock: clock) }
        let breakers = BreakerWatch(simulation)
        self.breakers = breakers
        world.breakers[name] = breakers
        let isOlder = plan.isOlder(member: number, start: start)
        if isOlder { world.say("\(name) is of an older version") }
        let assembly = Self.assembly(name, isOlder: isOlder, breakers: breakers, plan: plan, world: world)
        fleet = SimulatedFleetClients(
            name, loop: loops[0], descriptor: 4, network: network, messages: world.fleetMessages)
        fleet.onOpen = { [unowned world] in world.noteCountBegun(by: name) }
        let link = assembly.makeLink(fleet.clients, on: loops[0].eventLoop)

        lanes = loops.enumerated().map { index, loop in
            Self.makeLane(
                index, of: name, instance: plan.isStatic ? "static-\(number)" : nil, on: loop, assembly: assembly,
                link: link, plan: plan, world: world)
        }
        for lane in lanes { (lane.source.ignoresMetadata, lane.source.crashHandler) = (isOlder, crashHandler) }
        group = LaneGroup(lanes.map(\.lane), link: link)
    }

    private static func assembly(
        _ name: String, isOlder: Bool, breakers: BreakerWatch, plan: FleetPlan, world: FleetWorld
    ) -> LaneAssembly {
        var policies: [ProviderID: ProviderPolicy] = [:]
        for provider in plan.providers { policies[provider] = policy(plan, of: provider) }
        let log = world.makeLog(name)
        var configuration = configuration(plan)
        if isOlder { configuration.doneSetBytes = 0 }
        var assembly = LaneAssembly(
            configuration, name: name, policies: policies,
            meters: meters, log: log)
        assembly.order = plan.providers
        let budgets = plan.budgets
        if !budgets.isEmpty { assembly.makeBudgets = { FleetWorld.budgetPolicy(budgets, for: $0) } }
        assembly.onTransition = { provider, transition, _ in
            breakers.note(transition, of: provider)
            log.info("the breaker of \(provider.rawValue) is \(transition.to.rawValue)")
        }
        return assembly
    }

    private static func makeLane(
        _ index: Int, of name: String, instance: String?, on loop: SimulatedLoop, assembly: LaneAssembly,
        link: FleetLink?, plan: FleetPlan, world: FleetWorld
    ) -> SimulatedLane {
        let instanceID = LaneAssembly.instanceID(instance, lane: index, of: plan.lanes)
        let consumer = SimulatedConsumer(
            consumerSettings(plan, instance: instanceID), clientID: "\(name)-\(index)-c", network: world.network)
        let source = SimulatedSource(consumer, loop: loop.eventLoop, inbox: LoopInbox(loop, descriptor: 3))
        source.onHandover = { [unowned world] in world.noteHandover(of: $0, by: name, lasting: $1, formingBefore: $2) }
        source.onLoss = { [unowned world] in world.noteLoss(of: $0) }
        source.onPaused = { [unowned world] in world.notePause(of: $0) }
        source.onRead = { [unowned world] in world.noteRead(of: $0, from: $1, next: $2, topic: $3) }
        source.onBeginning = { [unowned world] in world.noteBeginning(of: $0, at: $1) }
        source.onWaiting = { [unowned world] in world.noteWaiting(for: $0, readFrom: $1, topic: $2) }
        source.onStoredUnread = { [unowned world] in
            world.unreadCommits.append("the commit of \($0) at \($1.offset) is beyond the records that were read")
        }
        source.onOwned = { [unowned world] in world.ownership.note($0, of: "\(name)-\(index)", at: world.simulation.now)
        }

        var settings = SimulatedProducerSettings()
        if plan.delivery == .exactlyOnce {
            settings.transactionalID = LaneAssembly.transactionalID(
                group: group, instance: instance ?? name, lane: index)
            settings.transactionTimeout = Int64(plan.transactionTimeout * 1e9)
        }
        let sinks = SinkFactory(
            settings, name: "\(name)-\(index)", group: group, loop: loop, network: world.network,
            dropsAnswer: { [unowned world] in world.dropsAnswerToOffsets() })

        let clients = LaneAssembly.Clients(
            source: source,
            makeSink: { () throws(KafkaError) -> any OutcomeSink in sinks.make() },
            makeSingleSink: { () throws(KafkaError) -> any OutcomeSink in sinks.make(singly: true) },
            services: plan.providers.map {
                SimulatedPlaces(id: $0, provider: world.provider, member: name, loop: loop.eventLoop)
            })
        do throws(KafkaError) {
            let lane = try assembly.makeLane(index, on: loop.eventLoop, clients: clients, link: link)
            return SimulatedLane(loop: loop, lane: lane, source: source, sinks: sinks)
        } catch {
            preconditionFailure("creating simulated clients never fails: \(error)")
        }
    }

    // MARK: - Settings

    private static var configuredTopics: WorkerConfiguration.Topics {
        var topics = WorkerConfiguration.Topics()
        topics.requests = requests
        topics.results = "results"
        topics.errors = "errors"
        topics.deadLetters = deadLetters
        topics.fleet = fleetTopic
        return topics
    }

    private static func configuration(_ plan: FleetPlan) -> WorkerConfiguration {
        var configuration = WorkerConfiguration()
        configuration.topics = configuredTopics
        configuration.concurrency = plan.concurrency
        configuration.loops = plan.lanes
        configuration.delivery = plan.delivery
        configuration.ordering = plan.ordering
        configuration.shutdownGrace = .seconds(plan.shutdownGrace)
        configuration.timeLimits.maxAge = plan.maxAge.map { .seconds($0) }
        plan.settings.apply(to: &configuration)
        plan.mixture?.apply(to: &configuration, topic: requests)
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
        if let mixture = plan.mixture { policy.fairness = mixture.fairness }
        policy.rateLimit = plan.rateLimit(of: provider)
        policy.share = plan.share
        policy.whenOpen = plan.whenOpen
        return policy
    }

    // MARK: - Lifecycle

    func start() {
        simulation.spawn(on: lanes[0].loop) { await self.run() }
    }

    private func run() async {
        var failure: String?
        do {
            for lane in lanes { await lane.lane.prepareProviders() }
            try await group.run(ended: { await self.ended(self.lanes[$0]) })
        } catch {
            failure = "\(error)"
        }

        guard state != .killed else { return }
        state = .ended(failure: failure)
        // The remaining clients end with the process.
        simulation.schedule(after: .milliseconds(1)) { [self] in
            endClients()
            onEnd(self)
        }
    }

    private func ended(_ lane: SimulatedLane) async {
        // Recently cancelled tasks are still unwinding.
        await lane.loop.eventLoop.pause(.milliseconds(100))
        await noteLeaks(of: lane.lane)
    }

    private func noteLeaks(of lane: WorkerLane) async {
        let status = await lane.status
        if status.inFlight != 0 { leaks.append("\(name): \(status.inFlight) requests in flight") }
        if status.unconfirmed != 0 { leaks.append("\(name): \(status.unconfirmed) unconfirmed outcomes") }
        for provider in await lane.providerStatuses {
            if provider.concurrency.inFlight != 0 {
                leaks.append("\(name): \(provider.concurrency.inFlight) permits of the adaptive limit")
            }
            if provider.held != 0 { leaks.append("\(name): \(provider.held) parked requests") }
        }
    }

    /// SIGTERM.
    func drain() {
        guard state == .running else { return }
        state = .draining
        drainedAt = simulation.now
        simulation.spawn(on: lanes[0].loop) { [group] in await group.drain() }
    }

    /// SIGKILL.
    func kill() {
        guard isAlive else { return }
        state = .killed
        endClients()
    }

    /// Crashes the process because of a record that it runs.
    /// - Parameters:
    ///   - loop: the loop whose thread traps, and waits for the last commit while the other lanes go on. `nil`: the kernel kills the
    ///     process.
    ///   - then: called when the process has ended.
    func crash(on loop: EventLoop?, then: @escaping () -> Void) {
        guard isAlive else { return }
        state = .killed
        let end = { [self] in
            endClients()
            then()
        }
        guard let loop else { return end() }
        lanes.first { $0.loop.eventLoop === loop }?.loop.kill()
        crashHandler.run(on: loop, then: end)
    }

    private func endClients() {
        fleet.kill()
        for lane in lanes {
            lane.loop.kill()
            lane.source.kill()
            for sink in lane.sinks.made { sink.kill() }
        }
    }

    /// The client names of the process in the network.
    var clientIDs: [String] {
        lanes.indices.map { "\(name)-\($0)-c" } + lanes.flatMap(\.sinks.clientIDs) + fleet.clientIDs
    }

    var isAlive: Bool { state == .running || state == .draining }
}
