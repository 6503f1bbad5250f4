import EventLoop
import Kafka
import KafkaTestSupport
import Logging
import Synchronization
import TestSupport
import Testing

@testable import QuotaSharing
import WorkerRuntime

/// Members of a fleet publish messages to a topic, and receive those of all members.
struct FleetLinkTests {
    private let log = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }

    /// The records that one process has received.
    private final class Inbox: Sendable {
        let received = Mutex<[FleetRecord]>([])

        func receive(_ news: FleetNews) -> Bool {
            received.withLock { $0 += news.records }
            return false
        }

        func numbers(isOld: Bool) -> [UInt64] {
            received.withLock { records in
                records.filter { $0.isOld == isOld }.compactMap { record in
                    if case .shares(let message) = record.message { message.number } else { nil }
                }
            }
        }
    }

    private static func message(_ number: UInt64) -> FleetMessage {
        .shares(LeaseMessage(sender: "a", number: number, owned: 1, partitionCount: 2))
    }

    private func link(_ broker: TestBroker, loop: EventLoop, history: Int64 = 0) -> FleetLink {
        var configuration = FleetLink.Configuration(topic: broker.name("fleet"))
        configuration.history = history
        let clients = FleetTopicClients.kafka(
            FleetCodec(fleet: "f"),
            consumer: ConsumerConfiguration(bootstrapServers: broker.bootstrapServers),
            producer: ProducerConfiguration(bootstrapServers: broker.bootstrapServers), loop: loop, log: log)
        return FleetLink(configuration, clients: clients, loop: loop, log: log)
    }

    /// Runs a link during `body`, which begins once the topic is open.
    private func run(_ link: FleetLink, _ inbox: Inbox, _ body: () async throws -> Void) async throws {
        let running = Task { await link.run { inbox.receive($0) } }
        try await eventually("the topic is open", within: .seconds(40)) { link.problem == nil }
        try await body()
        link.end()
        await running.value
    }

    @Test(.timeLimit(.minutes(2))) func `All members receive messages in their order`() async throws {
        let broker = try TestBroker(topics: ["fleet": 2])
        let loop = try EventLoop()
        defer { loop.stop() }
        let (publisher, reader) = (link(broker, loop: loop), link(broker, loop: loop))
        let (own, other) = (Inbox(), Inbox())

        try await run(reader, other) {
            try await run(publisher, own) {
                for number in 1...20 as ClosedRange<UInt64> { publisher.publish([Self.message(number)]) }
                for inbox in [own, other] {
                    try await eventually("all messages are received", within: .seconds(40)) {
                        inbox.numbers(isOld: false) == Array(1...20)
                    }
                }
            }
        }
        let offsets = other.received.withLock { $0.map(\.offset) }
        #expect(offsets == offsets.sorted())
    }

    @Test(.timeLimit(.minutes(2))) func `Invalid messages are skipped`() async throws {
        let broker = try TestBroker(topics: ["fleet": 2])
        let loop = try EventLoop()
        defer { loop.stop() }
        let inbox = Inbox()
        let producer = try KafkaProducer(
            loop: loop, configuration: ProducerConfiguration(bootstrapServers: broker.bootstrapServers), log: log)

        let reader = link(broker, loop: loop)
        try await run(reader, inbox) {
            let texts = [
                "", "null", "{", #"{"fleet":"f","news":1}"#, #"{"fleet":"f","shares":{"sender":"a","number":1e400}}"#,
            ]
            for text in texts.map({ Array($0.utf8) }) {
                try await producer.send(ProducerRecord(topic: broker.name("fleet"), partition: 0, value: text))
            }
            try await producer.send(ProducerRecord(topic: broker.name("fleet"), partition: 0, value: nil))
            // Messages in other partitions are ignored.
            try await producer.send(
                ProducerRecord(
                    topic: broker.name("fleet"), partition: 1, value: FleetCodec(fleet: "f").bytes(of: Self.message(1)))
            )
            reader.publish([Self.message(2)])
            try await eventually("the message is received", within: .seconds(40)) {
                !inbox.numbers(isOld: false).isEmpty
            }
        }
        #expect(inbox.received.withLock { $0.count { $0.message != nil } } == 1)
        #expect(inbox.numbers(isOld: false) == [2])
        await producer.close()
    }

    @Test(
        .timeLimit(.minutes(2)),
        .enabled(if: TestBroker.isEmbedded, "another broker may tell an end that was earlier than the last record"))
    func `Records from before the start are marked as old`() async throws {
        let broker = try TestBroker(topics: ["fleet": 1])
        let loop = try EventLoop()
        defer { loop.stop() }
        let (first, second) = (Inbox(), Inbox())

        let before = link(broker, loop: loop)
        try await run(before, first) {
            before.publish([Self.message(1), Self.message(2), Self.message(3)])
            try await eventually("all messages are received", within: .seconds(40)) {
                first.numbers(isOld: false).count == 3
            }
        }

        let after = link(broker, loop: loop, history: 2)
        try await run(after, second) {
            after.publish([Self.message(4)])
            try await eventually("the new message is received", within: .seconds(40)) {
                second.numbers(isOld: false) == [4]
            }
        }
        #expect(second.numbers(isOld: true) == [2, 3], "the newest two of what was there")
    }

    /// The embedded broker keeps 5 MB of a partition. A reader that is slower than its writers misses records.
    @Test(
        .timeLimit(.minutes(2)), .enabled(if: TestBroker.isEmbedded, "another broker keeps more of a topic"))
    func `The topic is read again if records were deleted unread`() async throws {
        let broker = try TestBroker(topics: ["fleet": 1])
        let loop = try EventLoop()
        defer { loop.stop() }
        let producer = try KafkaProducer(
            loop: loop, configuration: ProducerConfiguration(bootstrapServers: broker.bootstrapServers), log: log)
        let reader = link(broker, loop: loop, history: 100)
        let inbox = Inbox()
        let extents = Mutex<[FleetTopicExtent]>([])
        let isOpen = Mutex(false)

        let running = Task {
            await reader.run { news in
                if let extent = news.opened { extents.withLock { $0.append(extent) } }
                guard !news.records.isEmpty else { return false }
                _ = inbox.receive(news)
                // Stops reading until the topic has dropped the next records.
                while !isOpen.withLock({ $0 }), !Task.isCancelled { try? await Task.sleep(for: .milliseconds(10)) }
                return false
            }
        }
        try await eventually("the topic is open", within: .seconds(40)) { reader.problem == nil }
        reader.publish([Self.message(1)])
        try await eventually("the first message is received", within: .seconds(40)) {
            !inbox.numbers(isOld: false).isEmpty
        }

        let filler = [UInt8](repeating: 0x20, count: 64_000)
        for _ in 0..<1500 {
            try await producer.send(ProducerRecord(topic: broker.name("fleet"), partition: 0, value: filler))
        }
        isOpen.withLock { $0 = true }
        try await eventually("the topic is read anew", within: .seconds(60)) { extents.withLock { $0.count } > 1 }
        reader.publish([Self.message(2)])
        try await eventually("the next message is received", within: .seconds(40)) {
            inbox.numbers(isOld: false).contains(2)
        }

        let last = try #require(extents.withLock { $0.last })
        #expect(last.oldest > 1 && !last.isRemade)
        reader.end()
        await running.value
        await producer.close()
    }
}
