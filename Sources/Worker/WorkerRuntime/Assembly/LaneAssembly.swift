package import EventLoop
package import Kafka
package import LocationSearch
package import Logging
package import ProviderCalls
package import QuotaSharing
package import Resilience

/// Assembles the lanes of one process from injected Kafka clients and provider services. A simulated worker is
/// therefore assembled exactly as a real one.
package struct LaneAssembly: Sendable {
    /// The parts of one lane that do I/O. All of them live on the lane's loop.
    package struct Clients: Sendable {
        package var source: any RequestSource
        /// Makes the producer, and its replacement after a fatal error.
        package var makeSink: SinkMaker
        /// Makes a producer whose batches hold one record each. Used with at-least-once delivery only.
        package var makeSingleSink: SinkMaker
        /// The providers that have an API key.
        package var services: [any PlaceService]

        package init(
            source: any RequestSource, makeSink: @escaping SinkMaker,
            makeSingleSink: @escaping SinkMaker,
            services: [any PlaceService]
        ) {
            self.source = source
            (self.makeSink, self.makeSingleSink, self.services) = (makeSink, makeSingleSink, services)
        }
    }

    package let configuration: WorkerConfiguration
    /// The prefix of the lanes' names in the fleet: unique in the fleet, and new after each start.
    private let name: String
    private let policies: [ProviderID: ProviderPolicy]
    private let meters: WorkerMeters
    private let departure: DepartureBarrier
    private let exclusiveLock = ExclusiveLock()
    private let log: Logger

    /// The order in which `auto` tries the providers, preferred first.
    package var order: [ProviderID] = [.hotpepper, .googlePlaces]
    /// Makes a lane's view of the daily call budgets, by the wall clock of its loop. `nil`: no provider has a budget.
    package var makeBudgets: (@Sendable (EventLoop) -> BudgetPolicy?)?
    /// Starts the trace of each request. `nil`: requests are not traced.
    package var tracing: RequestTracing?
    /// The settings that control orders may change. `nil`: the lanes ignore control orders.
    package var controls: ControlPolicy?
    /// Called when a breaker changes its state, with the failure that opened it.
    package var onTransition: @Sendable (ProviderID, CircuitBreaker.Transition, SearchError?) -> Void = { _, _, _ in }
    package var onBudget: @Sendable (Budget, Duration?) -> Void = { _, _ in }

    /// - Parameter policies: by provider; the defaults apply to providers that are missing.
    package init(
        _ configuration: WorkerConfiguration, name: String, policies: [ProviderID: ProviderPolicy],
        meters: WorkerMeters, log: Logger
    ) {
        self.configuration = configuration
        (self.name, self.policies, self.meters, self.log) = (name, policies, meters, log)
        departure = DepartureBarrier(lanes: configuration.loops)
    }

    // MARK: - What the lanes share

    /// Makes the link to the fleet topic.
    /// - Parameter loop: the loop of the link's clients.
    /// - Returns: `nil` if the lanes use neither daily budgets, shared quota nor controls.
    package func makeLink(_ clients: FleetTopicClients, on loop: EventLoop) -> FleetLink? {
        let hasBudgets = makeBudgets != nil
        let sharesQuota = policies.values.contains(where: \.sharesByDemand)
        guard hasBudgets || sharesQuota || controls != nil else { return nil }

        var topic = FleetLink.Configuration(topic: configuration.topics.fleet)
        topic.sharesQuota = sharesQuota
        if hasBudgets || controls != nil { topic.history = ReplicatedLogTerms.history }
        topic.isNeeded = hasBudgets
        return FleetLink(topic, clients: clients, loop: loop, log: log)
    }

    /// Makes the actor that applies control orders to the process; `nil` if controls are disabled.
    /// - Parameter loop: the loop of the first lane.
    package func makeControls(on loop: EventLoop) -> FleetControls? {
        controls.map { FleetControls($0, name: name, loop: loop, log: log) }
    }

    // MARK: - A lane

    /// Makes a lane.
    /// - Parameters:
    ///   - number: the index of the lane in its process, from 0.
    ///   - loop: the lane's own loop.
    /// - Throws: the reason why a client cannot be made.
    package func makeLane(
        _ number: Int, on loop: EventLoop, clients: Clients, link: FleetLink?
    ) throws(KafkaError) -> WorkerLane {
        let selection = ProviderSelection(services: clients.services, order: order)
        return WorkerLane(
            loop: loop, configuration: configuration, source: clients.source, sink: try clients.makeSink(),
            makeSink: clients.makeSink,
            makeSingleSink: configuration.delivery == .atLeastOnce ? clients.makeSingleSink : nil,
            providers: LaneProviders(makeSearches(number, on: loop), selection: selection), link: link,
            departure: departure, exclusiveLock: exclusiveLock, meters: meters, tracing: tracing, log: log)
    }

    private func makeSearches(_ number: Int, on loop: EventLoop) -> SearchWorker {
        SearchWorker(
            policies: policies, name: "\(name)-\(number)", budgets: makeBudgets?(loop),
            clock: LoopClock(loop), timekeeper: LoopTimekeeper(loop), random: loop.random,
            observer: CallObserver(
                onTransition: onTransition, onBudget: onBudget, onWasted: { [meters] in meters.calls.countWasted($1) },
                onUnreadable: { [meters] in meters.calls.countUnreadable($1, from: $0) },
                onCall: { [meters] in meters.calls.countEnded($0, $1, after: $2) }))
    }

    // MARK: - Names

    /// Returns the static member id (`group.instance.id`) of a lane. Each lane of a process needs a different one.
    /// - Parameter instance: the id of the process; `nil`: its lanes are not static members.
    package static func instanceID(_ instance: String?, lane number: Int, of loops: Int) -> String? {
        loops > 1 ? instance.map { "\($0)-\(number)" } : instance
    }

    /// Makes the transactional id of a lane. It begins with the group and a hyphen, so that ACLs can match it by
    /// prefix.
    ///
    /// Two producers with the same id fence each other, so every lane of a cluster needs a different one. The length of
    /// `instance` marks the end of the group: group `a-b`, instance `c` differs from group `a`, instance `b-c`.
    /// - Parameter instance: the static member id of the process, or an id that no other process uses.
    package static func transactionalID(group: String, instance: String, lane number: Int) -> String {
        "\(group)-\(instance)-\(instance.utf8.count).\(number)"
    }
}
