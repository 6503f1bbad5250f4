extension Setting {
    /// Every setting there is, in the order in which they are shown.
    static let all: [Setting] = kafka + security + topics + worker + keys + limits + around

    private static let kafka: [Setting] = [
        Setting("kafka.bootstrapServers", .addresses, "localhost:9092", "brokers to ask first"),
        Setting("kafka.groupId", .text, "location-search-worker", "the group whose members share the requests"),
        Setting(
            "kafka.startFrom", .startPosition, "earliest",
            "where a group begins that has committed no offset yet: with all there is, what comes, or a time"),
        Setting("kafka.groupInstanceId", .text, nil, "makes the member static: a quick restart moves no partitions"),
        Setting(
            "kafka.assignor", .choice(["range", "roundrobin", "cooperative-sticky"]), nil,
            "how partitions are shared; unset: range below librdkafka 2.6.1, then cooperative-sticky"),
        Setting(
            "kafka.linger", .duration(.zero ... .seconds(5), canBeOff: false), "5ms",
            "how long an outcome waits for others to share its batch; up to 20ms more while the loop is busy"),
        Setting("kafka.properties", .properties, nil, "any librdkafka properties"),
    ]

    private static let security: [Setting] = [
        Setting(
            "kafka.security.protocol", .choice(["plaintext", "ssl", "sasl_plaintext", "sasl_ssl"]), nil,
            "how to speak to the brokers; unset: plaintext"),
        Setting("kafka.security.caFile", .text, nil, "PEM file with the authorities to trust; unset: the system's"),
        Setting("kafka.security.certificateFile", .text, nil, "PEM file with our certificate"),
        Setting("kafka.security.keyFile", .text, nil, "PEM file with our certificate's key"),
        Setting("kafka.security.keyPassword", .text, nil, "password of that key", isSecret: true),
        Setting(
            "kafka.security.sasl.mechanism", .choice(["PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512"]), nil, "how to log in"),
        Setting("kafka.security.sasl.username", .text, nil, "whom to log in as"),
        Setting("kafka.security.sasl.password", .text, nil, "password for it", isSecret: true),
        Setting("kafka.security.sasl.passwordFile", .text, nil, "file that holds the password, instead"),
    ]

    private static let topics: [Setting] = [
        Setting("topics.requests", .topic, "location-search.requests", "requests"),
        Setting("topics.results", .topic, "location-search.results", "one record per request that succeeded"),
        Setting("topics.errors", .topic, "location-search.errors", "one record per request that failed"),
        Setting(
            "topics.deadLetters", .topic, "location-search.dead-letters", "records that are no requests, untouched"),
    ]

    private static let worker: [Setting] = [
        Setting("worker.concurrency", .integer(1...65_536), "256", "most requests in flight in this process"),
        Setting("worker.loops", .integer(1...64), "1", "event loops, each good for one core"),
        Setting(
            "worker.deadline", .duration(.milliseconds(1) ... .seconds(60), canBeOff: false), "5s",
            "the time a request has that names none"),
        Setting(
            "worker.maxDeadline", .duration(.milliseconds(1) ... .seconds(60), canBeOff: false), "30s",
            "the most that a request's timeoutMs gets"),
        Setting("worker.maxRequestBytes", .integer(1024...10_485_760), "65536", "larger records are refused"),
        Setting(
            "worker.maxAge", .duration(.seconds(1) ... .seconds(604_800), canBeOff: true), "off",
            "older requests end as expired"),
        Setting(
            "worker.ordering", .choice(["unordered", "key", "partition"]), "unordered",
            "which outcomes leave in the order of their requests"),
        Setting(
            "worker.delivery", .choice(["at-least-once", "exactly-once"]), "at-least-once",
            "whether a crash may double outcomes, or transactions prevent it"),
        Setting(
            "worker.shutdownGrace", .duration(.zero ... .seconds(3600), canBeOff: false), "25s",
            "time to finish what is in flight at SIGTERM, and to commit it"),
        Setting(
            "worker.commitInterval", .duration(.milliseconds(10) ... .seconds(60), canBeOff: false), "1s",
            "finished work of so much time may be uncommitted; nothing begins beyond it"),
    ]

    private static let keys: [Setting] = [
        Setting("googlePlaces.baseURL", .url, "https://places.googleapis.com", "Places API (New)"),
        Setting("googlePlaces.apiKey", .text, nil, "key for both Google APIs", isSecret: true),
        Setting("googlePlaces.apiKeyFile", .text, nil, "file that holds the key, instead"),
        Setting("googlePlacesLegacy.baseURL", .url, "https://maps.googleapis.com", "Places API, legacy"),
        Setting("hotpepper.baseURL", .url, "https://webservice.recruit.co.jp", "Hot Pepper Gourmet"),
        Setting("hotpepper.apiKey", .text, nil, "its key", isSecret: true),
        Setting("hotpepper.apiKeyFile", .text, nil, "file that holds the key, instead"),
    ]

    private static let limits: [Setting] =
        [
            Setting(
                "providers.order", .list(["hotpepper", "google-places", "google-places-legacy"]),
                "hotpepper,google-places", "whom auto asks, first to last")
        ] + ["googlePlaces", "googlePlacesLegacy", "hotpepper"].flatMap(limits)

    private static func limits(of provider: String) -> [Setting] {
        let prefix = "providers.\(provider)."
        let second = Duration.milliseconds(1) ... .seconds(600)
        return [
            Setting(prefix + "maxAttempts", .integer(1...10), "3", "calls for one request, the first included"),
            Setting(prefix + "requestsPerSecond", .number(0.001...1_000_000), nil, "limit of the API key"),
            Setting(prefix + "burst", .number(1...1_000_000), nil, "requests at once after a pause"),
            Setting(
                prefix + "limitMode", .choice(["shared", "perProcess"]), "shared",
                "whether all workers share the limit, or each has it"),
            Setting(prefix + "retryBudget", .number(0...1), "0.2", "most retries per request, over 10 s"),
            Setting(
                prefix + "whenOpen", .choice(["fail", "hold"]), "fail",
                "what an open breaker does with requests: fail them, or hold them back"),
            Setting(prefix + "breaker.enabled", .flag, "true", "stop asking a provider that is failing"),
            Setting(prefix + "breaker.failureRate", .number(0.01...1), "0.5", "failures that open it"),
            Setting(prefix + "breaker.slowCallRate", .number(0.01...1), "0.8", "slow calls that open it"),
            Setting(
                prefix + "breaker.slowCallDuration", .duration(second, canBeOff: false), "4s", "slower calls are slow"),
            Setting(
                prefix + "breaker.openDuration", .duration(second, canBeOff: false), "5s", "pause before it probes"),
            Setting(
                prefix + "breaker.minimumCalls", .integer(1...100_000), "20", "calls in the window before it may open"),
            Setting(prefix + "breaker.window", .duration(second, canBeOff: false), "10s", "calls that count"),
            Setting(prefix + "singleFlight", .flag, "true", "identical searches in flight share one call"),
            Setting(
                prefix + "adaptiveConcurrency", .flag, "true", "fewer requests in flight when the provider slows"),
        ]
    }

    private static let around: [Setting] = [
        Setting("http.proxy", .proxy, nil, "proxy for provider calls"),
        Setting("http.caFile", .text, nil, "PEM file with the authorities to trust; unset: the system's"),
        Setting("http.maxResponseBytes", .integer(1024...1_073_741_824), "2000000", "larger answers are refused"),
        Setting(
            "http.connectTimeout", .duration(.milliseconds(1) ... .seconds(60), canBeOff: false), "3s",
            "longest time to connect, within the deadline"),
        Setting("admin.host", .text, "127.0.0.1", "address of /livez /readyz /metrics /status"),
        Setting("admin.port", .integer(0...65_535), "8080", "their port; 0: any free one, printed"),
        Setting(
            "log.level", .choice(["trace", "debug", "info", "notice", "warning", "error", "critical"]), "info",
            "least severe lines to write"),
        Setting("log.format", .choice(["json", "text"]), "json", "one JSON object a line, or text for people"),
    ]
}
