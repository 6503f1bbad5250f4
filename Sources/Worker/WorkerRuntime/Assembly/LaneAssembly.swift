public import EventLoop
public import Kafka
public import LocationSearch
public import Logging
public import ProviderCalls
public import QuotaSharing
public import Resilience

/// Puts the lanes of one process together, all but what reaches outside: the clients of Kafka and the services of the providers
/// are handed in, so that a simulated worker is assembled as a real one is.
public struct LaneAssembly: Sendable {
    /// The parts of one lane that reach outside of the process. All of it lives on the lane's loop.
    public struct Clients: Sendable {
        /// The consumer.
        public var source: any RequestSource
        /// Makes the producer, and another one when that has failed for good.
        public var makeSink: @Sendable () throws(KafkaError) -> any OutcomeSink
        /// Makes a producer that puts each record into a batch of its own. Used with at-least-once alone.
        public var makeSingleSink: @Sendable () throws(KafkaError) -> any OutcomeSink
        /// The providers that have an API key.
        public var services: [any PlaceService]

        public init(
            source: any RequestSource, makeSink: @escaping @Sendable () throws(KafkaError) -> any OutcomeSink,
            makeSingleSink: @escaping @Sendable () throws(KafkaError) -> any OutcomeSink,
            services: [any PlaceService]
        ) {
            self.source = source
            self.makeSink = makeSink
            self.makeSingleSink = makeSingleSink
            self.services = services
        }
    }

    public let configuration: WorkerConfiguration
    /// The prefix of the lanes' names in their fleet: unique in the fleet, and another one after each start.
    private let name: String
    private let policies: [ProviderID: ProviderPolicy]
    private let meters: WorkerMeters
    private let departure: DepartureBarrier
    private let loneTurn = LoneTurn()
    private let log: Logger

    /// The providers that `auto` asks, best first.
    public var order: [ProviderID] = [.hotpepper, .googlePlaces]
    /// Whose quota each provider's calls count for.
    public var scopes: [ProviderID: QuotaScope] = [:]
    /// Makes a lane's view of the daily budgets, by the wall clock of its loop; `nil`: no provider has a budget.
    public var makeBudgets: (@Sendable (EventLoop) -> BudgetPolicy?)?
    /// Starts the trace of each request; `nil`: none is traced.
    public var tracing: RequestTracing?
    /// What orders of people may change; `nil`: the lanes follow none.
    public var controls: ControlPolicy?
    /// Told of each breaker's change of state and of the failure that opened it.
    public var onTransition: @Sendable (ProviderID, CircuitBreaker.Transition, SearchError?) -> Void = { _, _, _ in }

    /// - Parameter policies: by provider; one that is missing has the defaults.
    public init(
        _ configuration: WorkerConfiguration, name: String, policies: [ProviderID: ProviderPolicy],
        meters: WorkerMeters, log: Logger
    ) {
        self.configuration = configuration
        self.name = name
        self.policies = policies
        self.meters = meters
        self.log = log
        departure = DepartureBarrier(lanes: configuration.loops)
    }

    // MARK: - What the lanes share

    /// Makes the way to the fleet's topic; `nil` where lanes have nothing to say to other workers.
    /// - Parameter loop: where the link's clients live.
    public func makeLink(_ clients: FleetTopicClients, on loop: EventLoop) -> FleetLink? {
        let hasBudgets = makeBudgets != nil
        let sharesQuota = policies.values.contains(where: \.sharesByDemand)
        guard hasBudgets || sharesQuota || controls != nil else { return nil }

        var topic = FleetLink.Configuration(topic: configuration.topics.fleet)
        topic.sharesQuota = sharesQuota
        if controls != nil { topic.history = ControlTerms.history }
        if hasBudgets { (topic.history, topic.isNeeded) = (BudgetTerms.history, true) }
        return FleetLink(topic, clients: clients, loop: loop, log: log)
    }

    /// Makes what has the process follow orders of people; `nil` where it follows none.
    /// - Parameter loop: where it lives: that of the first lane.
    public func makeControls(on loop: EventLoop) -> FleetControls? {
        controls.map { FleetControls($0, name: name, loop: loop, log: log) }
    }

    // MARK: - A lane

    /// Makes a lane.
    /// - Parameters:
    ///   - number: of the lane in its process, from 0.
    ///   - loop: the lane's own.
    /// - Throws: why a client cannot be made.
    public func makeLane(
        _ number: Int, on loop: EventLoop, clients: Clients, link: FleetLink?
    ) throws(KafkaError) -> AssembledLane {
        let searches = makeSearches(number, on: loop)
        let selection = ProviderSelection(services: clients.services, order: order)

        let lane = WorkerLane(
            loop: loop, configuration: configuration, source: clients.source, sink: try clients.makeSink(),
            makeSink: clients.makeSink,
            makeSingleSink: configuration.delivery == .atLeastOnce ? clients.makeSingleSink : nil,
            interactor: SearchInteractor(selection: selection, worker: searches), calls: searches, fleet: searches,
            link: link,
            departure: departure, loneTurn: loneTurn, meters: meters, tracing: tracing, log: log)
        return AssembledLane(loop: loop, lane: lane, searches: searches, providers: clients.services.map(\.id))
    }

    private func makeSearches(_ number: Int, on loop: EventLoop) -> SearchWorker {
        SearchWorker(
            executor: loop, policies: policies, name: "\(name)-\(number)", budgets: makeBudgets?(loop), scopes: scopes,
            clock: LoopClock(loop), timekeeper: LoopTimekeeper(loop), taskExecutor: loop, random: loop.random,
            onTransition: onTransition,
            onWasted: { [meters] in meters.calls.countWasted($1) },
            onCall: { [meters] in meters.calls.countEnded($0, $1, after: $2) },
            // Every lane reads every message of the fleet's topic.
            onIgnored: { [meters] in if number == 0 { meters.calls.countIgnoredMessage($0) } })
    }

    // MARK: - Names

    /// Returns the name of a lane as a static member of its group. Lanes of one process need a name each.
    /// - Parameter instance: that of the process; `nil`: its lanes are no static members.
    public static func instanceID(_ instance: String?, lane number: Int, of loops: Int) -> String? {
        loops > 1 ? instance.map { "\($0)-\(number)" } : instance
    }

    /// Makes the transactional id of a lane. It begins with the group and a hyphen, which permissions go by.
    ///
    /// Two producers with one id fence each other, so no two lanes of a cluster may have the same. The length of `instance`
    /// says where the group ends: group `a-b`, instance `c` differs from group `a`, instance `b-c`.
    /// - Parameter instance: the process's name as a static member, or one that no other process has.
    public static func transactionalID(group: String, instance: String, lane number: Int) -> String {
        "\(group)-\(instance)-\(instance.utf8.count).\(number)"
    }
}
