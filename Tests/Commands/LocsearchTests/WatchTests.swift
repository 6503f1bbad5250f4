import Foundation
import Kafka
import KafkaTestSupport
import TestSupport
import Testing

/// `locsearch watch` as a process, with topics that a test fills.
struct WatchTests {
    private let broker: TestBroker
    private let producer: TestProducer

    init() throws {
        broker = try TestBroker(topics: ["results": 1, "errors": 1])
        producer = try TestProducer(broker.bootstrapServers)
    }

    private var environment: [String: String] {
        [
            "KAFKA_BOOTSTRAP_SERVERS": broker.bootstrapServers, "TOPICS_RESULTS": broker.name("results"),
            "TOPICS_ERRORS": broker.name("errors"),
        ]
    }

    private func run(_ arguments: [String]) async throws -> RunningProgram {
        try await RunningProgram.run(["watch", "--from-beginning"] + arguments, environment: environment)
    }

    /// Writes four outcomes to the topics, and runs the command to its end.
    private func watch(_ arguments: [String]) async throws -> RunningProgram {
        for (number, session) in ["blue", "red", "blue", nil].enumerated() {
            let member = session.map { #","sessionId":"\#($0)""# } ?? ""
            let value = #"{"requestId":"request-\#(number)","operation":"search","provider":"hotpepper"\#(member)}"#
            let key = number == 3 ? nil : Array("key-\(number)".utf8)
            try await producer.send(Array(value.utf8), to: broker.name("results"), key: key)
        }
        return try await run(arguments)
    }

    @Test func `The watch command shows each outcome's key, session and request`() async throws {
        let program = try await watch(["--count", "4"])

        let lines = program.output.split(separator: "\n")
        #expect(lines.count == 4, "\(program.error)")
        for (number, session) in ["blue", "red", "blue"].enumerated() {
            let words = lines[number].split(separator: " ").map(String.init)
            #expect(words.suffix(3) == ["key-\(number)", session, "request-\(number)"], "\(lines[number])")
        }
        #expect(lines[3].split(separator: " ").suffix(3) == ["-", "-", "request-3"], "\(lines[3])")
    }

    /// The runbook of LocsearchErrors refers to this for the provider's own text.
    @Test func `The watch command shows the cause of an error`() async throws {
        let value = #"""
            {"requestId":"r1","operation":"search","provider":"google-places-legacy","error":{"code":"rate-limited",
            "message":"the quota \u001B[2J is used up","retryable":true,"retryAfterMs":2000,"httpStatus":429,
            "providerStatus":"OVER_QUERY_LIMIT"}}
            """#
        try await producer.send(Array(value.utf8), to: broker.name("errors"))
        let program = try await run(["--count", "1"])

        #expect(program.output.split(separator: "\n").count == 1, "\(program.output)\(program.error)")
        #expect(program.output.contains("rate-limited "), "\(program.output)")
        #expect(
            program.output.contains(" is used up [HTTP 429, OVER_QUERY_LIMIT, retry possible in 2s]\n"),
            "\(program.output)")
        #expect(!program.output.contains("\u{1B}"))
    }

    @Test func `The watch command prints only outcomes as JSON, one a line`() async throws {
        let value = "{\"requestId\":\"r1\",\n\"operation\":\"search\",\r\n\"provider\":\"hotpepper\"}"
        for text in ["hello", value] { try await producer.send(Array(text.utf8), to: broker.name("results")) }
        let program = try await run(["--json", "--count", "1"])

        #expect(
            program.output == "{\"requestId\":\"r1\", \"operation\":\"search\",  \"provider\":\"hotpepper\"}\n")
        #expect(program.error.contains("left out"), "\(program.error)")
    }

    @Test(arguments: [
        (["--key", "key-1", "--count", "1"], ["request-1"]),
        (["--session", "blue", "--count", "2"], ["request-0", "request-2"]),
        (["--request-id", "request-3", "--count", "1"], ["request-3"]),
        (["--session", "blue", "--key", "key-2", "--count", "1"], ["request-2"]),
    ])
    func `The watch command shows only matching outcomes`(filter: [String], requests: [String]) async throws {
        let program = try await watch(filter)

        let shown = program.output.split(separator: "\n").map { $0.split(separator: " ").last.map(String.init) }
        #expect(shown == requests, "\(program.output)\(program.error)")
    }

    #if os(Linux)
        private static let unshare = "/usr/bin/unshare"
        private static let asFirstProcess = ["--user", "--map-root-user", "--pid", "--fork", "--kill-child"]

        /// For the first process of a container, the kernel drops signals without a handler.
        @Test(
            .enabled("this machine permits no namespaces") {
                (try? await RunningProgram.run(asFirstProcess + ["/bin/true"], at: unshare))?.code == 0
            })
        func `SIGTERM ends the watch command as the first process of a container`() async throws {
            let arguments = Self.asFirstProcess + [RunningProgram.location.path, "watch"]
            let program = try RunningProgram(arguments, environment: environment, at: Self.unshare)
            defer { program.end() }

            try await eventually("it ends", within: .seconds(60)) {
                let file = "/proc/\(program.pid)/task/\(program.pid)/children"
                let children = (try? String(contentsOfFile: file, encoding: .utf8))?.split(separator: " ") ?? []
                for child in children.compactMap({ Int32($0) }) { kill(child, SIGTERM) }
                return !program.isRunning
            }
            #expect(program.code == 128 + SIGTERM, "\(program.output)\(program.error)")
        }
    #endif
}
