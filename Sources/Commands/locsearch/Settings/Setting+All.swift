import HTTPTransport
import Kafka
import LocationSearch
import PlaceProviders
import ProviderCalls
internal import Resilience
import TraceExport
import WorkerRuntime

/// The table of settings. Default values are read from the configuration structs where possible, so that each is
/// written only once.
extension Setting {
    /// Every setting, in display order. Settings of `providers.default` stand for those of each provider.
    static let all: [Setting] =
        kafka + security + topics + worker + providers + limits + http + process + tracing
        + console

    /// Every name that is accepted: `all`, and the settings of single providers.
    static let accepted: [Setting] = all + overrides

    // MARK: - Kafka

    private static let consumer = ConsumerConfiguration(bootstrapServers: "")
    private static let producer = ProducerConfiguration(bootstrapServers: "")

    private static let kafka: [Setting] = described([
        Setting("kafka.bootstrapServers", .addresses, default: "localhost:9092"): "brokers to ask first",
        Setting("kafka.groupId", .text, default: consumer.groupID): "the group whose members share the requests",
        Setting("kafka.startFrom", .startPosition, default: consumer.startFrom.text):
            "where a group begins that has committed no offset yet: with all there is, what comes, or a time",
        Setting("kafka.groupInstanceId", .text): "makes the member static: a quick restart moves no partitions",
        Setting("kafka.assignor", .choice(["range", "roundrobin", "cooperative-sticky"])):
            "how partitions are shared; unset: range below librdkafka 2.6.1, then cooperative-sticky",
        Setting(
            "kafka.groupProtocol", .choice(ConsumerConfiguration.GroupProtocol.allCases.map(\.rawValue)),
            default: consumer.groupProtocol.rawValue):
            "who shares partitions: a member, or the broker (Kafka 4.0 and librdkafka 2.12 or newer)",
        Setting("kafka.linger", .duration(.zero ... .seconds(5), canBeOff: false), default: producer.linger.text):
            "how long an outcome waits for others while many come; up to 20ms more while the loop is busy",
        Setting("kafka.statisticsInterval", .duration(.seconds(1) ... .seconds(600), canBeOff: true), default: "5s"):
            "how often librdkafka reports on brokers and its queues, for the metrics",
        Setting("kafka.properties", .properties): "any librdkafka properties",
    ])

    private static let security: [Setting] = described([
        Setting("kafka.security.protocol", .choice(["plaintext", "ssl", "sasl_plaintext", "sasl_ssl"])):
            "how to speak to the brokers; unset: plaintext",
        Setting("kafka.security.caFile", .text): "PEM file with the authorities to trust; unset: the system's",
        Setting("kafka.security.certificateFile", .text): "PEM file with our certificate",
        Setting("kafka.security.keyFile", .text): "PEM file with our certificate's key",
        Setting("kafka.security.keyPassword", .text, isSecret: true): "password of that key",
        Setting("kafka.security.sasl.mechanism", .choice(["PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512", "OAUTHBEARER"])):
            "how to log in",
        Setting("kafka.security.sasl.username", .text): "whom to log in as",
        Setting("kafka.security.sasl.password", .text, isSecret: true): "password for it",
        Setting("kafka.security.sasl.passwordFile", .text): "file that holds the password, instead",
        Setting("kafka.security.oidc.tokenURL", .url(canBeOff: false)):
            "token endpoint of the OpenID provider, for OAUTHBEARER",
        Setting("kafka.security.oidc.clientId", .text): "the client's name at the OpenID provider",
        Setting("kafka.security.oidc.clientSecret", .text, isSecret: true): "the client's password there",
        Setting("kafka.security.oidc.clientSecretFile", .text): "file that holds that password, instead",
        Setting("kafka.security.oidc.scope", .text): "the access to ask for; unset: what the provider gives",
    ])

    private static let topics: [Setting] = {
        let topics = WorkerConfiguration.Topics()
        return described([
            Setting("topics.requests", .requestTopics, default: topics.requests):
                "requests; the program's own commands write to the first topic",
            Setting("topics.results", .topic, default: topics.results): "one record per request that succeeded",
            Setting("topics.errors", .topic, default: topics.errors): "one record per request that failed",
            Setting("topics.deadLetters", .topic, default: topics.deadLetters):
                "records that are no requests, untouched",
            Setting("topics.fleet", .topic, default: topics.fleet):
                "what workers tell each other about limits that they share by demand; one partition",
        ])
    }()

    // MARK: - Worker

    private static let worker: [Setting] = {
        let worker = WorkerConfiguration()
        let deadlines = Kind.duration(.milliseconds(1) ... .seconds(60), canBeOff: false)
        return described([
            Setting("worker.concurrency", .integer(1...65_536), default: "\(worker.concurrency)"):
                "most requests in flight in this process",
            Setting("worker.loops", .integer(1...64), default: "\(worker.loops)"):
                "event loops, each good for one core",
            Setting("worker.deadline", deadlines, default: worker.deadline.text):
                "the time a request has that names none",
            Setting("worker.maxDeadline", deadlines, default: worker.maxDeadline.text):
                "the most that a request's timeoutMs gets",
            Setting("worker.maxRequestBytes", .integer(1024...10_485_760), default: "\(worker.maxRequestBytes)"):
                "larger records are refused",
            Setting(
                "worker.maxAge", .duration(.seconds(1) ... .seconds(604_800), canBeOff: true),
                default: worker.maxAge?.text ?? "off"):
                "older requests end as expired",
            Setting(
                "worker.ordering", .choice(WorkerConfiguration.Ordering.allCases.map(\.rawValue)),
                default: worker.ordering.rawValue):
                "which outcomes leave in the order of their requests",
            Setting("worker.fairBy", .fairBy, default: "none"):
                "what tells tenants apart, who then have equal parts of what is scarce",
            Setting("worker.fairWeights", .weights): "tenants that have more than one part",
            Setting("worker.batchFloor", .number(0...1), default: "\(worker.fairness.batchFloor)"):
                "the part of a limit that batch requests get in any case while some wait",
            Setting("worker.lookAheadBytes", .integer(1_048_576...17_179_869_184), default: "\(worker.lookAheadBytes)"):
                "memory for requests that are read and wait for their turn, where classes or tenants are told apart",
            Setting(
                "worker.delivery", .choice(WorkerConfiguration.Delivery.allCases.map(\.rawValue)),
                default: worker.delivery.rawValue):
                "whether a crash may double outcomes, or transactions prevent it",
            Setting(
                "worker.shutdownGrace", .duration(.zero ... .seconds(3600), canBeOff: false),
                default: worker.shutdownGrace.text):
                "time to finish what is in flight at SIGTERM, and to commit it",
            Setting(
                "worker.commitInterval", .duration(.milliseconds(10) ... .seconds(60), canBeOff: false),
                default: worker.commitInterval.text):
                "finished work of so much time may be uncommitted; nothing begins beyond it",
            Setting("worker.doneSetBytes", .integer(0...32_767), default: "\(worker.doneSetBytes)"):
                "kept beside each committed offset: what is done beyond it, so that a crash does not repeat it",
            Setting("worker.requestSteps", .flag, default: worker.requestSteps ? "true" : "false"):
                "each outcome says in a header how its request waited and which calls were made for it",
            Setting("worker.allowNoProvider", .flag, default: "false"):
                "start although no provider has an API key: requests end as unauthorized",
        ])
    }()

    // MARK: - Providers

    private static let providers: [Setting] = described([
        Setting("googlePlaces.baseURL", .url(canBeOff: false), default: "https://places.googleapis.com"):
            "Places API (New)",
        Setting("googlePlaces.apiKey", .text, isSecret: true): "key for both Google APIs",
        Setting("googlePlaces.apiKeyFile", .text): "file that holds the key, instead",
        Setting("googlePlaces.fields", .googlePlacesFields, default: GooglePlacesFields.enterprise.text):
            "what the Places API (New) is asked for each place; the dearest field sets the price of a call",
        Setting("googlePlacesLegacy.baseURL", .url(canBeOff: false), default: "https://maps.googleapis.com"):
            "Places API, legacy",
        Setting("hotpepper.baseURL", .url(canBeOff: false), default: "https://webservice.recruit.co.jp"):
            "Hot Pepper Gourmet",
        Setting("hotpepper.apiKey", .text, isSecret: true): "its key",
        Setting("hotpepper.apiKeyFile", .text): "file that holds the key, instead",
        Setting(
            "hotpepper.response", .choice(HotpepperResponseType.allCases.map(\.rawValue)),
            default: HotpepperResponseType.lite.rawValue):
            "how much is asked of a shop: lite is a quarter of the bytes and lacks the sub-genre only",
        Setting(
            "providers.order", .list(["hotpepper", "google-places", "google-places-legacy"]),
            default: "hotpepper,google-places"):
            "whom auto asks, first to last",
    ])

    /// The time zone in which each provider's own quotas are reset at midnight.
    private static let dayZones: KeyValuePairs = [
        "googlePlaces": "America/Los_Angeles", "googlePlacesLegacy": "America/Los_Angeles", "hotpepper": "Asia/Tokyo",
    ]

    /// The same settings for one provider, which override those for all.
    static let overrides: [Setting] = dayZones.flatMap { provider, zone in
        limits.map { setting in
            var override = setting
            override.name = setting.name.replacing("providers.default.", with: "providers.\(provider).")
            override.fallback = setting.name
            if setting.name.hasSuffix(".dayBegins") { override.defaultValue = zone }
            return override
        }
    }

    /// The settings of `providers.default`, which apply to each provider that has none of its own.
    private static let limits: [Setting] = {
        let prefix = "providers.default."
        let policy = ProviderPolicy(concurrency: 1)
        return described([
            Setting(prefix + "maxAttempts", .integer(1...10), default: "\(policy.retry.maxAttempts)"):
                "calls for one request, the first included",
            Setting(prefix + "attemptTimeout", .duration(.milliseconds(1) ... .seconds(600), canBeOff: true)):
                "longest time of one call while a retry or the next provider can follow; unset: from recent latency",
            Setting(prefix + "requestsPerSecond", .number(0.001...1_000_000)): "limit of the API key",
            Setting(prefix + "burst", .number(1...1_000_000)): "requests at once after a pause",
            Setting(prefix + "limitMode", .choice(["shared", "by-partitions", "perProcess"]), default: "shared"):
                "whether all workers share the limit, by demand or by partitions, or each has it",
            Setting(prefix + "callsPerDay", .integer(1...1_000_000_000)):
                "most calls in a day, by all workers together; unset: no budget",
            Setting(prefix + "callsPerDayReserved", .budgetReserve, default: "0"):
                "calls of a day that are kept for interactive requests; batch requests get none of them",
            Setting(prefix + "dayBegins", .timeZone):
                "the time zone at whose midnight the day of callsPerDay begins; unset: the provider's own",
            Setting(prefix + "retryBudget", .number(0...1), default: plain(policy.budget.ratio)):
                "most retries per request, over 10 s",
            Setting(
                prefix + "whenOpen", .choice(ProviderPolicy.WhenOpen.allCases.map(\.rawValue)),
                default: policy.whenOpen.rawValue):
                "what an open breaker does with requests: fail them, or hold them back",
            Setting(prefix + "breaker.enabled", .flag, default: "\(policy.breaker.isEnabled)"):
                "stop calling a provider that fails",
            Setting(
                prefix + "breaker.openDuration", .duration(.milliseconds(1) ... .seconds(600), canBeOff: false),
                default: policy.breaker.openDuration.text):
                "pause before a probe",
            Setting(
                prefix + "breaker.minimumCalls", .integer(1...100_000), default: "\(policy.breaker.minimumCalls)"):
                "calls in 10 s before the breaker may open",
            Setting(prefix + "singleFlight", .flag, default: "\(policy.sharesIdenticalCalls)"):
                "identical searches in flight share one call",
            Setting(prefix + "adaptiveConcurrency", .flag, default: "\(policy.concurrency.isAdaptive)"):
                "fewer requests in flight when the provider slows",
        ])
    }()

    private static let http: [Setting] = {
        return described([
            Setting("http.proxy", .proxy): "proxy for provider calls; as a variable, for those to http URLs only",
            Setting("http.httpsProxy", .proxy): "proxy for provider calls to https URLs",
            Setting("http.noProxy", .text): "hosts that are called without a proxy, such as .example,10.0.0.1",
            Setting("http.caFile", .text): "PEM file with the authorities to trust; unset: the system's",
        ])
    }()

    // MARK: - Process

    private static let process: [Setting] = described([
        Setting("admin.host", .text, default: "127.0.0.1"): "address of /livez /readyz /metrics /status",
        Setting("admin.token", .text, isSecret: true):
            "clients of /metrics and /status must send it as bearer token; at least 16 characters",
        Setting("admin.tokenFile", .text): "file that holds the token, instead; read again when it changes",
        Setting("admin.port", .integer(0...65_535), default: "8080"): "their port; 0: any free one, printed",
        Setting(
            "log.level", .choice(["trace", "debug", "info", "notice", "warning", "error", "critical"]),
            default: "info"):
            "least severe lines to write",
        Setting("log.format", .choice(["json", "text"]), default: "json"): "one JSON object a line, or text for people",
    ])

    // MARK: - Traces

    private static let tracing: [Setting] = {
        let tracing = TraceExportConfiguration()
        return described([
            Setting("tracing.endpoint", .url(canBeOff: true)):
                "the OpenTelemetry collector that gets traces by OTLP over HTTP; unset: off",
            Setting("tracing.headers", .headers, isSecret: true): "headers for the collector, such as a token",
            Setting("tracing.caFile", .text): "PEM file with the authorities to trust; unset: the system's",
            Setting("tracing.sampleRatio", .number(0...1), default: plain(tracing.sampleRatio)):
                "part of the requests that is traced where the record names no trace",
            Setting("tracing.log", .flag, default: "false"): "write the steps of traced requests to the log as well",
            Setting(
                "tracing.timeout", .duration(.milliseconds(100) ... .seconds(60), canBeOff: false),
                default: tracing.timeout.text):
                "longest time of one export",
            Setting("tracing.queueSize", .integer(tracing.batchSize...1_000_000), default: "\(tracing.queueSize)"):
                "most spans that wait to be exported; more are dropped",
            Setting("tracing.serviceName", .text, default: tracing.serviceName): "the worker's name in traces",
            Setting("tracing.attributes", .headers): "what traces tell of the worker beside its name",
            Setting("tracing.uiURL", .text):
                "page of a trace, with {traceId}, for links of `explain` and the console; unset: no links",
        ])
    }()
}
