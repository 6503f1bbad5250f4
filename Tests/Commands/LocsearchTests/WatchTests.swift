import EventLoop
import Kafka
import KafkaTestSupport
import Logging
import TestSupport
import Testing

/// `locsearch watch` as a process, with topics that a test fills.
struct WatchTests {
    /// Writes four outcomes to the topics, runs `watch` and ends everything.
    private func watch(_ arguments: [String]) async throws -> RunningProgram {
        let log = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
        let broker = try TestBroker(topics: ["results": 1, "errors": 1])
        let loop = try EventLoop()
        let producer = try KafkaProducer(
            loop: loop, configuration: ProducerConfiguration(bootstrapServers: broker.bootstrapServers), log: log)
        for (number, session) in ["blue", "red", "blue", nil].enumerated() {
            let member = session.map { #","sessionId":"\#($0)""# } ?? ""
            let value = #"{"requestId":"request-\#(number)","operation":"search","provider":"hotpepper"\#(member)}"#
            try await producer.send(
                ProducerRecord(
                    topic: broker.name("results"), key: number == 3 ? nil : Array("key-\(number)".utf8),
                    value: Array(value.utf8)))
        }
        await producer.close()
        loop.stop()

        let program = try RunningProgram(
            ["watch", "--from-beginning"] + arguments,
            environment: [
                "KAFKA_BOOTSTRAP_SERVERS": broker.bootstrapServers, "TOPICS_RESULTS": broker.name("results"),
                "TOPICS_ERRORS": broker.name("errors"),
            ])
        defer { program.end() }
        try await eventually("watch \(arguments) ends", within: .seconds(60)) { !program.isRunning }
        return program
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
        let broker = try TestBroker(topics: ["results": 1, "errors": 1])
        let loop = try EventLoop()
        let producer = try KafkaProducer(
            loop: loop, configuration: ProducerConfiguration(bootstrapServers: broker.bootstrapServers),
            log: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
        let value = #"""
            {"requestId":"r1","operation":"search","provider":"google-places-legacy","error":{"code":"rate-limited",
            "message":"the quota \u001B[2J is used up","retryable":true,"retryAfterMs":2000,"httpStatus":429,
            "providerStatus":"OVER_QUERY_LIMIT"}}
            """#
        try await producer.send(ProducerRecord(topic: broker.name("errors"), key: nil, value: Array(value.utf8)))
        await producer.close()
        loop.stop()

        let program = try RunningProgram(
            ["watch", "--from-beginning", "--count", "1"],
            environment: [
                "KAFKA_BOOTSTRAP_SERVERS": broker.bootstrapServers, "TOPICS_RESULTS": broker.name("results"),
                "TOPICS_ERRORS": broker.name("errors"),
            ])
        defer { program.end() }
        try await eventually("watch ends", within: .seconds(60)) { !program.isRunning }

        #expect(program.output.split(separator: "\n").count == 1, "\(program.output)\(program.error)")
        #expect(program.output.contains("rate-limited "), "\(program.output)")
        #expect(
            program.output.contains(" is used up [HTTP 429, OVER_QUERY_LIMIT, retry possible in 2s]\n"),
            "\(program.output)")
        #expect(!program.output.contains("\u{1B}"))
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
}
