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
        var history = configuration.history

        while !Task.isCancelled {
            do throws(KafkaError) {
                if reader == nil {
                    let (new, extent) = try await open(&place, history: history)
                    await opened(extent)
                    reader = new
                }
                guard let open = reader else { continue }
                let words = place.take(try await open.news(max: Self.recordsPerTurn, within: Self.turn))
                if !words.isEmpty { await hear(words) }
                if history < .max, await needsOlder() { (reader, history) = (nil, .max) }
            } catch {
                noteReadingFailed(error)
                if error.kind == .unknownTopicOrPartition { place.noteDeleted() }
                reader = nil
                try? await loop.sleep(for: Self.pauseAfterFailure)
            }
        }
    }

    /// Begins to read the newest records.
    /// - Parameter history: how many of those that are there now, at the most.
    private func open(
        _ place: inout FleetTopicPlace, history: Int64
    ) async throws(KafkaError) -> (TopicReader, FleetTopicExtent) {
        let reader = try TopicReader(configuration.consumer, mode: .everyRecord, log: log)
        let partition = TopicPartition(configuration.topic, 0)
        let bounds = try await reader.bounds(of: configuration.topic, within: Self.patience)[partition] ?? 0..<0
        let first = max(bounds.lowerBound, bounds.upperBound.saturatingSubtracting(history))

        try await reader.open([partition: first])
        let isRemade = place.begin(at: first, end: bounds.upperBound)
        note { ($0.reading, $0.hasBeenOpen) = (nil, true) }

        let extent = FleetTopicExtent(
            first: first, end: bounds.upperBound, oldest: bounds.lowerBound, isRemade: isRemade)
        return (reader, extent)
    }

    /// - Parameter error: one that says that records are missing is no failure of the topic, which is read anew.
    private func noteReadingFailed(_ error: KafkaError) {
        guard error.kind == .recordsMissing else { return note { $0.reading = "\(error)" } }
        log.warning(
            "records of the fleet's topic were deleted before they were read: it is read anew, from what is left",
            metadata: ["topic": "\(configuration.topic)", "reason": "\(error)"])
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
    /// One past the newest offset that was read.
    private var next: Int64 = 0
    /// Where the topic ended when its reading began.
    private var firstEnd: Int64 = 0
    private var isDeleted = false

    /// Notes that there is no such topic at present.
    mutating func noteDeleted() { isDeleted = next > 0 }

    /// Takes in where reading begins, and where the topic ends then.
    /// - Returns: true when the topic was made anew since it was read last.
    mutating func begin(at first: Int64, end: Int64) -> Bool {
        let isRemade = isDeleted || end < next
        (next, firstEnd, isDeleted) = (first, end, false)
        return isRemade
    }

    /// Returns what was read, oldest first. Records of other partitions than the first are nobody's.
    mutating func take(_ news: TopicReader.News) -> [FleetRecord] {
        var taken: [FleetRecord] = []
        for record in news.records where record.partition.id.partition == 0 && record.offset >= next {
            next = record.offset + 1
            taken.append(word(record))
        }

        // The last offsets of the topic may hold no record.
        for (partition, end) in news.ends where partition.partition == 0 && end > next {
            next = end
            taken.append(FleetRecord(offset: end - 1, isOld: end <= firstEnd, word: nil))
        }
        return taken
    }

    private func word(_ record: ConsumerRecord) -> FleetRecord {
        FleetRecord(
            offset: record.offset, isOld: record.offset < firstEnd, word: record.value.flatMap(FleetCodec.word))
    }
}
