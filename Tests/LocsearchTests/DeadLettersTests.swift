import EventContract
import EventLoop
import Kafka
import LocationSearch
import Logging
import TestSupport
import Testing
import WorkerRuntime

@testable import locsearch

/// `dead-letters` as a process.
struct DeadLettersTests {
    private let log = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }

    private func letter(
        of requests: String, _ offset: Int64, _ value: String, reason: SearchError.Code = .invalidRequest
    ) -> DeadLetter {
        let record = IncomingRecord(
            source: SourcePosition(topic: requests, partition: 0, offset: offset), timestamp: nil,
            key: Array("k\(offset)".utf8), value: Array(value.utf8), headers: [EventHeader("n", text: "\(offset)")])
        return DeadLetter(record, error: SearchError(reason, "value is no JSON"), at: .now())
    }

    private func run(_ broker: TestBroker, _ arguments: String...) async throws -> RunningProgram {
        let program = try RunningProgram(
            ["dead-letters"] + arguments,
            environment: [
                "KAFKA_BOOTSTRAP_SERVERS": broker.bootstrapServers, "TOPICS_REQUESTS": broker.name("requests"),
                "TOPICS_DEAD_LETTERS": broker.name("letters"),
            ])
        defer { program.end() }
        try await eventually("the command ends", within: .seconds(60)) { !program.isRunning }
        return program
    }

    private func requests(_ broker: TestBroker) async throws -> [ConsumerRecord] {
        let reader = try TopicReader(
            ConsumerConfiguration(bootstrapServers: broker.bootstrapServers), log: log)
        try await reader.open([broker.name("requests")], at: .beginning, within: .seconds(20))
        var all: [ConsumerRecord] = []
        while true {
            let more = try await reader.records(max: 100, within: .seconds(1))
            if more.isEmpty { return all }
            all += more
        }
    }

    @Test func eachGoesBackOnceWithItsOwnBytes() async throws {
        let broker = try TestBroker(topics: ["requests": 1, "letters": 2])
        let loop = try EventLoop()
        let producer = try KafkaProducer(
            loop: loop, configuration: ProducerConfiguration(bootstrapServers: broker.bootstrapServers), log: log)
        for offset in 0..<7 {
            var letter = letter(
                of: broker.name("requests"), Int64(offset), "broken \(offset) \u{1B}[2J",
                reason: offset < 4 ? .invalidRequest : .internal)
            if offset == 6 { letter = letter.withoutContent }
            try await producer.send(
                ProducerRecord(
                    topic: broker.name("letters"), key: letter.key, value: letter.value,
                    headers: letter.headers.map { KafkaHeader($0.name, $0.value) }))
        }
        let list = try await run(broker, "list")
        try await eventually("the list is there") { list.output.split(separator: "\n").count == 21 }
        #expect(list.output.contains("invalid-request  \(broker.name("requests"))-0@3"))
        #expect(!list.output.contains("\u{1B}"))

        let dry = try await run(broker, "redrive", "--dry-run")
        try await eventually("it says how many") { dry.output.contains("6 dead letters would go back") }
        try await eventually("and how many cannot") { dry.error.contains("1 cannot go back") }
        #expect(try await requests(broker).isEmpty)

        let some = try await run(broker, "redrive", "--reason", "invalid-request", "--from-offset", "1")
        try await eventually("three went back") { some.output.contains("3 dead letters went back") }
        let rest = try await run(broker, "redrive", "--rate", "100")
        try await eventually("only the rest went back") { rest.output.contains("3 dead letters went back") }
        let again = try await run(broker, "redrive")
        try await eventually("nothing is left") { again.output.contains("0 dead letters went back") }

        let sent = try await requests(broker)
        let expected = (0..<6).map { "broken \($0) \u{1B}[2J" }
        #expect(sent.map { String(decoding: $0.value ?? [], as: UTF8.self) }.sorted() == expected)
        for record in sent {
            #expect(record.headers.map(\.name) == ["n"])
            #expect(record.key.map { String(decoding: $0, as: UTF8.self) }?.hasPrefix("k") == true)
        }
        await producer.close()
        loop.stop()
    }

    @Test(arguments: [["redrive", "--rate", "0"], ["list", "--limit", "0"], ["list", "--since", "yesterday"]])
    func wrongUsageIsRefused(arguments: [String]) async throws {
        let program = try RunningProgram(["dead-letters"] + arguments)
        defer { program.end() }
        try await eventually("the command ends", within: .seconds(60)) { !program.isRunning }
        #expect(program.code == 64)
    }
}
