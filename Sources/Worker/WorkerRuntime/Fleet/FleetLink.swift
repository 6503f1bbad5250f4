internal import Basics
public import EventLoop
internal import Kafka
public import Logging
public import QuotaSharing
internal import Synchronization

/// Publishes a lane's messages to the fleet. `FleetLink` is the real one.
public protocol FleetPublisher: Sendable {
    /// Publishes messages in the order of the calls. Does not wait.
    func publish(_ messages: [FleetMessage])
}

/// A process's connection to the fleet topic: it writes the messages of the lanes, and hands them the messages of all
/// members.
///
/// Partition 0 of the topic is used. Where the topic cannot be read or written, members go on with the quota that they
/// may use without messages, and one log line reports it. Thread-safe.
public final class FleetLink: FleetPublisher {
    /// The topic, and how it is read.
    public struct Configuration: Sendable {
        public var topic: String
        /// The number of newest records that are read at the start; 0: none that was there before.
        public var history: Int64 = 0
        /// True when members must not begin without the topic, because they keep daily call budgets by it.
        public var isNeeded = false
        /// True when members share quota over the topic. Without it and without budgets, only orders of people come by it.
        public var sharesQuota = true

        public init(topic: String) { self.topic = topic }
    }

    /// The reasons why the topic cannot be used, by what was tried.
    private struct Problems {
        var hasBeenOpen = false
        var reading: String?
        var writing: String?
        var isLogged = false

        var first: String? { reading ?? writing }
    }

    /// The pause before the topic is opened anew after a failure.
    private static let pauseAfterFailure = Duration.seconds(2)
    private static let timeout = Duration.seconds(10)
    private static let recordsPerRead = 500
    private static let topicEndsEarly = KafkaError(
        .recordsMissing, "the topic has fewer records than when its reading began")
    private static let readTime = Duration.milliseconds(200)

    private let configuration: Configuration
    private let clients: FleetTopicClients
    private let loop: EventLoop
    private let log: Logger
    private let problems = Mutex(Problems())
    private let unwritten: AsyncStream<[FleetMessage]>
    private let publishing: AsyncStream<[FleetMessage]>.Continuation

    /// - Parameter loop: where the clients live.
    public init(_ configuration: Configuration, clients: FleetTopicClients, loop: EventLoop, log: Logger) {
        self.configuration = configuration
        self.clients = clients
        self.loop = loop
        self.log = log
        // Where more is published than can be written, the newest messages are kept: only those count.
        (unwritten, publishing) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(256))
    }

    /// The reason why the topic cannot be used at present, as one line for a person; `nil` while it can.
    public var problem: String? {
        problems.withLock { $0.first ?? ($0.hasBeenOpen ? nil : "the topic is not open yet") }
    }

    /// True once something has failed, until it works again.
    public var hasFailed: Bool { problems.withLock { $0.first != nil } }

    /// True where members use the topic for quota: limits that are shared by demand, or daily budgets.
    public var carriesQuota: Bool { configuration.sharesQuota || configuration.isNeeded }

    /// Publishes messages in the order of the calls. Does not wait.
    public func publish(_ messages: [FleetMessage]) {
        if !messages.isEmpty { publishing.yield(messages) }
    }

    /// Reads and writes on the loop until `end`, or until the task is cancelled, which leaves the last messages unwritten.
    /// - Parameters:
    ///   - topicOpened: called each time before the topic is read from some record on.
    ///   - needsOlder: asked after `topicOpened` and `receive` whether the topic must be read from its oldest record on.
    ///   - receive: called with the records that were read, one call after another.
    public func run(
        topicOpened: @escaping @Sendable (FleetTopicExtent) async -> Void = { _ in },
        needsOlder: @escaping @Sendable () async -> Bool = { false },
        receive: @escaping @Sendable ([FleetRecord]) async -> Void
    ) async {
        let reading = Task(executorPreference: loop) {
            await self.read(topicOpened: topicOpened, needsOlder: needsOlder, receive: receive)
        }
        await withTaskExecutorPreference(loop) { await write() }
        reading.cancel()
        await reading.value
    }

    /// Ends `run` once all published messages are written.
    public func end() { publishing.finish() }

    // MARK: - Reading

    private func read(
        topicOpened: @Sendable (FleetTopicExtent) async -> Void, needsOlder: @Sendable () async -> Bool,
        receive: @Sendable ([FleetRecord]) async -> Void
    ) async {
        var position = FleetTopicPosition(decode: clients.decode)
        var reader: (any FleetTopicReader)?
        var history = configuration.history

        while !Task.isCancelled {
            do throws(KafkaError) {
                if reader == nil {
                    let (new, extent) = try await open(&position, history: history)
                    await topicOpened(extent)
                    reader = new
                }
                guard let open = reader else { continue }
                let news = try await open.news(max: Self.recordsPerRead, within: Self.readTime)
                if position.endsEarly(in: news) { throw Self.topicEndsEarly }
                let records = position.take(news)
                if !records.isEmpty { await receive(records) }
                if history < .max, await needsOlder() { (reader, history) = (nil, .max) }
            } catch {
                noteReadingFailed(error)
                if error.kind == .unknownTopicOrPartition { position.noteDeleted() }
                reader = nil
                try? await loop.sleep(for: Self.pauseAfterFailure)
            }
        }
    }

    /// Begins to read the newest records.
    /// - Parameter history: the most records to read of those that are there now.
    private func open(
        _ position: inout FleetTopicPosition, history: Int64
    ) async throws(KafkaError) -> (any FleetTopicReader, FleetTopicExtent) {
        let reader = try clients.makeReader()
        let partition = TopicPartition(configuration.topic, 0)
        let bounds = try await reader.bounds(of: configuration.topic, within: Self.timeout)[partition] ?? 0..<0
        let first = max(bounds.lowerBound, bounds.upperBound.saturatingSubtracting(history))

        try await reader.open([partition: first])
        let isRemade = position.begin(at: first, end: bounds.upperBound)
        note { ($0.reading, $0.hasBeenOpen) = (nil, true) }

        let extent = FleetTopicExtent(
            first: first, end: bounds.upperBound, oldest: bounds.lowerBound, isRemade: isRemade)
        return (reader, extent)
    }

    /// - Parameter error: an error about missing records is no failure of the topic, which is read anew.
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
            for await messages in unwritten {
                do throws(KafkaError) {
                    let open: any FleetTopicWriter
                    if let writer { open = writer } else { open = try clients.makeWriter() }
                    writer = open
                    for message in messages {
                        let receipt = try await open.handOver(record(of: message))
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

    private func record(of message: FleetMessage) -> ProducerRecord {
        ProducerRecord(topic: configuration.topic, partition: 0, value: FleetCodec.bytes(of: message))
    }

    private func confirm(_ receipt: KafkaProducer.Receipt, of writer: any FleetTopicWriter) async {
        do throws(KafkaError) {
            _ = try await writer.confirm(receipt)
            note { $0.writing = nil }
        } catch {
            note { $0.writing = "\(error)" }
        }
    }

    // MARK: - Problems

    /// Notes the result of a try, and logs a line when the topic can be used no more, or can be used again.
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
        } else if let problem, !configuration.sharesQuota {
            log.notice(
                """
                the fleet's topic cannot be used, so that no order of locsearch controls reaches this worker: make the topic, \
                let this user read and write it, or correct topics.fleet
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
