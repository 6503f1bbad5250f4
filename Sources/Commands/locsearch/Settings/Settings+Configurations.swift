import Foundation
import HTTPTransport
import Kafka
import LocationSearch
import Logging
import Observability
import PlaceProviders
import ProviderCalls
internal import QuotaSharing
import Resilience
import TraceExport
import WorkerRuntime

/// Converts the settings to the configurations of the worker's components. If a setting is not set, the default of the
/// configuration struct applies.
extension Settings {
    /// Checks that the settings are consistent with each other, and that the files they name can be read.
    /// - Throws: `SettingsError` with all mistakes.
    func validate() throws(SettingsError) {
        let mistakes = SettingsRule.all.compactMap { $0.mistake(in: self) }
        if !mistakes.isEmpty { throw SettingsError(all: mistakes) }
    }

    /// Refuses to use one topic for two purposes. For example, outcomes in the request topic would be processed as
    /// requests, and fleet messages or redrive marks would be misread.
    /// - Throws: `SettingsError` that names both settings.
    func requireSeparateTopics() throws(SettingsError) {
        var taken: [String: String] = [:]
        for name in Setting.all.map(\.name) where name.hasPrefix("topics.") {
            let topics = name == "topics.requests" ? topics.requestTopics.map(\.name) : [text(name)]
            for topic in topics {
                if let other = taken.updateValue(name, forKey: topic) {
                    throw SettingsError("\(name) is \"\(topic)\", as is \(other): expected different topics")
                }
            }
        }
    }

    /// Refuses limits shared by partitions if there are several request topics. Shares depend on the partitions of the
    /// first topic, so a worker without any of them would never get a share.
    /// - Throws: `SettingsError` that names the first such setting.
    func requireSharesWithSeveralTopics() throws(SettingsError) {
        let requests = topics.requestTopics
        guard requests.count > 1 else { return }

        for provider in Self.providerNames {
            let prefix = "providers.\(provider.name)."
            let hasLimit = self[prefix + "requestsPerSecond"] != nil || self[prefix + "methodLimits"] != nil
            guard hasLimit, text(prefix + "limitMode") == "by-partitions" else { continue }
            throw SettingsError(
                "\(prefix)limitMode is by-partitions, which requires a single requests topic, but topics.requests lists"
                    + " \(requests.count): use \(prefix)limitMode=shared, or one topic of requests"
            )
        }
    }

    /// The librdkafka properties by name.
    var properties: [String: String] { self["kafka.properties"].flatMap(Setting.properties) ?? [:] }

    func consumer() throws(SettingsError) -> ConsumerConfiguration {
        var consumer = ConsumerConfiguration(bootstrapServers: text("kafka.bootstrapServers"))
        consumer.groupID = text("kafka.groupId")
        consumer.groupInstanceID = self["kafka.groupInstanceId"]
        if let groupProtocol: ConsumerConfiguration.GroupProtocol = choice("kafka.groupProtocol") {
            consumer.groupProtocol = groupProtocol
        }
        consumer.security = try security()
        consumer.properties = properties
        return consumer
    }

    func producer() throws(SettingsError) -> ProducerConfiguration {
        var producer = ProducerConfiguration(bootstrapServers: text("kafka.bootstrapServers"))
        producer.security = try security()
        producer.properties = properties
        return producer
    }

    var topics: WorkerConfiguration.Topics {
        var topics = WorkerConfiguration.Topics()
        // The value was validated when it was loaded.
        if let requests = try? RequestTopic.list(text("topics.requests")) { topics.requestTopics = requests }
        topics.results = text("topics.results")
        topics.errors = text("topics.errors")
        topics.deadLetters = text("topics.deadLetters")
        topics.fleet = text("topics.fleet")
        return topics
    }

    func worker() -> WorkerConfiguration {
        var worker = WorkerConfiguration()
        worker.topics = topics
        worker.concurrency = integer("worker.concurrency")
        worker.loops = integer("worker.loops")
        worker.maxRequestBytes = integer("worker.maxRequestBytes")
        worker.timeLimits.maxAge = duration("worker.maxAge")
        if let deadline = duration("worker.deadline") { worker.timeLimits.deadline = deadline }
        if let deadline = duration("worker.maxDeadline") { worker.timeLimits.maxDeadline = deadline }
        if let grace = duration("worker.shutdownGrace") { worker.shutdownGrace = grace }
        if let interval = duration("worker.commitInterval") { worker.commitInterval = interval }
        worker.doneSetBytes = integer("worker.doneSetBytes")
        worker.requestSteps = flag("worker.requestSteps")
        if let fairBy = WorkerConfiguration.FairBy(text: text("worker.fairBy")) { worker.flows.fairBy = fairBy }
        worker.flows.fairness = fairness
        worker.flows.lookAheadBytes = integer("worker.lookAheadBytes")
        if let delivery: WorkerConfiguration.Delivery = choice("worker.delivery") { worker.delivery = delivery }
        if let ordering: WorkerConfiguration.Ordering = choice("worker.ordering") { worker.ordering = ordering }
        return worker
    }

    /// How classes and tenants share scarce capacity.
    var fairness: FairTerms {
        var terms = FairTerms()
        if let weights = self["worker.fairWeights"].flatMap(Setting.weights) { terms.weights = weights }
        return terms
    }

    var http: HTTPConfiguration {
        var http = HTTPConfiguration()
        http.proxy = self["http.proxy"]
        http.httpsProxy = httpsProxy
        http.noProxy = self["http.noProxy"] ?? ""
        http.caFile = self["http.caFile"]
        http.maxIdleConnections = integer("worker.concurrency")
        return http
    }

    /// The proxy for https URLs. Environment variables such as `HTTP_PROXY` apply to http URLs only, but a flag or a
    /// file entry applies to both.
    private var httpsProxy: String? {
        let (proxy, secureProxy) = (values["http.proxy"], self[Setting.httpsProxy.name])
        return switch proxy?.origin {
        case .environment: secureProxy
        case .flag: proxy?.text
        default: secureProxy ?? proxy?.text
        }
    }

    /// The HTTP configuration for requests to workers. It never uses a proxy, because a proxy is for calls that leave
    /// the network.
    var adminHTTP: HTTPConfiguration {
        var http = http
        (http.proxy, http.httpsProxy) = (nil, nil)
        return http
    }

    func providerOrder() -> [ProviderID] {
        Setting.entries(text("providers.order")).compactMap { ProviderID(rawValue: $0) }
    }

    static let providerNames: [(id: ProviderID, name: String)] = [
        (.googlePlaces, "googlePlaces"), (.googlePlacesLegacy, "googlePlacesLegacy"), (.hotpepper, "hotpepper"),
    ]

    /// The time zone that determines the beginning of each provider's day and month.
    var dayZones: [ProviderID: TimeZone] {
        Self.providerNames.reduce(into: [:]) { zones, provider in
            zones[provider.id] = TimeZone(identifier: text("providers.\(provider.name).dayBegins"))
        }
    }

    /// The policies of all providers, for one loop.
    var policies: [ProviderID: ProviderPolicy] {
        // bounded: a constant number of providers
        Dictionary(uniqueKeysWithValues: Self.providerNames.map { ($0.id, policy(below: "providers.\($0.name).")) })
    }

    private func policy(below prefix: String) -> ProviderPolicy {
        let loops = integer("worker.loops")
        var policy = ProviderPolicy(concurrency: max(1, integer("worker.concurrency") / loops))

        policy.retry.maxAttempts = integer(prefix + "maxAttempts")
        policy.rateLimit = number(prefix + "requestsPerSecond").map {
            RateLimit(perSecond: $0, burst: number(prefix + "burst"))
        }
        policy.methodLimits = (Setting.methodLimits(text(prefix + "methodLimits")) ?? [:]).mapValues {
            RateLimit(perSecond: $0)
        }
        policy.share =
            switch text(prefix + "limitMode") {
            case "perProcess": .perProcess(loops: loops)
            case "by-partitions": .byPartitions
            default: .byDemand
            }
        if let whenOpen: ProviderPolicy.WhenOpen = choice(prefix + "whenOpen") { policy.whenOpen = whenOpen }
        policy.sharesIdenticalCalls = flag(prefix + "singleFlight")
        policy.fairness = fairness
        policy.concurrency.isAdaptive = flag(prefix + "adaptiveConcurrency")

        policy.breaker.isEnabled = flag(prefix + "breaker.enabled")
        if let time = duration(prefix + "breaker.openDuration") { policy.breaker.openDuration = time }
        policy.breaker.minimumCalls = integer(prefix + "breaker.minimumCalls")
        return policy
    }

    var googlePlacesFields: GooglePlacesFields { GooglePlacesFields(text: text("googlePlaces.fields")) ?? .enterprise }

    var hotpepperResponse: HotpepperResponseType { choice("hotpepper.response") ?? .lite }

    func googleKey() throws(SettingsError) -> String? {
        try secret("googlePlaces.apiKey", orFile: "googlePlaces.apiKeyFile")
    }

    func hotpepperKey() throws(SettingsError) -> String? {
        try secret("hotpepper.apiKey", orFile: "hotpepper.apiKeyFile")
    }

    /// Returns the providers that have a key. The Google key is used by two providers.
    func configuredProviders() throws(SettingsError) -> [ProviderID] {
        let hotpepper = try hotpepperKey() == nil ? [] : ProviderKeys.ofHotpepper
        return try googleKey() == nil ? hotpepper : hotpepper + ProviderKeys.ofGoogle
    }
}

/// Creates the trace export from the settings.
extension Settings {
    /// Returns the trace export; `nil` without `tracing.endpoint`, so that tracing costs nothing.
    func traceExport(log: Logger) throws -> TraceExport? {
        guard let endpoint = self["tracing.endpoint"], endpoint != "off" else { return nil }
        var random = SystemRandomNumberGenerator()
        return try TraceExport(traceExportConfiguration(endpoint), seed: random.next(), log: log)
    }

    private func traceExportConfiguration(_ endpoint: String) -> TraceExportConfiguration {
        var configuration = TraceExportConfiguration(endpoint: endpoint)
        configuration.isTracesURL =
            values["tracing.endpoint"]?.origin == .environment("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT")
        let (host, pid) = (HostName.own ?? "", "\(ownProcessID)")
        configuration.attributes = ["host.name": host, "process.pid": pid, "service.instance.id": "\(host)-\(pid)"]
            .merging(self[Setting.resourceAttributes.name].flatMap(Setting.resourceAttributes) ?? [:]) { _, given in
                given
            }
        if let name = self[Setting.serviceName.name] ?? configuration.attributes["service.name"] {
            configuration.serviceName = name
        }
        configuration.headers = self["tracing.headers"].flatMap(Setting.headers) ?? [:]
        configuration.caFile = self["http.caFile"]
        configuration.serviceVersion = Version.current
        if let ratio = number("tracing.sampleRatio") { configuration.sampleRatio = ratio }
        configuration.ignoresParent = ignoresTraceParents
        if let timeout = duration(Setting.traceTimeout.name) { configuration.timeout = timeout }
        return configuration
    }
}
