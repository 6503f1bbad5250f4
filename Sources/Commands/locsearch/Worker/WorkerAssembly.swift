import EventLoop
import Foundation
import HTTPTransport
import Kafka
import LocationSearch
import Logging
import Observability
import PlaceProviders
import ProviderCalls
import QuotaSharing
import Resilience
import TraceExport
import WorkerRuntime

/// Puts the lanes of a process together from settings.
struct WorkerAssembly: Sendable {
    /// The process's API keys, which its lanes share.
    let keys: ProviderKeys

    private let lanes: LaneAssembly
    private let settings: Settings
    private let consumer: ConsumerConfiguration
    private let producer: ProducerConfiguration
    private let traces: TraceExport?
    private let log: Logger
    /// The part of this process's transactional ids that tells it from the group's other members.
    ///
    /// A static member's next process takes over its name, which fences the last one off at once. Others need a name of
    /// their own each; the group's generation fences those that lost their partitions.
    private let instance: String

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
        keys = try ProviderKeys(settings)

        var (consumer, producer) = (try settings.consumer(), try settings.producer())
        // Brokers tell a group's members by this name, in which librdkafka's default says nothing.
        if let host = HostName.own {
            consumer.properties["client.id"] = consumer.properties["client.id"] ?? host
            producer.properties["client.id"] = producer.properties["client.id"] ?? host
        }
        consumer.statisticsInterval = settings.duration("kafka.statisticsInterval")
        producer.statisticsInterval = consumer.statisticsInterval
        (self.consumer, self.producer) = (consumer, producer)
        instance = consumer.groupInstanceID ?? Self.name(digits: 32, by: &random)

        var configuration = settings.worker()
        configuration.name = HostName.own
        var lanes = LaneAssembly(
            configuration, name: Self.name(digits: 12, by: &random), policies: settings.policies,
            meters: WorkerMeters(topics: configuration.topics, group: consumer.groupID), log: log)
        lanes.order = settings.providerOrder()
        lanes.scopes = keys.scopes
        if !settings.callsPerDay.isEmpty {
            lanes.makeBudgets = { loop in settings.budgetPolicy(wallTime: { loop.wallNow }, log: log) }
        }
        lanes.controls = ControlPolicy(
            worker: HostName.own ?? "worker",
            fleet: QuotaScopes(group: consumer.groupID, requestsTopic: configuration.topics.requests).fleet,
            concurrency: configuration.concurrency, loops: configuration.loops,
            rates: settings.policies.compactMapValues { $0.rateLimit?.perSecond },
            setLogLevel: { LineLogHandler.setLevelForAll($0.flatMap { Logger.Level(rawValue: $0) }) })
        lanes.tracing = traces.map { RequestTracing(tracer: $0.tracer, consumerGroup: consumer.groupID) }
        lanes.onTransition = { Self.report($1, of: $0, cause: $2, to: log) }
        self.lanes = lanes
    }

    /// Returns a name that no other process has: hexadecimal digits.
    private static func name(digits: Int, by random: inout some RandomNumberGenerator) -> String {
        String((0..<digits).map { _ in "0123456789abcdef".randomElement(using: &random) ?? "0" })
    }

    var configuration: WorkerConfiguration { lanes.configuration }

    /// Makes the way to the fleet's topic; `nil` where nothing is shared by words.
    /// - Parameter loop: where its producer lives.
    func makeLink(on loop: EventLoop) -> FleetLink? {
        lanes.makeLink(.kafka(consumer: consumer, producer: producer, loop: loop, log: log), on: loop)
    }

    /// Makes what has the process follow orders of people.
    /// - Parameter loop: that of the first lane.
    func makeControls(on loop: EventLoop) -> FleetControls? { lanes.makeControls(on: loop) }

    // MARK: - A lane

    /// Makes a lane with a consumer and a producer of its own.
    /// - Parameters:
    ///   - number: of the lane, from 0.
    ///   - loop: its own.
    ///   - http: its own connections.
    /// - Throws: `KafkaError` that names the property.
    func makeLane(
        _ number: Int, on loop: EventLoop, http: HTTPTransport, link: FleetLink?
    ) throws(KafkaError) -> AssembledLane {
        let sending = sending(number)
        var single = sending
        (single.sendsRecordsSingly, single.linger, single.busyLinger) = (true, .zero, .zero)

        let clients = LaneAssembly.Clients(
            source: try KafkaConsumer(loop: loop, configuration: reading(number), log: log),
            makeSink: { [sending, log] () throws(KafkaError) -> any OutcomeSink in
                try KafkaProducer(loop: loop, configuration: sending, log: log)
            },
            makeSingleSink: { [single, log] () throws(KafkaError) -> any OutcomeSink in
                try KafkaProducer(loop: loop, configuration: single, log: log)
            },
            services: keys.services(settings, http: traces == nil ? http : TracedHTTP(http)))
        return try lanes.makeLane(number, on: loop, clients: clients, link: link)
    }

    /// Makes the connections of a lane to the providers.
    func makeTransport(on loop: EventLoop) -> HTTPTransport {
        HTTPTransport(loop: loop, configuration: settings.http)
    }

    private func reading(_ number: Int) -> ConsumerConfiguration {
        var reading = consumer
        reading.groupInstanceID = LaneAssembly.instanceID(
            consumer.groupInstanceID, lane: number, of: configuration.loops)
        return reading
    }

    private func sending(_ number: Int) -> ProducerConfiguration {
        var sending = producer
        sending.busyLinger = min(producer.linger * 4, .milliseconds(20))
        if configuration.delivery == .exactlyOnce {
            sending.transactionalID = LaneAssembly.transactionalID(
                group: consumer.groupID, instance: instance, lane: number)
        }
        return sending
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
        // The order itself has a line, when it begins and when it ends.
        case (.open, .pausedByOrder): break
        case (.closed, _) where transition.from == .open: break
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
