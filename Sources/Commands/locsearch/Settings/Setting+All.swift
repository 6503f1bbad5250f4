import Console
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
    /// Every setting by subject, in display order.
    static let subjects: [(title: String, settings: [Setting])] = [
        ("Brokers", kafka), ("TLS and logins", security), ("Topics", topics), ("The worker", worker),
        ("Providers and keys", providers), ("Limits of each provider", limits), ("Connections to providers", http),
        ("Admin endpoints and log", process), ("Traces", tracing), ("The console", console),
    ]

    /// Every setting, in display order. Settings of `providers.default` stand for those of each provider.
    static let all = subjects.flatMap(\.settings)

    /// Every name that is accepted: `all`, and the settings of single providers.
    static let accepted: [Setting] = all + overrides

    /// Every value that is read: `accepted`, and what only variables set.
    static let read: [Setting] = accepted + variablesOnly

    /// The values that only variables of other programs set.
    static let variablesOnly = [httpsProxy, traceTimeout, serviceName, resourceAttributes]

    // MARK: - Kafka

    private static let consumer = ConsumerConfiguration(bootstrapServers: "")

    private static let kafka: [Setting] = described([
        Setting("kafka.bootstrapServers", .addresses, default: "localhost:9092"): "brokers for the first connection",
        Setting("kafka.groupId", .text, default: consumer.groupID): "consumer group of the workers",
        Setting("kafka.groupInstanceId", .text): "makes the member static: a quick restart moves no partitions",
        Setting(
            "kafka.groupProtocol", .choice(ConsumerConfiguration.GroupProtocol.allCases.map(\.rawValue)),
            default: consumer.groupProtocol.rawValue):
            "whether a member (classic) or the broker assigns partitions (Kafka 4.0, librdkafka 2.12 or newer)",
        Setting("kafka.properties", .properties): "other librdkafka properties",
    ])

    private static let security: [Setting] = described([
        Setting("kafka.security.protocol", .choice(["plaintext", "ssl", "sasl_plaintext", "sasl_ssl"])):
            "protocol of the connections to the brokers; unset: plaintext",
        Setting("kafka.security.caFile", .text): "PEM file with the authorities to trust; unset: the system's",
        Setting("kafka.security.certificateFile", .text): "PEM file with the client's certificate",
        Setting("kafka.security.keyFile", .text): "PEM file with the key of the client's certificate",
        Setting("kafka.security.keyPassword", .text, isSecret: true): "password of that key",
        Setting("kafka.security.sasl.mechanism", .choice(["PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512", "OAUTHBEARER"])):
            "SASL mechanism of the login",
        Setting("kafka.security.sasl.username", .text): "user name of the login",
        Setting("kafka.security.sasl.password", .text, isSecret: true): "password of that user",
        Setting("kafka.security.sasl.passwordFile", .text): "file that holds the password, instead",
        Setting("kafka.security.oidc.tokenURL", .url(canBeOff: false)):
            "token endpoint of the OpenID provider, for OAUTHBEARER",
        Setting("kafka.security.oidc.clientId", .text): "client ID at the OpenID provider",
        Setting("kafka.security.oidc.clientSecret", .text, isSecret: true): "client secret at the OpenID provider",
        Setting("kafka.security.oidc.clientSecretFile", .text): "file that holds the client secret, instead",
    ])

    private static let topics: [Setting] = {
        let topics = WorkerConfiguration.Topics()
        return described([
            Setting("topics.requests", .requestTopics, default: topics.requests):
                "requests; commands such as `locsearch search` write to the first topic",
            Setting("topics.results", .topic, default: topics.results): "one record per request that succeeded",
            Setting("topics.errors", .topic, default: topics.errors): "one record per request that failed",
            Setting("topics.deadLetters", .topic, default: topics.deadLetters):
                "records that are not valid requests, unchanged",
            Setting("topics.fleet", .topic, default: topics.fleet):
                "messages between workers: quota shares, daily budgets and controls; one partition",
        ])
    }()

    // MARK: - Worker

    private static let worker: [Setting] = {
        let worker = WorkerConfiguration()
        let deadlines = Kind.duration(.milliseconds(1) ... .seconds(60), canBeOff: false)
        return described([
            Setting("worker.concurrency", .integer(1...65_536), default: "\(worker.concurrency)"):
                "maximum number of requests in flight in this process",
            Setting("worker.loops", .integer(1...64), default: "\(worker.loops)"):
                "event loops; each uses up to one core",
            Setting("worker.deadline", deadlines, default: worker.timeLimits.deadline.text):
                "default deadline of a request",
            Setting("worker.maxDeadline", deadlines, default: worker.timeLimits.maxDeadline.text):
                "longest deadline that a request's timeoutMs can set",
            Setting("worker.maxRequestBytes", .integer(1024...10_485_760), default: "\(worker.maxRequestBytes)"):
                "larger records are rejected",
            Setting(
                "worker.maxAge", .duration(.seconds(1) ... .seconds(604_800), canBeOff: true),
                default: worker.timeLimits.maxAge?.text ?? "off"):
                "requests older than this end as expired",
            Setting(
                "worker.ordering", .choice(WorkerConfiguration.Ordering.allCases.map(\.rawValue)),
                default: worker.ordering.rawValue):
                "which outcomes are published in the order of their requests",
            Setting("worker.fairBy", .fairBy, default: "none"):
                "what identifies a tenant; tenants then get equal shares of limits and permits",
            Setting("worker.fairWeights", .weights): "weights of tenants that get more than one share",
            Setting(
                "worker.lookAheadBytes", .integer(1_048_576...17_179_869_184), default: "\(worker.flows.lookAheadBytes)"
            ):
                "memory for requests that wait in the process, if classes or tenants are in use",
            Setting(
                "worker.delivery", .choice(WorkerConfiguration.Delivery.allCases.map(\.rawValue)),
                default: worker.delivery.rawValue):
                "whether a crash may duplicate outcomes, or transactions prevent this",
            Setting(
                "worker.shutdownGrace", .duration(.zero ... .seconds(3600), canBeOff: false),
                default: worker.shutdownGrace.text):
                "time to finish and commit the requests in flight at SIGTERM",
            Setting(
                "worker.commitInterval", .duration(.milliseconds(10) ... .seconds(60), canBeOff: false),
                default: worker.commitInterval.text):
                "longest time for which finished requests stay uncommitted; after it, no new request starts",
            Setting("worker.doneSetBytes", .integer(0...32_767), default: "\(worker.doneSetBytes)"):
                "size of the done-set, committed with each offset: the requests finished beyond it, which a crash then does not repeat",
            Setting("worker.requestSteps", .flag, default: worker.requestSteps ? "true" : "false"):
                "adds a header with the request's waits and provider calls to each outcome",
        ])
    }()

    // MARK: - Providers

    private static let providers: [Setting] = described([
        Setting("googlePlaces.baseURL", .url(canBeOff: false), default: "https://places.googleapis.com"):
            "Places API (New)",
        Setting("googlePlaces.apiKey", .text, isSecret: true): "key for both Google APIs",
        Setting("googlePlaces.apiKeyFile", .text): "file that holds the key, instead",
        Setting("googlePlaces.fields", .googlePlacesFields, default: GooglePlacesFields.enterprise.text):
            "fields requested from the Places API (New); the most expensive one sets the price of a call",
        Setting("googlePlacesLegacy.baseURL", .url(canBeOff: false), default: "https://maps.googleapis.com"):
            "Places API, legacy",
        Setting("hotpepper.baseURL", .url(canBeOff: false), default: "https://webservice.recruit.co.jp"):
            "Hot Pepper Gourmet",
        Setting("hotpepper.apiKey", .text, isSecret: true): "key for Hot Pepper Gourmet",
        Setting("hotpepper.apiKeyFile", .text): "file that holds the key, instead",
        Setting(
            "hotpepper.response", .choice(HotpepperResponseType.allCases.map(\.rawValue)),
            default: HotpepperResponseType.lite.rawValue):
            "detail of each shop: lite has a quarter of the bytes, without sub-genre and pictures for mobile devices",
        Setting(
            "providers.order", .list(["hotpepper", "google-places", "google-places-legacy"]),
            default: "hotpepper,google-places"):
            "providers that auto tries, first to last",
        Setting("prices.file", .text):
            "file with the prices of calls, for money budgets and estimates; unset: Google's list prices of \(PriceList.google.date)",
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
            Setting(prefix + "requestsPerSecond", .number(0.001...1_000_000)): "rate limit of the API key",
            Setting(prefix + "burst", .number(1...1_000_000)): "calls allowed at once after a pause",
            Setting(prefix + "limitMode", .choice(["shared", "by-partitions", "perProcess"]), default: "shared"):
                "whether workers share the limit by demand or by partitions, or each process has all of it",
            Setting(prefix + "callsPerDay", .integer(1...1_000_000_000)):
                "daily call budget of all workers together: short for budgets with `all: N/day`",
            Setting(prefix + "callsPerDayReserved", .budgetReserve, default: "0"):
                "calls of a day that are kept for interactive requests; batch requests get none of them",
            Setting(prefix + "budgets", .budgets):
                "budgets of all workers together",
            Setting(prefix + "methodLimits", .methodLimits):
                "rate limits of single methods of the provider's API",
            Setting(prefix + "dayBegins", .timeZone):
                "the time zone at whose midnight the days and months of budgets begin; unset: the provider's own",
            Setting(
                prefix + "whenOpen", .choice(ProviderPolicy.WhenOpen.allCases.map(\.rawValue)),
                default: policy.whenOpen.rawValue):
                "whether requests fail while the breaker is open, or wait for the provider",
            Setting(prefix + "breaker.enabled", .flag, default: "\(policy.breaker.isEnabled)"):
                "stops calls to a provider that is failing",
            Setting(
                prefix + "breaker.openDuration", .duration(.milliseconds(1) ... .seconds(600), canBeOff: false),
                default: policy.breaker.openDuration.text):
                "pause before an open breaker probes the provider",
            Setting(
                prefix + "breaker.minimumCalls", .integer(1...100_000), default: "\(policy.breaker.minimumCalls)"):
                "minimum number of calls in 10 s before the breaker can open",
            Setting(prefix + "singleFlight", .flag, default: "\(policy.sharesIdenticalCalls)"):
                "coalesces identical searches in flight into one call",
            Setting(prefix + "adaptiveConcurrency", .flag, default: "\(policy.concurrency.isAdaptive)"):
                "lowers the concurrency when the provider slows down",
        ])
    }()

    private static let http: [Setting] = described([
        Setting("http.proxy", .proxy):
            "proxy for provider calls; as a variable, for those to http URLs only, beside HTTPS_PROXY for the others",
        Setting("http.noProxy", .text): "hosts that are called without a proxy, such as .example,10.0.0.1",
        Setting("http.caFile", .text):
            "PEM file with the authorities to trust, for providers and the trace collector; unset: the system's",
    ])

    /// The proxy for calls to https URLs. It is set by conventional variables only: in a flag or a file, `http.proxy` is
    /// for both schemes.
    static let httpsProxy = Setting("HTTPS_PROXY", .proxy)

    // MARK: - Process

    private static let process: [Setting] = described([
        Setting("admin.host", .text, default: "127.0.0.1"): "address of /livez /readyz /metrics /status",
        Setting("admin.token", .text, isSecret: true):
            "bearer token required for /metrics and /status; at least 16 characters",
        Setting("admin.tokenFile", .text): "file that holds the token, instead; read again when it changes",
        Setting("admin.port", .integer(0...65_535), default: "8080"):
            "port of these; 0: any free port, which is logged",
        Setting(
            "log.level", .choice(["trace", "debug", "info", "notice", "warning", "error", "critical"]),
            default: "info"):
            "lowest level that is logged",
        Setting("log.format", .choice(["json", "text"]), default: "json"):
            "one JSON object per line, or readable text",
    ])

    // MARK: - Traces

    /// The timeout of one export of traces.
    static let traceTimeout = Setting(
        "OTEL_EXPORTER_OTLP_TIMEOUT", .duration(.milliseconds(100) ... .seconds(60), canBeOff: false))
    /// The worker's name in traces.
    static let serviceName = Setting("OTEL_SERVICE_NAME", .text)
    /// Other attributes of the worker in traces.
    static let resourceAttributes = Setting("OTEL_RESOURCE_ATTRIBUTES", .resourceAttributes)

    private static let tracing: [Setting] = {
        let tracing = TraceExportConfiguration(endpoint: "")
        return described([
            Setting("tracing.endpoint", .url(canBeOff: true)):
                "OpenTelemetry collector that receives traces by OTLP over HTTP; unset: off",
            Setting("tracing.headers", .headers, isSecret: true): "headers for the collector, such as a token",
            Setting("tracing.sampleRatio", .number(0...1), default: plain(tracing.sampleRatio)):
                "fraction of requests that are traced if their record names no trace",
            Setting("tracing.uiURL", .text):
                "URL of a trace's page, with {traceId}, for links in `explain` and the console; unset: no links",
        ])
    }()
}

/// The settings that workers do not use.
extension Setting {
    /// The settings of `locsearch console`, in display order.
    static let console: [Setting] = {
        let console = ConsoleConfiguration()
        return described([
            Setting("console.host", .text, default: console.host): "address of the console",
            Setting("console.port", .integer(0...65_535), default: "\(console.port)"):
                "port of the console; 0: any free port, which is printed",
            Setting("console.token", .text, isSecret: true):
                "token required to log in to the console; at least 16 characters",
            Setting("console.tokenFile", .text): "file that holds the token, instead; read again when it changes",
            Setting("console.allowAnonymous", .flag, default: "false"):
                "allows console.host to be reachable by others without a token",
            Setting("console.allowedHosts", .hosts):
                "additional host names that a console without a token accepts, such as a proxy's",
            Setting("console.workers", .urls): "admin endpoints of workers to show; unset: http://127.0.0.1:8080",
            Setting("console.start", .coordinate, default: "\(console.start.latitude),\(console.start.longitude)"):
                "initial centre of the map",
            Setting("console.tileURL", .text):
                "URL of map tiles, with {z}, {x} and {y}; unset: outlines of land and water",
            Setting("console.tileAttribution", .text): "attribution that the map shows for its tiles",
            Setting("console.googleMapsKey", .text, isSecret: true):
                "Google Maps key; every page receives it, so restrict it to the console's address",
            Setting("console.pictureBaseURL", .url(canBeOff: false)):
                "simulator's base URL of pictures, which replaces the providers'; the map then shows the simulator's streets",
            Setting(
                "console.terms", .choice(ContentTerms.allCases.map(\.rawValue)), default: console.terms.rawValue):
                "Google's terms to follow: eea, for a billing address in the EEA, shows only positions and place ids of its places",
        ])
    }()
}
