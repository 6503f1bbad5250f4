import EventContract
import Foundation
import TestSupport
import Testing

/// Orders of `locsearch controls` to real workers, checked by the providers' counts and the workers' reports.
@Suite(.serialized, .timeLimit(.minutes(4)))
struct ControlTests {
    /// Runs `body` beside a worker that has read its orders, so that it answers `locsearch controls`.
    private static func run(
        _ settings: [String: String] = [:], _ body: (WorkerHarness) async throws -> Void
    ) async throws {
        try await WorkerHarness.run(settings) { harness in
            try await eventually("the worker has read the orders", within: .seconds(40)) {
                try await harness.status("controls", as: [String: Any].self)?["known"] as? Bool == true
            }
            try await body(harness)
        }
    }

    /// Runs `locsearch controls` with the settings of a worker.
    @discardableResult
    private static func controls(
        _ arguments: String..., in harness: WorkerHarness, code: Int32 = 0
    ) async throws -> String {
        let refusal = code == 0 ? "0 workers of the group" : nil
        return try await harness.command(["controls"] + arguments, code: code, againIf: refusal)
    }

    private static func isPaused(_ provider: String, in harness: WorkerHarness) async throws -> Bool {
        try await harness.status(of: provider)["breakerReason"] as? String == "paused-by-order"
    }

    @Test func `A paused provider is called again after it is resumed`() async throws {
        try await Self.run(["PROVIDERS_HOTPEPPER_WHEN_OPEN": "hold"]) { harness in
            let paused = try await Self.controls("pause", "hotpepper", "--yes", in: harness)
            #expect(paused.contains("1 of 1 worker has applied it"))
            #expect(paused.contains("hotpepper is paused"))
            #expect(try await Self.isPaused("hotpepper", in: harness))
            #expect(
                try await harness.metric(
                    #"locsearch_control_active{control="pause-provider",provider="hotpepper",scope="fleet"}"#) == 1)

            try await harness.send(WorkerHarness.requests("held", 3))
            try await harness.send(WorkerHarness.requests("other", 1, "google-places"))
            #expect(try await harness.outcomes(1)["other0"]?.places != nil, "another provider is asked as ever")
            try await eventually("all wait") { try await harness.status(of: "hotpepper")["heldRequests"] as? Int == 3 }
            #expect(try await harness.calls(to: "hotpepper") == 0)

            try await Self.controls("resume", "hotpepper", "--yes", in: harness)
            #expect(try await harness.outcomes(3).values.allSatisfy { $0.places != nil })
            #expect(try await harness.calls(to: "hotpepper") == 3)
            #expect(try await harness.awaitedLogLines(with: "an order was applied", "pause-provider") == 1)
            #expect(try await harness.awaitedLogLines(with: "an order has ended", "taken back by") == 1)
        }
    }

    /// A key that is repaired at the provider is used again at once. Otherwise the next trial is after five minutes.
    @Test func `A retry makes the workers call a provider again whose key was rejected`() async throws {
        try await Self.run { harness in
            try await harness.configureProviders(#"{"apis":["hotpepper"],"faults":{"2000":1}}"#)
            try await harness.send(WorkerHarness.requests("refused", 1))
            #expect(try await harness.outcomes(1)["refused0"]?.code == "unauthorized")

            // A retry before the repair costs one call.
            try await Self.controls("retry", "hotpepper", "--yes", in: harness)
            try await harness.send(WorkerHarness.requests("again", 1))
            #expect(try await harness.outcomes(1)["again0"]?.code == "unauthorized")
            #expect(try await harness.status(of: "hotpepper")["breakerReason"] as? String == "key-refused")
            #expect(try await harness.calls(to: "hotpepper") == 2)

            try await harness.configureProviders(#"{"apis":["hotpepper"],"faults":{}}"#)
            try await harness.send(WorkerHarness.requests("early", 1))
            #expect(try await harness.outcomes(1)["early0"]?.code == "unauthorized", "nobody has told the worker")
            let answer = try await Self.controls("retry", "hotpepper", "--yes", in: harness)
            #expect(answer.contains("1 of 1 worker has applied it") && answer.contains("no order is in force"))
            // The breaker is half-open until three calls have succeeded.
            for number in 0..<3 {
                try await harness.send(WorkerHarness.requests("repaired\(number)", 1))
                #expect(try await harness.outcomes(1)["repaired\(number)0"]?.places != nil)
            }
            try await harness.send(WorkerHarness.requests("all", 5))
            #expect(try await harness.outcomes(5).values.allSatisfy { $0.places != nil })
            #expect(try await harness.status(of: "hotpepper")["breaker"] as? String == "closed")
            #expect(try await harness.awaitedLogLines(with: "calls a provider again, as ordered", "hotpepper") == 2)
            #expect(try await harness.get("/readyz").body == "ok\n")
        }
    }

    @Test func `Requests for a paused provider are answered as whenOpen says`() async throws {
        try await Self.run { harness in
            try await Self.controls("pause", "hotpepper", "--for", "1h", "--yes", in: harness)
            try await harness.send(WorkerHarness.requests("failed", 1))
            let failed = try await harness.outcomes(1)["failed0"]
            #expect(failed?.code == "circuit-open")
            #expect(failed?.failure?.message.contains("paused by the operators") == true)

            try await harness.send(WorkerHarness.requests("auto", 1, "auto"))
            #expect(try await harness.outcomes(1)["auto0"]?.places != nil, "the next provider serves it")
            #expect(try await harness.calls(to: "hotpepper") == 0)
        }
    }

    @Test func `A pause of intake outlasts a restart and expires`() async throws {
        try await Self.run { harness in
            try await Self.controls("pause", "intake", "--for", "1h", "--yes", in: harness)
            let ready = try await harness.get("/readyz")
            #expect(ready.status == 503)
            #expect(ready.body.contains("intake is paused by "))

            try await harness.send(WorkerHarness.requests("waits", 4))
            harness.worker.signal(SIGTERM)
            try await eventually("the worker ends") { !harness.worker.isRunning }
            let second = try RunningProgram(["worker"], environment: harness.environment)
            defer { second.end() }
            try await eventually("the next worker follows the order", within: .seconds(60)) {
                second.error.contains("an order was applied")
            }
            #expect(try await harness.calls() == 0)

            // The duration of a restart on a busy machine is not known, so a separate order has the short time.
            try await Self.controls("pause", "intake", "--for", "8s", "--yes", in: harness)
            #expect(try await harness.outcomes(4).count == 4)
            try await eventually("the log names the end") { second.error.contains("it expired") }
        }
    }

    @Test func `No backlog is runnable while intake is paused`() async throws {
        let settings = ["WORKER_CONCURRENCY": "4", "PROVIDERS_HOTPEPPER_SINGLE_FLIGHT": "false"]
        try await Self.run(settings) { harness in
            try await harness.configureProviders(#"{"latency":"1s"}"#)
            try await harness.sendTogether(WorkerHarness.requests("waits", 60))
            try await eventually("the backlog is there to be run") {
                try await harness.metric("locsearch_runnable_backlog") >= 30
            }

            try await Self.controls("pause", "intake", "--yes", in: harness)
            #expect(try await harness.metric("locsearch_runnable_backlog") == 0)
            #expect(try await harness.get("/metrics").body.contains("locsearch_worker_info{group="))
            try await Self.controls("resume", "intake", "--yes", in: harness)
            try await eventually("the rest can be run again") {
                try await harness.metric("locsearch_runnable_backlog") > 0
            }
        }
    }

    @Test func `Orders beyond the settings need force and none exceeds the range`() async throws {
        try await Self.run(["PROVIDERS_HOTPEPPER_REQUESTS_PER_SECOND": "50"]) { harness in
            let refused = try await Self.controls("rate", "hotpepper", "80", "--yes", in: harness, code: 1)
            #expect(refused.contains("requestsPerSecond of hotpepper is 50"))
            #expect(refused.contains("--force"))
            try await Self.controls("concurrency", "1000", "--yes", in: harness, code: 1)
            try await Self.controls("concurrency", "70000", "--force", "--yes", in: harness, code: 64)
            #expect(harness.logLines(with: "an order") == 0, "nothing was given")

            func rate() async throws -> Double? {
                try await harness.status(of: "hotpepper")["allowedPerSecond"] as? Double
            }
            try await Self.controls("rate", "hotpepper", "20", "--yes", in: harness)
            #expect(try await rate() == 20)
            try await Self.controls("rate", "hotpepper", "80", "--force", "--yes", in: harness)
            #expect(try await rate() == 80)
            try await Self.controls("rate", "hotpepper", "reset", "--yes", in: harness)
            #expect(try await rate() == 50)
        }
    }

    @Test func `The log level and the concurrency follow orders`() async throws {
        try await Self.run(["PROVIDERS_HOTPEPPER_SINGLE_FLIGHT": "false"]) { harness in
            try await Self.controls("log-level", "critical", "--yes", in: harness)
            try await Self.controls("concurrency", "2", "--yes", in: harness)
            #expect(harness.logLines(with: "concurrency") == 0, "the level is that of the order")
            try await Self.controls("log-level", "reset", "--yes", in: harness)
            #expect(try await harness.awaitedLogLines(with: "an order has ended", "log-level") == 1)

            try await harness.configureProviders(#"{"apis":["hotpepper"],"latency":"300ms"}"#)
            try await harness.send(WorkerHarness.requests("some", 8))
            var most = 0
            while try await harness.calls(to: "hotpepper") ?? 0 < 8 {
                most = max(most, try await harness.status("inFlight", as: Int.self) ?? 0)
            }
            #expect((1...2).contains(most), "\(most)")
            #expect(try await harness.outcomes(8).count == 8)
        }
    }

    @Test func `A drained worker finishes its requests and exits with status 0`() async throws {
        try await Self.run { harness in
            let second = try RunningProgram(["worker"], environment: harness.environment)
            defer { second.end() }
            let instance = try #require(
                (try await harness.status("controls", as: [String: Any].self))?["instance"] as? String)

            let drained = try await Self.controls("drain", instance, "--yes", in: harness)
            #expect(drained.contains("exits with status 0"))
            try await eventually("the worker ends", within: .seconds(30)) { !harness.worker.isRunning }
            #expect(harness.worker.code == 0)
            #expect(second.isRunning)
        }
    }

    @Test func `An order for no worker is not given`() async throws {
        try await Self.run { harness in
            let unknown = try await Self.controls(
                "pause", "hotpepper", "--worker", "nobody", "--yes", in: harness, code: 1)
            #expect(unknown.contains("no worker nobody responds"))

            harness.worker.signal(SIGTERM)
            try await eventually("the worker ends") { !harness.worker.isRunning }
            let none = try await Self.controls("pause", "hotpepper", "--yes", in: harness, code: 1)
            #expect(none.contains("0 workers of the group"))
            try await Self.controls("pause", "hotpepper", "--later", "--yes", in: harness)
            #expect(try await Self.controls(in: harness).contains("hotpepper is paused"))
        }
    }
}
