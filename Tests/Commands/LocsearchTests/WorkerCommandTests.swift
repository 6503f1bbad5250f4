import Foundation
import KafkaTestSupport
import TestSupport
import Testing

/// `locsearch worker` with `locsearch broker` (or the broker shared by all tests) and `locsearch simulate`, all as processes.
struct WorkerCommandTests {
    private static let secret = "geheim-4711"

    private struct Harness {
        let broker: RunningProgram?
        let simulator: RunningProgram
        let worker: RunningProgram
        /// The broker and topics, for every program.
        let kafka: [String: String]
        let adminURL: String

        init(extra: [String: String] = [:]) async throws {
            let broker = TestBroker.isEmbedded ? try RunningProgram(["broker", "--partitions", "2"]) : nil
            let simulator = try RunningProgram(["simulate"])
            (self.broker, self.simulator) = (broker, simulator)
            if let broker {
                kafka = ["KAFKA_BOOTSTRAP_SERVERS": try await broker.address()]
            } else {
                let shared = try TestBroker(topics: ["requests": 2, "results": 2, "errors": 2, "dead-letters": 2])
                kafka = [
                    "KAFKA_BOOTSTRAP_SERVERS": shared.bootstrapServers, "KAFKA_GROUP_ID": shared.name("workers"),
                    "TOPICS_REQUESTS": shared.name("requests"), "TOPICS_RESULTS": shared.name("results"),
                    "TOPICS_ERRORS": shared.name("errors"), "TOPICS_DEAD_LETTERS": shared.name("dead-letters"),
                    // Its groups rebalance with the members' heartbeats.
                    "KAFKA_PROPERTIES": "session.timeout.ms=6000,heartbeat.interval.ms=500",
                ]
            }
            worker = try RunningProgram(
                ["worker"],
                environment: [
                    "HOTPEPPER_BASE_URL": try await simulator.address(),
                    "HOTPEPPER_API_KEY": WorkerCommandTests.secret, "ADMIN_PORT": "0", "LOG_LEVEL": "debug",
                ].merging(kafka) { own, _ in own }.merging(extra) { _, extra in extra })
            adminURL = try await worker.address()
        }

        func end() { for program in [worker, simulator, broker] { program?.end() } }

        func get(_ path: String) async throws -> HTTPAnswer { try await HTTPAnswer(adminURL + path) }

        func waitUntilReady() async throws {
            try await eventually("the worker is ready", within: .seconds(30)) { try await get("/readyz").status == 200 }
        }
    }

    @Test(.timeLimit(.minutes(2))) func `A worker serves until SIGTERM`() async throws {
        let harness = try await Harness()
        defer { harness.end() }
        #expect(try await harness.get("/livez").status == 200)
        try await harness.waitUntilReady()
        for (arguments, code) in [
            (["--lat", "35.69", "--lng", "139.70"], Int32(0)), (["--lat", "91", "--lng", "0"], 1),
        ] {
            let search = try await RunningProgram.run(["search", "--json"] + arguments, environment: harness.kafka)
            #expect(search.code == code, "\(search.error)")
            try await eventually("its output is there") { search.output.hasSuffix("\n") }
            #expect(try JSONSerialization.jsonObject(with: Data(search.output.utf8)) is [String: Any])
        }
        let metrics = try await harness.get("/metrics").body
        #expect(metrics.contains("\nlocsearch_requests_taken_total 2\n"), "\(metrics)")
        #expect(metrics.contains("\nlocsearch_requests_completed_total{provider=\"hotpepper\"} 1\n"))
        #expect(
            metrics.contains("\nlocsearch_requests_failed_total{code=\"invalid-request\"} 1\n")
                || metrics.contains("\nlocsearch_requests_rejected_total 1\n"))
        #expect((try await harness.get("/status").object["assignment"] as? [Any])?.count == 2)
        try await harness.worker.terminate()
        #expect(harness.worker.code == 0)
        try await eventually("its last line is there") {
            harness.worker.error.contains("worker ends")
        }
        for line in harness.worker.error.split(separator: "\n") {
            #expect(try JSONSerialization.jsonObject(with: Data(line.utf8)) is [String: Any], "\(line)")
        }
        #expect(!harness.worker.error.contains(Self.secret) && !metrics.contains(Self.secret))
    }

    @Test(.timeLimit(.minutes(2))) func `A second signal ends a worker at once`() async throws {
        let harness = try await Harness(extra: ["WORKER_SHUTDOWN_GRACE": "60s", "WORKER_DEADLINE": "30s"])
        defer { harness.end() }
        try await harness.waitUntilReady()
        let search = try RunningProgram(
            ["search", "--lat", "35.69", "--lng", "139.70", "--keyword", "fault:hang", "--timeout", "60s"],
            environment: harness.kafka)
        defer { search.end() }
        try await eventually("the request is in flight", within: .seconds(30)) {
            try await harness.get("/status").body.contains("\"inFlight\":1")
        }
        harness.worker.signal(SIGTERM)
        try await eventually("the worker drains", within: .seconds(10)) {
            try await harness.get("/readyz").body == "draining\n"
        }
        #expect(harness.worker.isRunning)
        harness.worker.signal(SIGTERM)
        // The grace is 60 s.
        try await eventually("the worker ends") { !harness.worker.isRunning }
        #expect(harness.worker.code != 0)
    }
}
