import Foundation
import KafkaTestSupport
import TestSupport
import Testing

@testable import locsearch

/// Clients that use up a process's connections.
struct FileDescriptorTests {
    private static let topics = ["requests", "results", "errors", "dead-letters"].map { "location-search.\($0)" }

    /// Starts the program from a shell that has set its limits of open files first.
    private static func start(
        _ arguments: [String], limits: String, environment: [String: String]
    ) throws -> RunningProgram {
        try RunningProgram(
            ["-c", #"\#(limits); exec "$0" "$@""#, RunningProgram.location.path] + arguments, environment: environment,
            at: "/bin/sh")
    }

    private static func environment(_ broker: TestBroker) -> [String: String] {
        [
            "KAFKA_BOOTSTRAP_SERVERS": broker.bootstrapServers, "ADMIN_PORT": "0", "WORKER_SHUTDOWN_GRACE": "0s",
            "HOTPEPPER_API_KEY": "any text", "TOPICS_REQUESTS": broker.name(topics[0]),
            "TOPICS_RESULTS": broker.name(topics[1]), "TOPICS_ERRORS": broker.name(topics[2]),
            "TOPICS_DEAD_LETTERS": broker.name(topics[3]),
        ]
    }

    private static func port(of worker: RunningProgram) async throws -> Int {
        try #require(try await worker.address().split(separator: ":").last.flatMap { Int($0) })
    }

    /// 400 clients with half a request each must not use up all of 256 descriptors.
    @Test(.timeLimit(.minutes(2))) func `A worker answers a probe beside hundreds of half requests`() async throws {
        let broker = try TestBroker(topics: Dictionary(uniqueKeysWithValues: Self.topics.map { ($0, 1) }))
        let worker = try Self.start(["worker"], limits: "ulimit -n 256", environment: Self.environment(broker))
        defer { worker.end() }
        let port = try await Self.port(of: worker)

        let connections = try (0..<400).map { _ in
            let connection = try LoopbackConnection(port: port)
            connection.send("GET /livez HTTP/1.1\r\nhost: ")
            return connection
        }
        for _ in 0..<3 {
            let probe = try LoopbackConnection(port: port)
            probe.send("GET /livez HTTP/1.1\r\nhost: a\r\n\r\n")
            var answer = ""
            try await eventually("an answer") {
                answer += String(decoding: probe.readAvailable(), as: UTF8.self)
                return answer.contains("200 OK")
            }
        }
        try await eventually("most of them are closed") { connections.count { $0.isClosedByPeer() } >= 300 }
        try await eventually("the log says so") { worker.error.contains("because there are too many") }
    }

    #if os(Linux)
        @Test(.timeLimit(.minutes(2))) func `A worker raises its limit of open files to the hard limit`() async throws {
            let broker = try TestBroker(topics: Dictionary(uniqueKeysWithValues: Self.topics.map { ($0, 1) }))
            let worker = try Self.start(
                ["worker"], limits: "ulimit -Sn 200; ulimit -Hn 2000", environment: Self.environment(broker))
            defer { worker.end() }
            _ = try await Self.port(of: worker)

            let text = try String(contentsOfFile: "/proc/\(worker.pid)/limits", encoding: .utf8)
            let line = try #require(text.split(separator: "\n").first { $0.hasPrefix("Max open files") })
            #expect(line.split(separator: " ").dropFirst(3).prefix(2) == ["2000", "2000"], "\(line)")
        }
    #endif
}
