import EventContract
import Foundation
import Kafka
import KafkaTestSupport
import TestSupport
import Testing
import WorkerRuntime

/// No key and no password leaves the process except to its recipient. These tests search all files, output and records of real
/// processes while everything fails.
@Suite(.serialized)
struct SecretsTests {
    /// Each contains a word that survives percent-encoding, and characters that do not.
    private static let (hotpepper, google) = ("Zq7hotpepperWx+/=&1", "Zq7googleplacesWx+/=&2")
    private static let (sasl, proxy) = ("Zq7saslpasswordWx+/=&3", "Zq7proxypasswordWx")
    private static let words = ["Zq7hotpepperWx", "Zq7googleplacesWx", "Zq7saslpasswordWx", "Zq7proxypasswordWx"]

    /// The words as they are, and in Base64 at any position of a text.
    private static let forms: [String] = words.flatMap { word in
        [word]
            + (0..<3).map { before in
                let text = Data((String(repeating: "\u{0}", count: before) + word).utf8).base64EncodedString()
                // Without the characters that depend on the neighbouring bytes.
                return String(text.dropFirst(before == 0 ? 0 : 4).prefix(16))
            }
    }

    private func check(_ text: String, _ what: String) {
        let bytes = Data(text.utf8)
        for form in Self.forms {
            guard let found = bytes.range(of: Data(form.utf8)) else { continue }
            let around = bytes[max(0, found.lowerBound - 200)..<min(bytes.count, found.upperBound + 20)]
            Issue.record("\(what) shows \(form): \(String(decoding: around, as: UTF8.self))")
        }
    }

    @Test func `The check finds the secrets in Base64 at any position`() {
        for secret in [Self.hotpepper, Self.google, Self.sasl, Self.proxy] {
            for prefix in ["", "a", "ab", "\u{0}user\u{0}"] {
                let encoded = Data((prefix + secret).utf8).base64EncodedString()
                #expect(Self.forms.contains { encoded.contains($0) })
            }
            #expect(Self.forms.contains { secret.contains($0) })
        }
    }

    // MARK: - A worker while its providers fail

    /// Returns a provider that echoes every request, with the key first.
    private static func echo() throws -> RawServer {
        try RawServer { connection in
            while let bytes = connection.readRequest() {
                let asked = String(decoding: bytes, as: UTF8.self)
                let status = asked.firstRange(of: "status-").map { String(asked[$0.upperBound...].prefix(3)) } ?? "200"
                let lines = asked.split(whereSeparator: \.isNewline).joined(separator: " ")
                let said = String(lines.filter { $0 != "\"" && $0 != "\\" })
                let name = said.replacing(/[^A-Za-z0-9_]/, with: "_").suffix(60)
                let error =
                    #"{"code":\#(status),"message":"\#(said)","status":"\#(name)","details":[{"reason":"\#(said)"}]}"#
                let place = #"{"id":"P1","displayName":{"text":"\#(said)"},"googleMapsUri":"https://a/?\#(said)"}"#
                let body = status == "200" ? #"{"places":[\#(place)]}"# : #"{"error":\#(error)}"#
                let head = "HTTP/1.1 \(status) \(name)\r\nContent-Length: \(body.utf8.count)\r\nX-Said: \(said)\r\n"
                guard connection.send(head + "Set-Cookie: \(said)\r\nLocation: https://a/?\(said)\r\n\r\n\(body)")
                else { return }
            }
        }
    }

    private static let environment = [
        "HOTPEPPER_API_KEY": hotpepper, "GOOGLE_PLACES_API_KEY": google, "ADMIN_PORT": "0", "LOG_LEVEL": "trace",
        "PROVIDERS_HOTPEPPER_BREAKER_ENABLED": "false",
        "PROVIDERS_GOOGLE_PLACES_BREAKER_ENABLED": "false", "PROVIDERS_GOOGLE_PLACES_LEGACY_BREAKER_ENABLED": "false",
    ]

    /// Requests that close a provider for a while come last.
    private static let requests: [(provider: String, keyword: String)] =
        ["hotpepper", "google-places-legacy"].flatMap { provider in
            [
                "none", "unauthorized", "permission_denied", "401", "403", "legacy-off", "reset", "reset-body", "close",
                "hang", "hang-body", "html", "empty", "garbage", "cut", "truncated", "bad-gzip", "huge=3", "500", "302",
            ].map { (provider: provider, keyword: "fault:\($0)") }
        }
        + ["200", "301", "400", "401", "403", "404", "418", "500"].map { ("google-places", "status-\($0)") }
        + [
            ("hotpepper", "fault:429"), ("google-places-legacy", "fault:over_query_limit"),
            ("google-places", "status-429"),
        ]

    private static func value(_ request: (provider: String, keyword: String)) -> String {
        // Other requests get enough time to end on a busy machine.
        let timeout = request.keyword.contains("hang") ? 1500 : 15_000
        return """
            {"provider":"\(request.provider)","location":{"latitude":35.69,"longitude":139.7},\
            "keyword":"\(request.keyword)","timeoutMs":\(timeout)}
            """
    }

    @Test(.timeLimit(.minutes(3))) func `Keys never leave a worker, whatever its providers do`() async throws {
        let (broker, simulator) = (
            try RunningProgram(["broker", "--partitions", "2"]), try RunningProgram(["simulate"])
        )
        let echo = try Self.echo()
        defer { for program in [broker, simulator] { program.end() } }
        let (servers, simulated) = (try await broker.address(), try await simulator.address())
        let environment = Self.environment.merging([
            "KAFKA_BOOTSTRAP_SERVERS": servers,
            // The broker does not support SASL. The login is not in `kafka.security.*`, because the worker would reject that.
            "KAFKA_PROPERTIES":
                "debug=all,session.timeout.ms=6000,sasl.mechanism=PLAIN,sasl.username=user,sasl.password=\(Self.sasl)",
            "HOTPEPPER_BASE_URL": simulated,
            "GOOGLE_PLACES_LEGACY_BASE_URL": simulated, "GOOGLE_PLACES_BASE_URL": echo.url,
        ]) { $1 }
        let records =
            Self.requests.map(Self.value) + [
                #"{"provider":"google-places","operation":"details","placeId":"status-403"}"#,
                #"{"provider":"google-places","operation":"photo","placeId":"status-200"}"#,
                #"{"provider":"google-places-legacy","operation":"photo","placeId":"fault:403"}"#, "no JSON",
            ]
        try await work(environment, on: servers, records)
        // A proxy with a password that does not exist.
        let proxied = environment.merging(["HTTP_PROXY": "http://user:\(Self.proxy)@127.0.0.1:1"]) { $1 }
        try await work(
            proxied, on: servers, [Self.value(("hotpepper", "none")), Self.value(("google-places", "none"))])

        let topics = WorkerConfiguration.Topics()
        let outcomes = try await contents(of: [topics.results, topics.errors], on: servers)
        var codes: Set<String> = []
        for record in outcomes {
            let headers = record.headers
            if case .failed(let failure) = try OutcomeReader().read(value: record.value, headers: headers).body {
                codes.insert(failure.code)
            }
        }
        // All expected failures happened.
        #expect(
            codes.isSuperset(of: [
                "unauthorized", "rate-limited", "timeout", "unreachable", "bad-response", "upstream-unavailable",
                "upstream-rejected", "invalid-request",
            ]), "\(codes)")
        for record in outcomes + (try await contents(of: [topics.deadLetters], on: servers)) {
            check(String(decoding: (record.key ?? []) + (record.value ?? []), as: UTF8.self), "a record")
            for header in record.headers {
                check(header.name + String(decoding: header.value ?? [], as: UTF8.self), "a header")
            }
        }
    }

    /// Runs a worker until it has answered `values`, queries all endpoints, ends it, and checks all its output.
    private func work(_ environment: [String: String], on servers: String, _ values: [String]) async throws {
        let worker = try RunningProgram(["worker"], environment: environment)
        defer { worker.end() }
        let admin = try await worker.address()
        let producer = try TestProducer(servers)
        for value in values {
            try await producer.send(Array(value.utf8), to: WorkerConfiguration.Topics().requests)
        }
        try await eventually("all \(values.count) are settled", within: .seconds(60)) {
            let metrics = try await Self.get(admin + "/metrics")
            return metrics.contains("locsearch_requests_taken_total \(values.count)\n")
                && metrics.contains("locsearch_requests_open 0\n")
        }
        for path in ["/metrics", "/status", "/livez", "/readyz", "/nothing"] {
            check(try await Self.get(admin + path), path)
        }
        try await worker.terminate()
        #expect(worker.code == 0)
        try await eventually("its last line is there") { worker.error.contains("worker ends") }
        check(worker.output, "standard output")
        check(worker.error, "standard error")
        #expect(worker.error.contains("\"level\":\"debug\""))
        let config = try RunningProgram(["config"], environment: environment)
        defer { config.end() }
        try await eventually("the settings are shown") { !config.isRunning && config.output.contains("log.level") }
        check(config.output + config.error, "locsearch config")
    }

    /// Returns the body and the headers of an answer.
    private static func get(_ url: String) async throws -> String {
        let answer = try await HTTPAnswer(url)
        return "\(answer.body)\n\(answer.headers)"
    }

    private func contents(of topics: [String], on servers: String) async throws -> [ConsumerRecord] {
        return try await TopicReader(ConsumerConfiguration(bootstrapServers: servers), log: .silent).contents(
            of: topics)
    }

    // MARK: - A broker with a password, and wrong settings

    /// The embedded broker does not support SASL. The test checks what a worker logs about that.
    @Test(
        .timeLimit(.minutes(2)),
        arguments: [
            ["KAFKA_SECURITY_SASL_MECHANISM": "PLAIN", "KAFKA_SECURITY_SASL_PASSWORD": sasl],
            ["KAFKA_SECURITY_SASL_MECHANISM": "SCRAM-SHA-256", "KAFKA_SECURITY_SASL_PASSWORD": sasl],
            ["KAFKA_PROPERTIES": "debug=all,sasl.mechanism=PLAIN,sasl.password=\(sasl)"],
        ])
    func `A failed login does not show the password`(settings: [String: String]) async throws {
        let broker = try RunningProgram(["broker"])
        defer { broker.end() }
        let environment = [
            "KAFKA_PROPERTIES": "debug=all", "KAFKA_BOOTSTRAP_SERVERS": try await broker.address(),
            "KAFKA_SECURITY_PROTOCOL": "sasl_plaintext", "KAFKA_SECURITY_SASL_USERNAME": "user",
            "LOG_LEVEL": "trace", "ADMIN_PORT": "0", "WORKER_SHUTDOWN_GRACE": "0s", "HOTPEPPER_API_KEY": Self.hotpepper,
        ].merging(settings) { $1 }
        let worker = try RunningProgram(["worker"], environment: environment)
        defer { worker.end() }
        try await eventually("the worker has tried to log in", within: .seconds(40)) {
            worker.error.contains("SASL") && worker.error.contains("AUTH")
        }
        try await worker.terminate()
        check(worker.output + worker.error, "a worker that cannot log in")
        for arguments in [
            ["config"], ["search", "--lat", "1", "--lng", "1", "--timeout", "1s", "--log-level", "trace"],
        ] {
            let tool = try await RunningProgram.run(
                arguments, environment: environment.filter { $0.key != "LOG_LEVEL" })
            try await eventually("it said something") { !(tool.output + tool.error).isEmpty }
            check(tool.output + tool.error, "locsearch \(arguments[0])")
        }
    }

    @Test(
        .timeLimit(.minutes(2)),
        arguments: [
            ["--kafka-properties", "sasl.password=\(sasl),=x"],
            ["--kafka-properties", "sasl.passwort=\(sasl)"],
            ["--kafka-properties=sasl.password=\(sasl),sasl.mechanism=PLAIN,security.protocol=none"],
            ["--http-proxy", "http://user:\(proxy)@127.0.0.1\u{1}"], ["--hotpepper-api-key", "\(hotpepper)\u{1}"],
            ["--hotpepper-base-url", "http://user:\(proxy)@127.0.0.1"], ["--hotpepper-apikey=\(hotpepper)"],
            ["--hotpepper-base-url", "http://127.0.0.1?key=\(hotpepper)"],
            ["--kafka-security-sasl-passwort=\(sasl)"],
            ["--kafka-properties", "sasl.oauthbearer.assertion.no.such=\(sasl)"],
            ["--kafka-bootstrap-servers", "SASL_SSL://user:\(sasl)@127.0.0.1:1"],
            ["--hotpepper-base-url", "ftp://user:\(sasl)@host"], ["--topics-requests", "user:\(sasl)@host"],
            ["--http-proxy", "http://user:\(proxy)@a b"],
        ])
    func `A wrong setting is named without its secret`(arguments: [String]) async throws {
        let worker = try await RunningProgram.run(
            ["worker", "--log-level", "critical"] + arguments,
            environment: ["ADMIN_PORT": "0", "GOOGLE_PLACES_API_KEY": Self.google])
        try await eventually("its line is there") { worker.error.hasSuffix("\n") }
        #expect(worker.code == 78, "\(worker.error)")
        #expect(worker.error.split(separator: "\n").count == 1, "\(worker.error)")
        let name = String(try #require(arguments[0].split(separator: "=").first).dropFirst(2))
        let group = try #require(name.split(separator: "-").first)
        #expect(worker.error.contains(group), "\(worker.error)")
        check(worker.output + worker.error, "a wrong setting")
    }
}
