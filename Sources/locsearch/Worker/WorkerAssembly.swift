import EventLoop
import Foundation
import HTTPTransport
import Kafka
import LocationSearch
import Logging
import PlaceProviders
import Resilience
import TraceExport
import WorkerRuntime

/// One lane of a worker with what belongs to it.
struct WorkerPart: Sendable {
    let loop: EventLoop
    let lane: WorkerLane
    let http: HTTPTransport
    let searches: SearchWorker
    /// The providers that have an API key.
    let providers: [ProviderID]

    /// Has the lane do something on its loop, from a task of another one.
    ///
    /// A call alone would not do: the compiler leaves out the switch to an actor whose method only awaits what is not
    /// isolated, and that then runs where the caller does.
    func onLoop<Value: Sendable>(_ body: @escaping @Sendable (WorkerLane) async -> Value) async -> Value {
        await Task(executorPreference: loop) { [lane] in await body(lane) }.value
    }
}

/// Puts the lanes of a process together from settings.
struct WorkerAssembly: Sendable {
    let configuration: WorkerConfiguration
    /// Of the process, which its lanes share.
    let keys: ProviderKeys

    private let settings: Settings
    private let consumer: ConsumerConfiguration
    private let producer: ProducerConfiguration
    private let meters: WorkerMeters
    private let departure: DepartureBarrier
    private let traces: TraceExport?
    private let log: Logger
    /// The part of this process's transactional ids that tells it from the group's other members.
    ///
    /// A static member's next process takes over its name, which fences the last one off at once. Others need a name of
    /// their own each; the group's generation fences those that lost their partitions.
    private let instance: String
    /// What the names of the lanes in their fleet begin with: another one after each start.
    private let memberName: String

    /// - Parameter random: makes the names by which this process differs from others.
    /// - Parameter traces: of this process; `nil`: no request is traced.
    /// - Throws: `SettingsError` that names the setting.
    init(
        _ settings: Settings, random: some RandomNumberGenerator, traces: TraceExport?, log: Logger
    ) throws(SettingsError) {
        var random = random
        self.settings = settings
        self.traces = traces
        self.log = log
        configuration = settings.worker()
        keys = try ProviderKeys(settings)

        var (consumer, producer) = (try settings.consumer(), try settings.producer())
        consumer.statisticsInterval = settings.duration("kafka.statisticsInterval")
        producer.statisticsInterval = consumer.statisticsInterval
        (self.consumer, self.producer) = (consumer, producer)

        meters = WorkerMeters(topics: configuration.topics, group: consumer.groupID)
        departure = DepartureBarrier(lanes: configuration.loops)
        instance = consumer.groupInstanceID ?? Self.name(digits: 32, by: &random)
        memberName = Self.name(digits: 12, by: &random)
    }

    /// Returns a name that no other process has: hexadecimal digits.
    private static func name(digits: Int, by random: inout some RandomNumberGenerator) -> String {
        String((0..<digits).map { _ in "0123456789abcdef".randomElement(using: &random) ?? "0" })
    }

    private var hasBudgets: Bool { !settings.callsPerDay.isEmpty }

    // MARK: - What the lanes share

    /// Makes the way to the fleet's topic; `nil` where nothing is shared by words.
    /// - Parameter loop: where its producer lives.
    func makeLink(on loop: EventLoop) -> FleetLink? {
        guard settings.policies.values.contains(where: \.sharesByDemand) || hasBudgets else { return nil }

        var topic = FleetLink.Configuration(
            topic: configuration.topics.fleet, consumer: consumer, producer: producer)
        if hasBudgets { (topic.history, topic.isNeeded) = (BudgetTerms.history, true) }
        return FleetLink(topic, loop: loop, log: log)
    }

    // MARK: - A lane

    /// Makes a lane with a consumer, a producer and connections of its own.
    /// - Parameters:
    ///   - number: of the lane, from 0.
    ///   - loop: its own.
    /// - Throws: `KafkaError` that names the property.
    func makePart(_ number: Int, on loop: EventLoop, link: FleetLink?) async throws(KafkaError) -> WorkerPart {
        let http = HTTPTransport(loop: loop, configuration: settings.http)
        let services = keys.services(settings, traces == nil ? http : TracedHTTP(http))
        let searches = makeSearches(number, loop: loop)
        await searches.prepare(for: services.map(\.id))

        let selection = ProviderSelection(services: services, order: settings.providerOrder())
        let lane = try makeLane(
            number, loop: loop, interactor: SearchInteractor(selection: selection, worker: searches),
            searches: searches, link: link)
        return WorkerPart(loop: loop, lane: lane, http: http, searches: searches, providers: services.map(\.id))
    }

    private func makeSearches(_ number: Int, loop: EventLoop) -> SearchWorker {
        SearchWorker(
            executor: loop, policies: settings.policies, name: "\(memberName)-\(number)",
            budgets: settings.budgetPolicy(wallTime: { loop.wallNow }, log: log), scopes: keys.scopes,
            clock: LoopClock(loop), timekeeper: LoopTimekeeper(loop), taskExecutor: loop, random: loop.random,
            onTransition: { [log] in Self.report($1, of: $0, cause: $2, to: log) },
            onWasted: { [meters] in meters.calls.countWasted($1) },
            onCall: { [meters] in meters.calls.countEnded($0, $1, after: $2) },
            // Every lane reads every message of the fleet's topic.
            onIgnored: { [meters] in if number == 0 { meters.calls.countIgnoredMessage($0) } })
    }

    private func makeLane(
        _ number: Int, loop: EventLoop, interactor: SearchInteractor, searches: SearchWorker, link: FleetLink?
    ) throws(KafkaError) -> WorkerLane {
        var reading = consumer
        // Static members need a name each.
        if configuration.loops > 1 { reading.groupInstanceID = consumer.groupInstanceID.map { "\($0)-\(number)" } }

        var sending = producer
        sending.busyLinger = min(producer.linger * 4, .milliseconds(20))
        if configuration.delivery == .exactlyOnce {
            sending.transactionalID = Self.transactionalID(
                group: consumer.groupID, instance: instance, lane: number)
        }
        let makeProducer = { @Sendable [sending, log] () throws(KafkaError) -> any OutcomeSink in
            try KafkaProducer(loop: loop, configuration: sending, log: log)
        }
        var single = sending
        (single.sendsRecordsSingly, single.linger, single.busyLinger) = (true, .zero, .zero)
        let makeSingleProducer = { @Sendable [single, log] () throws(KafkaError) -> any OutcomeSink in
            try KafkaProducer(loop: loop, configuration: single, log: log)
        }

        return WorkerLane(
            loop: loop, configuration: configuration,
            source: try KafkaConsumer(loop: loop, configuration: reading, log: log),
            sink: try makeProducer(),
            makeSink: makeProducer,
            makeSingleSink: configuration.delivery == .atLeastOnce ? makeSingleProducer : nil, interactor: interactor,
            fleet: searches, link: link, departure: departure, meters: meters,
            tracing: traces.map { RequestTracing(tracer: $0.tracer, consumerGroup: consumer.groupID) }, log: log)
    }

    /// Makes the transactional id of a lane. It begins with the group and a hyphen, which permissions go by.
    ///
    /// Two producers with one id fence each other, so no two lanes of a cluster may have the same. The length of `instance`
    /// says where the group ends: group `a-b`, instance `c` differs from group `a`, instance `b-c`.
    static func transactionalID(group: String, instance: String, lane: Int) -> String {
        "\(group)-\(instance)-\(instance.utf8.count).\(lane)"
    }

    /// Writes one line for a breaker's change of state, not one for each request that meets it.
    private static func report(
        _ transition: CircuitBreaker.Transition, of provider: ProviderID, cause: SearchError?, to log: Logger
    ) {
        var metadata: Logger.Metadata = [
            "provider": "\(provider.rawValue)", "state": "\(transition.to.rawValue)",
            "reason": "\(transition.reason?.rawValue ?? "-")",
            "openFor": "\(transition.openFor.map(\.readable) ?? "-")",
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
        case (.paused, _):
            log.warning("provider asked for a pause; not asked until it is over", metadata: metadata)
        case (.halfOpen, _): log.info("provider is tried again", metadata: metadata)
        case (.closed, _) where transition.from == .paused:
            log.info("the pause is over; the provider is asked again", metadata: metadata)
        case (.closed, _): log.info("provider answers again", metadata: metadata)
        }
    }
}
