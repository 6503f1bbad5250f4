import EventLoop
import Kafka
import QuotaSharing
import SimulatedKafkaClients
import SimulatedLoop
import WorkerRuntime

/// Makes the simulated clients through which a process's real `FleetLink` reads and writes the fleet topic.
final class SimulatedFleetClients: @unchecked Sendable {
    // Sendable by hand: a simulation has one thread.

    /// Decoded messages by their bytes. All members read the same records, so each is decoded once.
    final class Messages: @unchecked Sendable {
        /// The bytes of a message. The hash covers only every seventh byte, because hashing all of them takes as long as decoding them.
        private struct Key: Hashable {
            let bytes: [UInt8]

            func hash(into hasher: inout Hasher) {
                var sum = bytes.count
                for index in stride(from: 0, to: bytes.count, by: 7) { sum = sum &* 31 &+ Int(bytes[index]) }
                hasher.combine(sum)
            }
        }

        private var known: [Key: FleetMessage?] = [:]

        func message(_ bytes: [UInt8]) -> FleetMessage? {
            let key = Key(bytes: bytes)
            if let message = known[key] { return message }
            let message = SimulatedFleetClients.codec.message(bytes)
            known[key] = .some(message)
            return message
        }
    }

    static let codec = FleetCodec(fleet: "fleet")

    private let name: String
    private let loop: SimulatedLoop
    private let network: SimulatedNetwork
    private let messages: Messages
    private let inbox: LoopInbox
    private var readers: [SimulatedTopicReader] = []
    private var writers: [SimulatedSink] = []
    /// Called when the topic is opened, until a record of it has been read.
    var onOpen: () -> Void = {}
    private var hasRead = false

    /// - Parameter descriptor: of the inbox that all clients share; must be unique among the inboxes of the loop.
    init(_ name: String, loop: SimulatedLoop, descriptor: Int32, network: SimulatedNetwork, messages: Messages) {
        self.name = name
        self.loop = loop
        self.network = network
        self.messages = messages
        inbox = LoopInbox(loop, descriptor: descriptor)
    }

    /// The client names used by the network.
    var clientIDs: [String] { readers.indices.map { "\(name)-fr\($0)" } + writers.indices.map { "\(name)-fp\($0)" } }

    /// The factories of the link's clients.
    var clients: FleetTopicClients {
        var clients = FleetTopicClients(
            Self.codec,
            makeReader: { () throws(KafkaError) -> any FleetTopicReader in self.makeReader() },
            makeWriter: { () throws(KafkaError) -> any FleetTopicWriter in self.makeWriter() })
        clients.decode = { [messages] in messages.message($0) }
        return clients
    }

    private func makeReader() -> SimulatedFleetReader {
        let reader = SimulatedTopicReader(clientID: "\(name)-fr\(readers.count)", network: network, mode: .everyRecord)
        readers.append(reader)
        return SimulatedFleetReader(
            reader, loop: loop.eventLoop, inbox: inbox,
            onOpen: { [weak self] in if let self, !hasRead { onOpen() } },
            onRead: { [weak self] in self?.hasRead = true })
    }

    private func makeWriter() -> SimulatedSink {
        var settings = SimulatedProducerSettings()
        settings.linger = 0
        settings.messageTimeout = FleetTopicClients.writingTime.wholeNanoseconds
        let producer = SimulatedProducer(settings, clientID: "\(name)-fp\(writers.count)", network: network)
        let writer = SimulatedSink(producer, group: "", loop: loop.eventLoop, inbox: inbox)
        writers.append(writer)
        return writer
    }

    /// Ends all clients as kill -9 does.
    func kill() {
        for reader in readers { reader.close() }
        for writer in writers { writer.kill() }
    }
}

/// A simulated reader of the fleet topic on a loop. It does what `TopicReader` does around librdkafka.
final class SimulatedFleetReader: FleetTopicReader, @unchecked Sendable {
    // Sendable by hand: a simulation has one thread.

    private let reader: SimulatedTopicReader
    private let loop: EventLoop
    private let inbox: LoopInbox
    private let onOpen: () -> Void
    private let onRead: () -> Void
    private var arrival = Condition()

    /// - Parameters:
    ///   - onOpen: called when it begins to read.
    ///   - onRead: called when it has read records.
    init(
        _ reader: SimulatedTopicReader, loop: EventLoop, inbox: LoopInbox, onOpen: @escaping () -> Void,
        onRead: @escaping () -> Void
    ) {
        self.onOpen = onOpen
        self.onRead = onRead
        self.reader = reader
        self.loop = loop
        self.inbox = inbox
        reader.onNews = { [weak self] in self?.inbox.post { self?.wake() } }
    }

    deinit { reader.close() }

    func bounds(
        of topic: String, within bound: Duration
    ) async throws(KafkaError) -> [TopicPartition: Range<Int64>] {
        let bounds = await answer { reply in
            self.reader.bounds(of: topic, within: bound.wholeNanoseconds, reply: reply)
        }
        return try bounds.get()
    }

    func open(_ starts: [TopicPartition: Int64]) async throws(KafkaError) {
        reader.open(starts)
        onOpen()
    }

    func news(max: Int, within bound: Duration) async throws(KafkaError) -> TopicReader.News {
        inbox.start()
        if !reader.hasNews {
            let timer = loop.schedule(at: loop.now + bound) { [weak self] in self?.wake() }
            await suspend(unless: reader.hasNews) { arrival.add($0) }
            loop.cancel(timer)
        }
        let news = try reader.takeNews(max: max)
        if !news.records.isEmpty { onRead() }
        return news
    }

    private func wake() { arrival.broadcast() }
}

extension SimulatedSink: FleetTopicWriter {}
