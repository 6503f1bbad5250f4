import Basics
import Foundation
import Kafka
import Synchronization
import TestSupport
import Testing

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// A worker's process ends regardless of its admin port's clients.
@Suite(.serialized)
struct EndingTests {
    /// Requests `/metrics` and `/status` repeatedly on many connections until the process has ended.
    private static func withRequestsInFlight(_ harness: WorkerHarness, _ body: () async throws -> Void) async throws {
        let answers = Answers()
        for number in 0..<24 {
            let path = number.isMultiple(of: 2) ? "/metrics" : "/status"
            Thread.detachNewThread {
                while harness.worker.isRunning, let connection = try? LoopbackConnection(port: harness.adminPort) {
                    connection.send("GET \(path) HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n")
                    if connection.readToEnd() { answers.count.add(1, ordering: .relaxed) }
                }
            }
        }

        try await eventually("the clients get answers") { answers.count.load(ordering: .relaxed) > 100 }
        try await body()
    }

    private final class Answers: Sendable {
        let count = Atomic<Int>(0)
    }

    private static func worker(at broker: String, _ delivery: String) throws -> RunningProgram {
        try RunningProgram(
            ["worker"],
            environment: [
                "KAFKA_BOOTSTRAP_SERVERS": broker, "WORKER_DELIVERY": delivery, "WORKER_SHUTDOWN_GRACE": "1s",
                "HOTPEPPER_API_KEY": "any", "ADMIN_PORT": "0",
            ])
    }

    private static func expectEndAfterGrace(of worker: RunningProgram) async throws {
        worker.signal(SIGTERM)
        // The grace and 6 s, doubled for a busy machine. Kafka's own timeouts begin at 45 s.
        try await eventually("the worker ends", within: .seconds(14)) { !worker.isRunning }
        #expect(worker.code == 0, "\(worker.error)")
    }

    @Test(.timeLimit(.minutes(2))) func `A worker ends on SIGTERM with requests in flight`() async throws {
        try await WorkerHarness.run { harness in
            try await Self.withRequestsInFlight(harness) {
                harness.worker.signal(SIGTERM)
                try await eventually("the worker ends", within: .seconds(25)) { !harness.worker.isRunning }
            }
            #expect(harness.worker.code == 0, "\(harness.worker.error)")
        }
    }

    @Test(.timeLimit(.minutes(2))) func `A worker ends on a fatal error with requests in flight`() async throws {
        try await WorkerHarness.run(["WORKER_DELIVERY": "exactly-once"]) { harness in
            try await Self.withRequestsInFlight(harness) {
                harness.broker.fail(.heartbeat, with: 82)  // FENCED_INSTANCE_ID
                try await eventually("the worker ends", within: .seconds(25)) { !harness.worker.isRunning }
            }
            #expect(harness.worker.code == 1, "\(harness.worker.error)")
            #expect(harness.logLines(with: "worker stops: another process joined the group") == 1)
        }
    }

    /// With transactions, the start waits for the brokers before it joins the group.
    @Test(.timeLimit(.minutes(1)), arguments: ["at-least-once", "exactly-once"])
    func `A worker that starts without brokers ends on SIGTERM`(delivery: String) async throws {
        let worker = try Self.worker(at: "127.0.0.1:1", delivery)
        defer { worker.end() }
        try await eventually("the log says that no broker answers") { worker.error.contains("no broker answers") }

        try await Self.expectEndAfterGrace(of: worker)
    }

    /// A stopped broker keeps its connections and answers nothing, so no error ends the worker's waits.
    @Test(.timeLimit(.minutes(2)), arguments: ["at-least-once", "exactly-once"])
    func `A worker whose broker stands still ends soon after its grace`(delivery: String) async throws {
        let broker = try RunningProgram(["broker"])
        defer { broker.end() }
        try await eventually("the broker tells where it is") { broker.firstLine?.contains("127.0.0.1:") == true }
        let line = try #require(broker.firstLine)
        let address = try #require(line.split(separator: " ").first { $0.hasPrefix("127.0.0.1:") })
        let worker = try Self.worker(at: String(address), delivery)
        defer { worker.end() }
        try await eventually("the worker has partitions", within: .seconds(40)) {
            worker.error.contains("partitions assigned")
        }

        broker.signal(SIGSTOP)
        try await Self.expectEndAfterGrace(of: worker)
    }

    /// The first client sends half a request, the second one never reads its answers, the third keeps its connection for later.
    @Test(.timeLimit(.minutes(2)), arguments: ["GET /metr", "many", "GET /livez HTTP/1.1\r\nhost: a\r\n\r\n"])
    func `A client that keeps its connection does not delay the end`(sends text: String) async throws {
        try await WorkerHarness.run { harness in
            let connection = try LoopbackConnection(port: harness.adminPort)
            let request = "GET /metrics HTTP/1.1\r\nhost: a\r\n\r\n"
            connection.send(text == "many" ? String(repeating: request, count: 2000) : text)

            let begin = Instant.now
            harness.worker.signal(SIGTERM)
            try await eventually("the worker ends", within: .seconds(30)) { !harness.worker.isRunning }
            #expect(harness.worker.code == 0, "\(harness.worker.error)")
            #expect(begin.duration(to: .now) < .seconds(15))
            withExtendedLifetime(connection) {}
        }
    }
}
