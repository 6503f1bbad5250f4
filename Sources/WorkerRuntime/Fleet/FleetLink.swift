internal import Basics
public import EventLoop
public import Kafka
public import Logging
public import Resilience
internal import Synchronization

/// A process's way to the fleet's topic: writes what its lanes say, and has them hear what all members say.
///
/// The topic's partition 0 is what is used. Where the topic cannot be read or written, members go on with what they may use
/// without words, and one line says so. Thread-safe.
public final class FleetLink: Sendable {
    /// How the topic is reached.
    public struct Configuration: Sendable {
        /// `topics.fleet`.
        public var topic: String
        /// Its group is not used.
        public var consumer: ConsumerConfiguration
        public var producer: ProducerConfiguration
        /// How many of the newest records are read at the start; 0: none that was there before.
        public var history: Int64 = 0
        /// True when members may not begin without the topic, because they keep daily budgets by it.
        public var isNeeded = false

        public init(topic: String, consumer: ConsumerConfiguration, producer: ProducerConfiguration) {
            self.topic = topic
            self.consumer = consumer
            self.producer = producer
        }
    }

    /// Why the topic cannot be used, by what was tried.
    private struct Problems {
        var hasBeenOpen = false
        var reading: String?
        var writing: String?
        var isLogged = false

        var first: String? { reading ?? writing }
    }

    /// The pause before the topic is opened anew after a failure.
    private static let pauseAfterFailure = Duration.seconds(2)
    private static let patience = Duration.seconds(10)
    /// A word that has not arrived by then is too old to be of use.
    private static let writingTime = Duration.seconds(5)
    private static let recordsPerTurn = 500
    private static let turn = Duration.milliseconds(200)

    private let configuration: Configuration
    private let loop: EventLoop
    private let log: Logger
    private let problems = Mutex(Problems())
    private let said: AsyncStream<[FleetWord]>
    private let saying: AsyncStream<[FleetWord]>.Continuation

    /// - Parameter loop: where the producer lives.
    public init(_ configuration: Configuration, loop: EventLoop, log: Logger) {
        var configuration = configuration
        configuration.producer.linger = .zero
        configuration.producer.busyLinger = .zero
        configuration.producer.transactionalID = nil
        configuration.producer.statisticsInterval = nil
        configuration.producer.properties["message.timeout.ms"] =
            "\(Self.writingTime.milliseconds(roundedUp: false))"
        configuration.consumer.statisticsInterval = nil
        self.configuration = configuration
        self.loop = loop
        self.log = log
        // Whoever says more than is written has only its newest words told, which are those that count.
        (said, saying) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(256))
    }

    /// Why the topic cannot be used at present, as one line for a person; `nil` while it can.
    public var problem: String? {
        problems.withLock { $0.first ?? ($0.hasBeenOpen ? nil : "the topic is not open yet") }
    }

    /// Has words written, in the order of the calls. Does not wait.
    public func say(_ words: [FleetWord]) {
        if !words.isEmpty { saying.yield(words) }
    }

    /// Reads and writes on the loop until `end`, or until the task is cancelled, which leaves unwritten what was said last.
    /// - Parameters:
    ///   - opened: called each time before the topic is read from some record on.
    ///   - needsOlder: asked after `opened` and `hear` whether the topic must be read from its oldest record on.
    ///   - hear: called with what was read, one call after another.
    public func run(
        opened: @escaping @Sendable (FleetTopicExtent) async -> Void = { _ in },
        needsOlder: @escaping @Sendable () async -> Bool = { false },
        _ hear: @escaping @Sendable ([FleetRecord]) async -> Void
    ) async {
        let reading = Task(executorPreference: loop) { await self.read(opened, needsOlder, hear) }
        await withTaskExecutorPreference(loop) { await write() }
        reading.cancel()
        await reading.value
    }

    /// Ends `run` once all that was said is written.
    public func end() { saying.finish() }

    // MARK: - Reading

    private func read(
        _ opened: @Sendable (FleetTopicExtent) async -> Void, _ needsOlder: @Sendable () async -> Bool,
        _ hear: @Sendable ([FleetRecord]) async -> Void
    ) async {
        var place = FleetTopicPlace()
        var reader: TopicReader?
        var start = configuration.history > 0 ? TopicReader.Start.newest(configuration.history) : .end

        while !Task.isCancelled {
            do throws(KafkaError) {
                if reader == nil {
                    let (new, extent) = try await open(&place, at: start)
                    await opened(extent)
                    reader = new
                }
                guard let open = reader else { continue }
                let records = try await open.records(max: Self.recordsPerTurn, within: Self.turn)
                let words = records.compactMap { place.take($0) }
                if !words.isEmpty { await hear(words) }
                if start != .beginning, await needsOlder() { (reader, start) = (nil, .beginning) }
            } catch {
                note { $0.reading = "\(error)" }
                reader = nil
                try? await loop.sleep(for: Self.pauseAfterFailure)
            }
        }
    }

    private func open(
        _ place: inout FleetTopicPlace, at start: TopicReader.Start
    ) async throws(KafkaError) -> (TopicReader, FleetTopicExtent) {
        let reader = try TopicReader(configuration.consumer, log: log)
        let topic = configuration.topic
        let bounds = try await reader.bounds(of: topic, within: Self.patience)[TopicPartition(topic, 0)] ?? 0..<0
        if start == .end { place.begin(end: bounds.upperBound) } else { place.beginAnew(end: bounds.upperBound) }
        try await reader.open([topic], at: start, within: Self.patience)
        note { ($0.reading, $0.hasBeenOpen) = (nil, true) }

        // The end may be later by now, so that the first record is too: what lies between is history all the same.
        let first =
            switch start {
            case .beginning: bounds.lowerBound
            case .end: bounds.upperBound
            case .newest(let count): max(bounds.lowerBound, bounds.upperBound - count)
            }
        return (reader, FleetTopicExtent(first: first, end: bounds.upperBound, oldest: bounds.lowerBound))
    }

    // MARK: - Writing

    private func write() async {
        var producer: KafkaProducer?
        await withDiscardingTaskGroup { confirming in
            for await words in said {
                do throws(KafkaError) {
                    let open: KafkaProducer
                    if let producer { open = producer } else { open = try makeProducer() }
                    producer = open
                    for word in words {
                        let receipt = try await open.handOver(record(of: word))
                        confirming.addTask { await self.confirm(receipt, of: open) }
                    }
                } catch {
                    note { $0.writing = "\(error)" }
                    await producer?.close()
                    producer = nil
                }
            }
        }
        await producer?.close()
    }

    private func makeProducer() throws(KafkaError) -> KafkaProducer {
        try KafkaProducer(loop: loop, configuration: configuration.producer, log: log)
    }

    private func record(of word: FleetWord) -> ProducerRecord {
        ProducerRecord(topic: configuration.topic, partition: 0, value: FleetCodec.bytes(of: word))
    }

    private func confirm(_ receipt: KafkaProducer.Receipt, of producer: KafkaProducer) async {
        do throws(KafkaError) {
            _ = try await producer.confirm(receipt)
            note { $0.writing = nil }
        } catch {
            note { $0.writing = "\(error)" }
        }
    }

    // MARK: - What is told

    /// Takes in what became of a try, and writes a line when the topic can be used no more, or can be again.
    private func note(_ change: (inout Problems) -> Void) {
        let (problem, isNews) = problems.withLock { problems in
            change(&problems)
            let isNews = (problems.first != nil) != problems.isLogged
            problems.isLogged = problems.first != nil
            return (problems.first, isNews)
        }
        guard isNews else { return }

        let topic: Logger.Metadata = ["topic": "\(configuration.topic)"]
        if let problem, configuration.isNeeded {
            log.error(
                """
                the fleet's topic cannot be used, and without it nobody knows what is left of a daily budget, so that no \
                request begins: make the topic, let this user read and write it, correct topics.fleet, or unset callsPerDay
                """,
                metadata: topic.merging(["reason": "\(problem)"]) { $1 })
        } else if let problem {
            log.warning(
                """
                the fleet's topic cannot be used, so limits are shared by partitions only: make the topic, let this user \
                read and write it, or correct topics.fleet
                """,
                metadata: topic.merging(["reason": "\(problem)"]) { $1 })
        } else {
            log.info("the fleet's topic can be used again", metadata: topic)
        }
    }
}

/// How far the fleet's topic was read.
struct FleetTopicPlace {
    /// One past the newest record that was read.
    private var next: Int64 = 0
    /// Where the topic ended when it was first opened.
    private var firstEnd: Int64?

    /// Takes in where the topic ends when it is opened. One that ends before what was read was made anew.
    mutating func begin(end: Int64) {
        if end < next { next = 0 }
        if firstEnd == nil || end < firstEnd ?? 0 { firstEnd = end }
    }

    /// All records are read, also those that were read before.
    mutating func beginAnew(end: Int64) { (next, firstEnd) = (0, end) }

    /// Returns what a record says; `nil` for one that was read before, or that is in another partition.
    mutating func take(_ record: ConsumerRecord) -> FleetRecord? {
        guard record.partition.id.partition == 0, record.offset >= next else { return nil }
        next = record.offset + 1
        return FleetRecord(
            offset: record.offset, isOld: record.offset < firstEnd ?? 0, word: record.value.flatMap(FleetCodec.word))
    }
}
