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

/// Assembles the lanes of a process from settings.
struct WorkerAssembly: Sendable {
    /// The interval of librdkafka's statistics, which the metrics use. It is below the usual interval of scrapes.
    private static let statisticsInterval = Duration.seconds(15)

    /// The process's API keys, shared by all lanes.
    let keys: ProviderKeys

    private let lanes: LaneAssembly
    private let settings: Settings
    private let consumer: ConsumerConfiguration
    private let producer: ProducerConfiguration
    private let traces: TraceExport?
    private let log: Logger
    /// The part of the transactional ids that distinguishes this process from other members of the group.
    ///
    /// A static member uses its instance id, so that its successor fences it off at once. Other members use a unique
    /// name. If they lose their partitions, the generation of the group fences them.
    private let instance: String

    /// - Parameter random: generates the unique names of this process.
    /// - Parameter traces: the trace export of this process; `nil`: no request is traced.
    /// - Throws: `SettingsError` that names the setting.
    init(
        _ settings: Settings, random: some RandomNumberGenerator, traces: TraceExport?, log: Logger
    ) throws(SettingsError) {
        var random = random
        (self.settings, self.traces, self.log) = (settings, traces, log)
        keys = try ProviderKeys(settings)

        var (consumer, producer) = (try settings.consumer(), try settings.producer())
        // Brokers show this name for a group's members. librdkafka's default is the same for all of them.
        if let name = HostName.worker {
            consumer.properties["client.id"] = consumer.properties["client.id"] ?? name
            producer.properties["client.id"] = producer.properties["client.id"] ?? name
        }
        consumer.statisticsInterval = Self.statisticsInterval
        producer.statisticsInterval = consumer.statisticsInterval
        (self.consumer, self.producer) = (consumer, producer)
        instance = consumer.groupInstanceID ?? Self.name(digits: 32, by: &random)

        var configuration = settings.worker()
        configuration.name = HostName.worker
        var lanes = LaneAssembly(
            configuration, name: Self.name(digits: 12, by: &random), policies: settings.policies,
            meters: WorkerMeters(topics: configuration.topics, group: consumer.groupID), log: log)
        lanes.order = settings.providerOrder()
        if !settings.budgets.isEmpty {
            lanes.makeBudgets = { loop in settings.budgetPolicy(wallTime: { loop.wallNow }, log: log) }
        }
        lanes.controls = ControlPolicy(
            worker: HostName.worker ?? "worker", concurrency: configuration.concurrency, loops: configuration.loops,
            rates: settings.policies.compactMapValues { $0.rateLimit?.perSecond },
            setLogLevel: { LineLogHandler.setLevelForAll($0.flatMap { Logger.Level(rawValue: $0) }) })
        lanes.tracing = traces.map { RequestTracing(tracer: $0.tracer, consumerGroup: consumer.groupID) }
        lanes.onTransition = { Self.report($1, of: $0, cause: $2, to: log) }
        lanes.onBudget = { budget, time in
            let metadata: Logger.Metadata = ["account": "\(budget.account)", "opensIn": "\(time?.readable ?? "-")"]
            if time == nil {
                log.info("a budget allows calls again", metadata: metadata)
            } else {
                log.error("a budget is used up; no calls until its next \(budget.span.rawValue)", metadata: metadata)
            }
        }
        self.lanes = lanes
    }

    /// Returns a unique name of hexadecimal digits.
    private static func name(digits: Int, by random: inout some RandomNumberGenerator) -> String {
        String((0..<digits).map { _ in "0123456789abcdef".randomElement(using: &random) ?? "0" })
    }

    var configuration: WorkerConfiguration { lanes.configuration }

    /// Returns the connection to the fleet topic; `nil` if the fleet topic is not used.
    /// - Parameter loop: the loop of its producer.
    func makeLink(on loop: EventLoop) -> FleetLink? {
        let codec = FleetCodec(group: consumer.groupID, requestsTopic: configuration.topics.requests)
        return lanes.makeLink(.kafka(codec, consumer: consumer, producer: producer, loop: loop, log: log), on: loop)
    }

    /// Returns the component that applies control orders to the process.
    /// - Parameter loop: the loop of the first lane.
    func makeControls(on loop: EventLoop) -> FleetControls? { lanes.makeControls(on: loop) }

    // MARK: - Lanes

    /// Creates a lane with a dedicated consumer and producer.
    /// - Parameters:
    ///   - number: the lane's number, from 0.
    ///   - loop: the lane's event loop.
    ///   - http: the lane's connections.
    /// - Throws: `KafkaError` that names the property.
    func makeLane(
        _ number: Int, on loop: EventLoop, http: HTTPTransport, link: FleetLink?
    ) throws(KafkaError) -> WorkerLane {
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

    /// Returns the connections of a lane to the providers.
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

    /// Logs one line for a breaker's change of state, and none for the requests that it affects.
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
        // The order itself is logged when it begins and when it ends.
        case (.open, .pausedByOrder): break
        case (.closed, _) where transition.from == .open: break
        case (.open, .keyRefused):
            log.error("provider rejects the API key; calls are paused, check the key", metadata: metadata)
        case (.open, .quotaUsedUp):
            log.error("the key's quota at the provider is used up; calls are paused", metadata: metadata)
        case (.open, _): log.warning("provider is failing; calls are paused", metadata: metadata)
        case (.paused, _):
            log.warning("provider requested a pause; calls are paused", metadata: metadata)
        case (.halfOpen, _): log.info("provider is probed", metadata: metadata)
        case (.closed, _) where transition.from == .paused:
            log.info("the pause has ended; calls resume", metadata: metadata)
        case (.closed, _): log.info("provider has recovered", metadata: metadata)
        }
    }
}
