import EventContract
import Kafka
import KafkaTestSupport
import TestSupport
import Testing

@testable import locsearch

/// `dead-letters` with a broker that is slow, or that stops answering half-way. Missing answers never mean the end of the topic.
@Suite(.enabled(if: TestBroker.isEmbedded, "a shared broker cannot be told to be slow"))
struct DeadLetterSilenceTests {
    @Test func `The list waits for a slow broker`() async throws {
        let harness = try await DeadLetterHarness(partitions: 1)
        for offset in 0..<5 { try await harness.put(offset) }

        // Answers after 4 s, which is longer than a silence of 3 s.
        try harness.embedded.fail(.fetch, with: [0, 0, 0], broker: 1, delay: .seconds(4))
        let list = try await harness.run("list")

        #expect(list.code == 0, "\(list.error)")
        #expect(
            list.output.split(separator: "\n").count { $0.contains("invalid-request") } == 5,
            "\(list.output)\(list.error)")
    }

    @Test(arguments: [["list"], ["list", "--limit", "1"], ["redrive", "--dry-run"], ["redrive"]])
    func `A command fails if a partition's broker stops answering`(arguments: [String]) async throws {
        let harness = try await DeadLetterHarness(partitions: 2)
        for offset in 0..<6 { try await harness.put(offset, in: Int32(offset % 2)) }

        // Partition 1's broker reports the end of the partition, but returns no records.
        try harness.silence(partition: 1, requests: 20)
        let command = try await harness.run(arguments + ["--timeout", "3s"])

        #expect(command.code == 69, "\(command.output)\(command.error)")
        #expect(command.error.split(separator: "\n").count == 1, "\(command.error)")
        #expect(command.error.contains(harness.broker.name("letters")), "\(command.error)")
        #expect(command.output.isEmpty, "a part of the topic was shown as if it were all: \(command.output)")
        #expect(try await harness.requests().isEmpty)
    }

    @Test func `A redrive sends nothing twice if the marks cannot be read`() async throws {
        let harness = try await DeadLetterHarness(partitions: 2)
        for offset in 0..<3 { try await harness.put(offset, in: 0) }
        for offset in 0..<3 { try await harness.mark(RedriveMark(partition: 0, offset: Int64(offset)), in: 1) }

        try harness.silence(partition: 1, requests: 1)
        let blind = try await harness.run(["redrive", "--timeout", "3s"])
        #expect(blind.code == 69, "\(blind.output)\(blind.error)")
        #expect(try await harness.requests().isEmpty, "what had gone back before was sent again")

        let seeing = try await harness.run(["redrive"])
        #expect(seeing.code == 0, "\(seeing.error)")
        #expect(seeing.output.contains("0 dead letters went back"), "\(seeing.output)")
        #expect(seeing.output.contains("3 were sent earlier"), "\(seeing.output)")
    }
}
