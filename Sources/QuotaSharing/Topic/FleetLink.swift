internal import Basics
public import EventLoop
public import Kafka
public import Logging
internal import Resilience
internal import Synchronization

/// Where a lane's messages to the fleet go. `FleetLink` is the real one.
public protocol FleetSpeaking: Sendable {
    /// Has words written, in the order of the calls. Does not wait.
    func say(_ words: [FleetWord])
}

/// A process's way to the fleet's topic: writes what its lanes say, and has them hear what all members say.
///
/// The topic's partition 0 is what is used. Where the topic cannot be read or written, members go on with what they may use
/// without words, and one line says so. Thread-safe.
public final class FleetLink: FleetSpeaking {
    /// What is read of the topic, and what depends on it.
    public struct Configuration: Sendable {
        /// `topics.fleet`.
        public var topic: String
        /// How many of the newest records are read at the start; 0: none that was there before.
        public var history: Int64 = 0
        /// True when members may not begin without the topic, because they keep daily budgets by it.
        public var isNeeded = false

        public init(topic: String) { self.topic = topic }
    }

    /// Makes the link's clients, each time one is needed that can go on where another one has failed.
    public struct Clients: Sendable {
        /// The reader must read every record, or say that some are missing.
        public var makeReader: @Sendable () throws(KafkaError) -> any FleetTopicReader
        public var makeWriter: @Sendable () throws(KafkaError) -> any FleetTopicWriter
        /// Returns what a record says; `nil` for one that is no word.
        package var decode: @Sendable ([UInt8]) -> FleetWord? = FleetCodec.word

        public init(
            makeReader: @escaping @Sendable () throws(KafkaError) -> any FleetTopicReader,
            makeWriter: @escaping @Sendable () throws(KafkaError) -> any FleetTopicWriter
        ) {
            self.makeReader = makeReader
            self.makeWriter = makeWriter
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
    package static let writingTime = Duration.seconds(5)
    private static let recordsPerTurn = 500
    private static let turn = Duration.milliseconds(200)

    private let configuration: Configuration
    private let clients: Clients
    private let loop: EventLoop
    private let log: Logger
    private let problems = Mutex(Problems())
    private let said: AsyncStream<[FleetWord]>
    private let saying: AsyncStream<[FleetWord]>.Continuation

    /// - Parameter loop: where the clients live.
    public init(_ configuration: Configuration, clients: Clients, loop: EventLoop, log: Logger) {
        self.configuration = configuration
        self.clients = clients
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
        var place = FleetTopicPlace(decode: clients.decode)
        var reader: (any FleetTopicReader)?
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
    ) async throws(KafkaError) -> (any FleetTopicReader, FleetTopicExtent) {
        let reader = try clients.makeReader()
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
        var writer: (any FleetTopicWriter)?
        await withDiscardingTaskGroup { confirming in
            for await words in said {
                do throws(KafkaError) {
                    let open: any FleetTopicWriter
                    if let writer { open = writer } else { open = try clients.makeWriter() }
                    writer = open
                    for word in words {
                        let receipt = try await open.handOver(record(of: word))
                        confirming.addTask { await self.confirm(receipt, of: open) }
                    }
                } catch {
                    note { $0.writing = "\(error)" }
                    await writer?.close()
                    writer = nil
                }
            }
        }
        await writer?.close()
    }

    private func record(of word: FleetWord) -> ProducerRecord {
        ProducerRecord(topic: configuration.topic, partition: 0, value: FleetCodec.bytes(of: word))
    }

    private func confirm(_ receipt: KafkaProducer.Receipt, of writer: any FleetTopicWriter) async {
        do throws(KafkaError) {
            _ = try await writer.confirm(receipt)
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
