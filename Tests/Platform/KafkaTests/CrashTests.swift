import EventLoop
import Foundation
import KafkaTestSupport
import Logging
import TestSupport
import Testing

@testable import Kafka

/// The commit of a consumer whose process crashes: real processes, real signals.
@Suite(
    .serialized, .closesClients, .timeLimit(.minutes(2)),
    .enabled(if: TestBroker.isEmbedded, "Tansu keeps no metadata beside offsets"))
struct CrashTests {
    /// The way in which a process ends.
    enum End: String, Codable, Sendable {
        case trap
        case emptyStack
        case kill
        case signalFromOutside
        case trapOfAnotherThread
    }

    private static let said = CommittedOffset(0, metadata: "locsearch1;tries=3;suspect=0:2")

    @Test(arguments: [End.trap, .emptyStack])
    func `A crash of the loop is committed`(_ end: End) async throws {
        #expect(try await commit(after: end) == Self.said)
    }

    /// Neither a signal from outside nor a crash of another thread is evidence against the record that is run.
    @Test(arguments: [End.kill, .signalFromOutside, .trapOfAnotherThread])
    func `Other ends are not committed`(_ end: End) async throws { #expect(try await commit(after: end) == nil) }

    /// Returns the group's commit after a process has ended.
    private func commit(after end: End) async throws -> CommittedOffset? {
        let fixture = try await filled()
        let names = Names(
            servers: fixture.broker.bootstrapServers, topic: fixture.topic, group: fixture.broker.name("g"))
        await #expect(processExitsWith: .failure) { [names = names as Names, end = end as End] in
            try await Self.crash(by: end, names)
        }
        return try await commit(in: fixture)
    }

    /// The names that a process needs to join the group.
    private struct Names: Codable {
        let servers: String
        let topic: String
        let group: String
    }

    // MARK: - The process that crashes

    /// Reads a record, sets the commit for a crash, and crashes.
    private static func crash(by end: End, _ names: Names) async throws {
        var configuration = ConsumerConfiguration(bootstrapServers: names.servers)
        configuration.groupID = names.group
        configuration.properties = ["session.timeout.ms": "3000", "heartbeat.interval.ms": "500"]
        let loop = try EventLoop()
        let consumer = try KafkaConsumer(loop: loop, configuration: configuration, log: .silent)
        try await consumer.subscribe(to: [names.topic], listener: Notes())
        let record = try await consumer.read(1)[0]
        await consumer.commitOnCrash((partition: record.partition, next: said))
        await consumer.end(by: end)
    }

    // MARK: - The process that checks

    private func filled() async throws -> KafkaFixture {
        let fixture = try KafkaFixture(partitions: 1)
        try await fixture.fill(1, partition: 0, with: try fixture.producer())
        return fixture
    }

    /// Returns the group's commit.
    private func commit(in fixture: KafkaFixture) async throws -> CommittedOffset? {
        let id = TopicPartition(fixture.topic, 0)
        return try await fixture.admin().commits(of: [id], within: .seconds(20))[id]
    }
}

extension KafkaConsumer {
    /// Ends the process, on the loop's thread by default.
    fileprivate func end(by end: CrashTests.End) {
        switch end {
        case .trap: fatalError("made to crash")
        case .emptyStack: print(Self.depth(of: 1))
        case .kill: kill(getpid(), SIGKILL)
        case .signalFromOutside:
            // Sent by a child process, as by any other process.
            let shell = Process()
            shell.executableURL = URL(filePath: "/bin/sh")
            shell.arguments = ["-c", "kill -SEGV \(getpid())"]
            try? shell.run()
            while true { sleep(1) }
        case .trapOfAnotherThread:
            Thread.detachNewThread { fatalError("made to crash") }
            while true { sleep(1) }
        }
    }

    @inline(never)
    private static func depth(of number: Int) -> Int { number == 0 ? 0 : depth(of: number + 1) &+ 1 }
}
