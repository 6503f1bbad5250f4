import EventLoop
import Kafka
import Logging
import QuotaSharing
import Synchronization
import TestSupport
import Testing

/// What members of a fleet say to each other over a topic.
struct FleetLinkTests {
    private let log = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }

    /// What one process hears.
    private final class Ear: Sendable {
        let heard = Mutex<[FleetRecord]>([])

        func numbers(isOld: Bool) -> [UInt64] {
            heard.withLock { records in
                records.filter { $0.isOld == isOld }.compactMap { record in
                    if case .shares(let message) = record.word { message.number } else { nil }
                }
            }
        }
    }

    private static func word(_ number: UInt64) -> FleetWord {
        .shares(FleetMessage(sender: "a", number: number, owned: 1, partitionCount: 2))
    }

    private func link(_ broker: TestBroker, loop: EventLoop, history: Int64 = 0) -> FleetLink {
        var configuration = FleetLink.Configuration(topic: broker.name("fleet"))
        configuration.history = history
        let clients = FleetLink.Clients.kafka(
            consumer: ConsumerConfiguration(bootstrapServers: broker.bootstrapServers),
            producer: ProducerConfiguration(bootstrapServers: broker.bootstrapServers), loop: loop, log: log)
        return FleetLink(configuration, clients: clients, loop: loop, log: log)
    }

    /// Runs a link while `body` does, which begins once the topic is open.
    private func run(_ link: FleetLink, _ ear: Ear, _ body: () async throws -> Void) async throws {
        let running = Task { await link.run { records in ear.heard.withLock { $0 += records } } }
        try await eventually("the topic is open", within: .seconds(40)) { link.problem == nil }
        try await body()
        link.end()
        await running.value
    }

    @Test(.timeLimit(.minutes(2))) func wordsAreHeardByAllInTheOrderInWhichTheyWereSaid() async throws {
        let broker = try TestBroker(topics: ["fleet": 2])
        let loop = try EventLoop()
        defer { loop.stop() }
        let (speaker, listener) = (link(broker, loop: loop), link(broker, loop: loop))
        let (own, other) = (Ear(), Ear())

        try await run(listener, other) {
            try await run(speaker, own) {
                for number in 1...20 as ClosedRange<UInt64> { speaker.say([Self.word(number)]) }
                for ear in [own, other] {
                    try await eventually("all is heard", within: .seconds(40)) {
                        ear.numbers(isOld: false) == Array(1...20)
                    }
                }
            }
        }
        let offsets = other.heard.withLock { $0.map(\.offset) }
        #expect(offsets == offsets.sorted())
    }

    @Test(.timeLimit(.minutes(2))) func whatIsNoWordIsPassedOver() async throws {
        let broker = try TestBroker(topics: ["fleet": 2])
        let loop = try EventLoop()
        defer { loop.stop() }
        let ear = Ear()
        let producer = try KafkaProducer(
            loop: loop, configuration: ProducerConfiguration(bootstrapServers: broker.bootstrapServers), log: log)

        let listener = link(broker, loop: loop)
        try await run(listener, ear) {
            let texts = ["", "null", "{", #"{"news":1}"#, #"{"shares":{"sender":"a","number":1e400}}"#]
            for text in texts.map({ Array($0.utf8) }) {
                try await producer.send(ProducerRecord(topic: broker.name("fleet"), partition: 0, value: text))
            }
            try await producer.send(ProducerRecord(topic: broker.name("fleet"), partition: 0, value: nil))
            // A word in another partition is nobody's.
            try await producer.send(
                ProducerRecord(topic: broker.name("fleet"), partition: 1, value: FleetCodec.bytes(of: Self.word(1))))
            listener.say([Self.word(2)])
            try await eventually("the word is heard", within: .seconds(40)) { !ear.numbers(isOld: false).isEmpty }
        }
        #expect(ear.heard.withLock { $0.count { $0.word != nil } } == 1)
        #expect(ear.numbers(isOld: false) == [2])
        await producer.close()
    }

    @Test(
        .timeLimit(.minutes(2)),
        .enabled(if: TestBroker.isEmbedded, "another broker may tell an end that was earlier than the last record"))
    func whatWasSaidBeforeIsMarkedAsOld() async throws {
        let broker = try TestBroker(topics: ["fleet": 1])
        let loop = try EventLoop()
        defer { loop.stop() }
        let (first, second) = (Ear(), Ear())

        let before = link(broker, loop: loop)
        try await run(before, first) {
            before.say([Self.word(1), Self.word(2), Self.word(3)])
            try await eventually("all is heard", within: .seconds(40)) { first.numbers(isOld: false).count == 3 }
        }

        let after = link(broker, loop: loop, history: 2)
        try await run(after, second) {
            after.say([Self.word(4)])
            try await eventually("the new word is heard", within: .seconds(40)) {
                second.numbers(isOld: false) == [4]
            }
        }
        #expect(second.numbers(isOld: true) == [2, 3], "the newest two of what was there")
    }

    /// The embedded broker keeps 5 MB of a partition. A reader that is slower than its writers misses the rest.
    @Test(
        .timeLimit(.minutes(2)), .enabled(if: TestBroker.isEmbedded, "another broker keeps more of a topic"))
    func topicIsReadAnewWhenRecordsWereDeletedUnread() async throws {
        let broker = try TestBroker(topics: ["fleet": 1])
        let loop = try EventLoop()
        defer { loop.stop() }
        let producer = try KafkaProducer(
            loop: loop, configuration: ProducerConfiguration(bootstrapServers: broker.bootstrapServers), log: log)
        let listener = link(broker, loop: loop, history: 100)
        let ear = Ear()
        let extents = Mutex<[FleetTopicExtent]>([])
        let isOpen = Mutex(false)

        let running = Task {
            await listener.run(opened: { extent in extents.withLock { $0.append(extent) } }) { records in
                ear.heard.withLock { $0 += records }
                // Hears nothing more until the topic has lost what comes next.
                while !isOpen.withLock({ $0 }), !Task.isCancelled { try? await Task.sleep(for: .milliseconds(10)) }
            }
        }
        try await eventually("the topic is open", within: .seconds(40)) { listener.problem == nil }
        listener.say([Self.word(1)])
        try await eventually("the first word is heard", within: .seconds(40)) { !ear.numbers(isOld: false).isEmpty }

        let filler = [UInt8](repeating: 0x20, count: 64_000)
        for _ in 0..<1500 {
            try await producer.send(ProducerRecord(topic: broker.name("fleet"), partition: 0, value: filler))
        }
        isOpen.withLock { $0 = true }
        try await eventually("the topic is read anew", within: .seconds(60)) { extents.withLock { $0.count } > 1 }
        listener.say([Self.word(2)])
        try await eventually("the next word is heard", within: .seconds(40)) {
            ear.numbers(isOld: false).contains(2)
        }

        let last = try #require(extents.withLock { $0.last })
        #expect(last.oldest > 1 && !last.isRemade)
        listener.end()
        await running.value
        await producer.close()
    }
}
