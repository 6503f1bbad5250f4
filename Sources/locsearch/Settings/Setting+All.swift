extension Setting {
    /// Every setting there is, in the order in which they are shown.
    static let all: [Setting] =
        [
            Setting(
                "kafka.bootstrapServers", .text, "localhost:9092", "brokers to ask first, host:port, comma-separated"),
            Setting("kafka.groupId", .text, "location-search-worker", "the group whose members share the requests"),
            Setting(
                "kafka.groupInstanceId", .text, nil, "makes the member static: a quick restart moves no partitions"),
            Setting(
                "kafka.assignor", .choice(["range", "roundrobin", "cooperative-sticky"]), nil,
                "how partitions are shared; default: by librdkafka's version (range below 2.6.1, then cooperative-sticky)"
            ),
            Setting(
                "kafka.linger", .duration(.zero ... .seconds(5), canBeOff: false), "5ms",
                "how long an outcome waits for others to share its batch"),
            Setting("kafka.properties", .properties, nil, "any librdkafka properties, a=b,c=d"),
            Setting(
                "kafka.security.protocol", .choice(["plaintext", "ssl", "sasl_plaintext", "sasl_ssl"]), nil,
                "default: plaintext"),
            Setting("kafka.security.caFile", .text, nil, "PEM file with the authorities to trust"),
            Setting("kafka.security.certificateFile", .text, nil, "PEM file with our certificate"),
            Setting("kafka.security.keyFile", .text, nil, "PEM file with our certificate's key"),
            Setting("kafka.security.keyPassword", .text, nil, "password of that key", isSecret: true),
            Setting(
                "kafka.security.sasl.mechanism", .choice(["PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512"]), nil,
                "how to log in"),
            Setting("kafka.security.sasl.username", .text, nil, "whom to log in as"),
            Setting("kafka.security.sasl.password", .text, nil, "password for it", isSecret: true),
            Setting("kafka.security.sasl.passwordFile", .text, nil, "file that holds it, instead"),
            Setting("topics.requests", .text, "location-search.requests", "requests"),
            Setting("topics.results", .text, "location-search.results", "one record per request that succeeded"),
            Setting("topics.errors", .text, "location-search.errors", "one record per request that failed"),
            Setting(
                "topics.deadLetters", .text, "location-search.dead-letters", "records that are no requests, untouched"),
            Setting("worker.concurrency", .integer(1...65_536), "256", "most requests in flight in this process"),
            Setting("worker.loops", .integer(1...64), "1", "event loops, one core each"),
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
            Setting("worker.delivery", .choice(["at-least-once"]), "at-least-once", "what a crash may do to outcomes"),
            Setting(
                "worker.shutdownGrace", .duration(.zero ... .seconds(3600), canBeOff: false), "25s",
                "time to finish what is in flight at SIGTERM"),
            Setting(
                "worker.commitInterval", .duration(.milliseconds(10) ... .seconds(60), canBeOff: false), "1s",
                "how often finished offsets are committed"),
            Setting("providers.order", .text, "hotpepper,google-places", "whom auto asks, first to last"),
        ] + providers + [
            Setting("http.proxy", .text, nil, "proxy for provider calls"),
            Setting("http.caFile", .text, nil, "PEM file with the authorities to trust for provider calls"),
            Setting(
                "http.maxResponseBytes", .integer(1024...104_857_600), "2000000", "a larger answer is a bad-response"),
            Setting(
                "http.connectTimeout", .duration(.milliseconds(1) ... .seconds(60), canBeOff: false), "3s",
                "within the deadline"),
            Setting("admin.host", .text, "127.0.0.1", "address of /livez /readyz /metrics /status"),
            Setting("admin.port", .integer(0...65_535), "8080", "0: any free one, printed"),
            Setting(
                "log.level", .choice(["trace", "debug", "info", "notice", "warning", "error", "critical"]), "info",
                "least severe lines to write"),
            Setting("log.format", .choice(["json", "text"]), "json", "one JSON object a line, or text for people"),
        ]

    private static let providers: [Setting] =
        [
            Setting("googlePlaces.baseURL", .url, "https://places.googleapis.com", "Places API (New)"),
            Setting("googlePlaces.apiKey", .text, nil, "key for both Google APIs", isSecret: true),
            Setting("googlePlaces.apiKeyFile", .text, nil, "file that holds it, instead"),
            Setting("googlePlacesLegacy.baseURL", .url, "https://maps.googleapis.com", "Places API, legacy"),
            Setting("hotpepper.baseURL", .url, "https://webservice.recruit.co.jp", "Hot Pepper Gourmet"),
            Setting("hotpepper.apiKey", .text, nil, "its key", isSecret: true),
            Setting("hotpepper.apiKeyFile", .text, nil, "file that holds it, instead"),
        ]
        + ["googlePlaces", "googlePlacesLegacy", "hotpepper"].map { provider in
            Setting(
                "providers.\(provider).maxAttempts", .integer(1...10), "3", "calls for one request, the first included")
        }
}
