import Basics
import Foundation
import Kafka
import TestSupport
import Testing

/// The start of a worker process: what it reports from the first moment, and that a failed start disturbs no other worker.
@Suite(.serialized)
struct StartingTests {
    // MARK: - A start that fails

    /// A crash-looping pod beside a healthy one.
    @Test(.timeLimit(.minutes(2))) func `A worker that cannot start causes no rebalance`() async throws {
        // Members learn of a rebalance by their heartbeats.
        let kafka = ["KAFKA_PROPERTIES": "session.timeout.ms=6000,heartbeat.interval.ms=100,fetch.wait.max.ms=10"]
        try await WorkerHarness.run(kafka) { harness in
            try await eventually("the worker has all partitions") { try await Self.partitions(of: harness) == 4 }

            for _ in 0..<4 {
                let taken = ["ADMIN_PORT": "\(harness.adminPort)", "LOG_LEVEL": "critical"]
                let second = try RunningProgram(["worker"], environment: harness.environment.merging(taken) { $1 })
                defer { second.end() }
                try await eventually("the second worker ends") { !second.isRunning }
                #expect(second.code == 78)
                #expect(
                    second.error.hasPrefix("locsearch: admin.port: cannot listen on 127.0.0.1:\(harness.adminPort)"))
                #expect(second.error.split(separator: "\n").count == 1, "\(second.error)")
            }

            // The first worker would notice a member that joined and left within a heartbeat interval and a session timeout.
            let end = Instant.now + .seconds(8)
            while Instant.now < end {
                #expect(try await Self.partitions(of: harness) == 4)
                try await Task.sleep(for: .milliseconds(100))
            }
            #expect(try await harness.awaitedLogLines(with: "partitions assigned") == 1)
            #expect(harness.logLines(with: "partitions revoked") == 0)
        }
    }

    private static func partitions(of harness: WorkerHarness) async throws -> Int {
        try await harness.status("assignment", as: [Any].self)?.count ?? 0
    }

    private static let keyless: [(settings: [String: String], words: [String])] = [
        ([:], ["no provider has an API key", "hotpepper.apiKey", "googlePlaces.apiKey"]),
        (
            ["HOTPEPPER_API_KEY": "any text", "PROVIDERS_ORDER": "google-places"],
            [#"providers.order is "google-places""#, "only hotpepper has an API key"]
        ),
    ]

    @Test(arguments: keyless)
    func `A worker without a provider does not start`(settings: [String: String], words: [String]) async throws {
        let broker = try EmbeddedBroker(topics: ["location-search.requests": 1])
        let base = ["KAFKA_BOOTSTRAP_SERVERS": broker.bootstrapServers, "ADMIN_PORT": "0"]
        let worker = try RunningProgram(["worker"], environment: base.merging(settings) { $1 })
        defer { worker.end() }

        try await eventually("the worker ends") { !worker.isRunning }
        #expect(worker.code == 78)
        #expect(worker.output.isEmpty)
        #expect(worker.error.split(separator: "\n").count == 1, "\(worker.error)")
        for word in words { #expect(worker.error.contains(word), "\(word) in \(worker.error)") }
    }

    @Test(.timeLimit(.minutes(2))) func `A request for a provider without a key ends as unauthorized`() async throws {
        let settings = [
            "HOTPEPPER_API_KEY": "", "GOOGLE_PLACES_API_KEY": "any text", "PROVIDERS_ORDER": "google-places",
        ]
        try await WorkerHarness.run(settings) { harness in
            try await harness.send([WorkerHarness.request("a", "hotpepper")])
            #expect(try await harness.outcomes(1)["a"]?.code == "unauthorized")
        }
    }

    // MARK: - Reports from the start

    @Test(.timeLimit(.minutes(2))) func `A worker shows its version and providers at once`() async throws {
        let program = try RunningProgram(["--version"])
        defer { program.end() }
        try await eventually("the program ends") { !program.isRunning }
        let version = program.output.trimmingCharacters(in: .whitespacesAndNewlines)
        #expect(program.code == 0)
        #expect(version.wholeMatch(of: /\d+\.\d+\.\d+/) != nil, "\(program.output)")

        try await WorkerHarness.run { harness in
            let first = try #require(harness.worker.error.split(separator: "\n").first)
            #expect(first.contains("worker starts") && first.contains(#""version":"\#(version)""#), "\(first)")
            // With a sanitizer, the allocator is the sanitizer's.
            if !RunningProgram.isSanitized { #expect(first.contains(#""allocator":"mimalloc "#), "\(first)") }

            #expect(try await harness.status("host", as: String.self) == ProcessInfo.processInfo.hostName)
            #expect(try await harness.status("version", as: String.self) == version)
            #expect(try await harness.status("ready", as: Bool.self) == true)
            let providers = try await harness.status("providers", as: [[String: Any]].self) ?? []
            let names = providers.compactMap { $0["provider"] as? String }
            #expect(names == ["google-places", "google-places-legacy", "hotpepper"])
            #expect(providers.allSatisfy { $0["breaker"] as? String == "closed" })

            let metrics = try await harness.get("/metrics").body
            #expect(metrics.contains(#"locsearch_build_info{version="\#(version)",librdkafka="#))
            #expect(metrics.contains(#"locsearch_provider_calls_total{provider="hotpepper"} 0"#))
            #expect(metrics.contains("\nlocsearch_log_lines_dropped_total 0\n"))
        }
    }

    /// The reader of its log has stopped reading, and the log exceeds the pipe and the buffer by far.
    @Test(.timeLimit(.minutes(2))) func `A worker whose log is not read works on and ends`() async throws {
        let settings = ["LOG_LEVEL": "trace", "KAFKA_PROPERTIES": "debug=all,session.timeout.ms=6000"]
        try await WorkerHarness.run(settings) { harness in
            harness.worker.stopReading()
            try await eventually("lines are dropped", within: .seconds(60)) {
                try await harness.send([WorkerHarness.request("\(UInt32.random(in: 0 ... .max))", "hotpepper")])
                return try await harness.metric("locsearch_log_lines_dropped_total") > 0
            }

            #expect(try await harness.get("/livez").status == 200)
            #expect(try await harness.get("/readyz").status == 200)
            harness.worker.signal(SIGTERM)
            try await eventually("the worker ends", within: .seconds(40)) { !harness.worker.isRunning }
            #expect(harness.worker.code == 0)
        }
    }
}
