package import EventLoop
internal import Kafka
package import Logging
package import QuotaSharing
internal import Synchronization

/// A process's connection to the fleet topic: it writes the lanes' messages and passes the messages of all members to
/// the lanes.
///
/// Only partition 0 of the topic is used. If the topic cannot be read or written, members continue with the quota that
/// needs no messages, and one log line reports the problem. Thread-safe.
package final class FleetLink: Sendable {
    /// The topic, and how to read it.
    package struct Configuration: Sendable {
        package var topic: String
        /// The number of existing records to read at the start, newest first. 0: only new records are read.
        package var history: Int64 = 0
        /// True if members must not begin without the topic, because it stores their daily call budgets.
        package var isNeeded = false
        /// True if members share quota over the topic. Without shared quota and budgets, the topic carries control
        /// orders only.
        package var sharesQuota = true

        package init(topic: String) { self.topic = topic }
    }

    /// The reasons why the topic cannot be used, by operation.
    private struct Problems {
        var hasBeenOpen = false
        var reading: String?
        var writing: String?
        var isLogged = false

        var first: String? { reading ?? writing }
    }

    /// The pause after a failure, before the topic is opened again.
    private static let pauseAfterFailure = Duration.seconds(2)
    private static let timeout = Duration.seconds(10)
    private static let recordsPerRead = 500
    private static let topicEndsEarly = KafkaError(
        .recordsMissing, "the topic has fewer records than when the read began")
    private static let readTime = Duration.milliseconds(200)

    private let configuration: Configuration
    private let clients: FleetTopicClients
    private let loop: EventLoop
    private let log: Logger
    private let problems = Mutex(Problems())
    private let unwritten: AsyncStream<[FleetMessage]>
    private let publishing: AsyncStream<[FleetMessage]>.Continuation

    /// - Parameter loop: the loop of the clients.
    package init(_ configuration: Configuration, clients: FleetTopicClients, loop: EventLoop, log: Logger) {
        (self.configuration, self.clients, self.loop, self.log) = (configuration, clients, loop, log)
        // If messages are published faster than they are written, the newest are kept: they supersede the older ones.
        (unwritten, publishing) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(256))
    }

    /// The reason why the topic cannot be used at present, as one line for an operator; `nil` while it can.
    package var problem: String? {
        problems.withLock { $0.first ?? ($0.hasBeenOpen ? nil : "the topic is not open yet") }
    }

    /// True from a failure until the topic works again.
    package var hasFailed: Bool { problems.withLock { $0.first != nil } }

    /// True if members use the topic for quota: rate limits shared by demand, or daily call budgets.
    package var carriesQuota: Bool { configuration.sharesQuota || configuration.isNeeded }

    /// Publishes messages in the order of the calls. Does not wait.
    package func publish(_ messages: [FleetMessage]) {
        if !messages.isEmpty { publishing.yield(messages) }
    }

    /// Reads and writes on the loop until `end`, or until the task is cancelled, which discards the last messages.
    /// - Parameter receive: called with what was read, one call after another. It returns `true` to make the link read
    ///   the topic from its oldest record.
    package func run(receive: @escaping @Sendable (FleetNews) async -> Bool) async {
        let reading = Task(executorPreference: loop) { await self.read(receive) }
        await withTaskExecutorPreference(loop) { await write() }
        reading.cancel()
        await reading.value
    }

    /// Ends `run` once all published messages are written.
    package func end() { publishing.finish() }

    // MARK: - Reading

    private func read(_ receive: @Sendable (FleetNews) async -> Bool) async {
        var position = FleetTopicPosition(decode: clients.decode)
        var reader: (any FleetTopicReader)?
        var history = configuration.history

        while !Task.isCancelled {
            do throws(KafkaError) {
                var news = FleetNews()
                if let reader {
                    let read = try await reader.news(max: Self.recordsPerRead, within: Self.readTime)
                    if position.endsEarly(in: read) { throw Self.topicEndsEarly }
                    news.records = position.take(read)
                    if news.records.isEmpty { continue }
                } else {
                    (reader, news.opened) = try await open(&position, history: history)
                }
                if await receive(news), history < .max { (reader, history) = (nil, .max) }
            } catch {
                noteReadingFailed(error)
                if error.kind == .unknownTopicOrPartition { position.noteDeleted() }
                reader = nil
                try? await loop.sleep(for: Self.pauseAfterFailure)
            }
        }
    }

    /// Opens a reader at the newest records.
    /// - Parameter history: the most existing records to read.
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

    /// - Parameter error: `recordsMissing` does not count as a failure: the topic is opened again.
    private func noteReadingFailed(_ error: KafkaError) {
        guard error.kind == .recordsMissing else { return note { $0.reading = "\(error)" } }
        log.warning(
            "records of the fleet topic were deleted before they were read: the remaining records are read again",
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
        ProducerRecord(topic: configuration.topic, partition: 0, value: clients.codec.bytes(of: message))
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

    /// Records the result of an operation, and logs a line when the topic becomes unusable or usable again.
    private func note(_ change: (inout Problems) -> Void) {
        let (problem, isNews) = problems.withLock { problems in
            change(&problems)
            let isNews = (problems.first != nil) != problems.isLogged
            problems.isLogged = problems.first != nil
            return (problems.first, isNews)
        }
        guard isNews else { return }

        let topic: Logger.Metadata = ["topic": "\(configuration.topic)"]
        guard let problem else { return log.info("the fleet topic can be used again", metadata: topic) }
        let (level, consequence, otherCure): (Logger.Level, String, String) =
            if configuration.isNeeded {
                (.error, "the rest of a budget is unknown and intake is paused", ", or remove budgets and callsPerDay")
            } else if configuration.sharesQuota {
                (.warning, "limits are shared by partitions only", "")
            } else {
                (.notice, "this worker receives no orders of locsearch controls", "")
            }
        log.log(
            level: level,
            """
            the fleet topic cannot be used, so \(consequence): create the topic, let this user read and write it, or \
            correct topics.fleet\(otherCure)
            """,
            metadata: topic.merging(["reason": "\(problem)"]) { $1 })
    }
}
