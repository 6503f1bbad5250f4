import EventContract
import Kafka
import KafkaTestSupport
import TestSupport
import Testing

@testable import locsearch

/// `locsearch search` as a process with a broker.
struct SearchCommandTests {
    private static let topics = ["requests": 1, "results": 1, "errors": 1]

    @Test(.timeLimit(.minutes(2))) func `The command's request expires with its timeout`() async throws {
        let broker = try TestBroker(topics: Self.topics)
        let names = Self.topics.keys.flatMap { ["--topics-\($0)", broker.name($0)] }
        let program = try await RunningProgram.run(
            [
                "search", "--kafka-bootstrap-servers", broker.bootstrapServers, "--lat", "35.69", "--lng", "139.7",
                "--timeout", "3s", "--priority", "batch",
            ] + names)
        #expect(program.code == 69)
        #expect(program.error.contains("no outcome within 3s"), "\(program.error)")
        #expect(program.error.contains("`locsearch status`"), "\(program.error)")
        let reader = try TopicReader(ConsumerConfiguration(bootstrapServers: broker.bootstrapServers), log: .silent)
        try await reader.open([broker.name("requests")], at: .beginning, within: .seconds(20))
        let record = try #require(try await reader.records(max: 1, within: .seconds(20)).first)
        let text = { (name: String) in
            record.headers.first { $0.name == name }?.value.map { String(decoding: $0, as: UTF8.self) } ?? ""
        }
        let sent = try #require(WallTime(rfc3339: text("ce_time").utf8.map { $0 }))
        let expiry = try #require(WallTime(rfc3339: text("ce_expirytime").utf8.map { $0 }))
        #expect(record.value.map { String(decoding: $0, as: UTF8.self) }?.contains(#""priority":"batch""#) == true)
        // The command looks up the topics before it sends.
        #expect((.zero ... .seconds(3)).contains(expiry.duration(since: sent)), "\(sent) \(expiry)")
    }
}
