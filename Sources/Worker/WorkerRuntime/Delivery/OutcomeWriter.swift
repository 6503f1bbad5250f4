internal import EventLoop
internal import Kafka
internal import Logging

/// Writes outcomes that may have to wait: for room, for a topic that refuses records, or for a replacement producer.
///
/// A refused record is retried as `RefusalCure` decides, until the brokers have it. `AtLeastOnceDelivery` writes all
/// other outcomes itself.
///
/// Confined to its lane; not `Sendable`.
final class OutcomeWriter {
    /// One of an outcome's two records.
    enum Part {
        case event
        case deadLetter
    }

    private let sinks: ReplaceableSink
    private let singles: SingleRecordWriter
    private let backoff: TopicBackoff
    private let stallDetector: DeliveryStallDetector
    private let truncatedRecords: TruncatedRecords
    private let keepsOrder: Bool
    private let loop: EventLoop
    private let meters: WorkerMeters
    private(set) var isClosing = false

    init(
        sinks: ReplaceableSink, singles: SingleRecordWriter, backoff: TopicBackoff,
        stallDetector: DeliveryStallDetector, configuration: WorkerConfiguration, loop: EventLoop,
        meters: WorkerMeters, log: Logger
    ) {
        (self.sinks, self.singles, self.backoff, self.stallDetector) = (sinks, singles, backoff, stallDetector)
        truncatedRecords = TruncatedRecords(configuration, loop: loop, log: log)
        keepsOrder = configuration.ordering != .unordered
        self.loop = loop
        self.meters = meters
    }

    /// Begins no further attempt: undelivered outcomes are abandoned.
    func close() {
        isClosing = true
        backoff.close()
    }

    /// Records that the brokers have a record.
    func noteConfirmed(
        _ part: Part, at position: RecordPosition, by topic: DeliveryStallDetector.Topic, since start: Instant,
        of request: RequestInProgress
    ) {
        meters.kafka.countConfirmed(by: topic, after: start.duration(to: loop.now))
        if part == .event, let trace = request.trace { trace.noteConfirmed(at: position) }
    }

    // MARK: - Writing

    /// Writes an outcome, its dead letter first. If the event were first and the letter were refused, each restart
    /// would publish the event again.
    /// - Throws: an error that ends the worker.
    func write(_ request: RequestInProgress) async throws(KafkaError) {
        if request.outcome.deadLetter != nil {
            try await write(.deadLetter, of: request)
            meters.kafka.countDeadLetter()
        }
        try await write(.event, of: request)
    }

    private func write(_ part: Part, of request: RequestInProgress) async throws(KafkaError) {
        guard let record = request.outcome.record(part) else { return }
        if backoff.contains(record.topic) { try await waitForRetry(of: record.topic) }

        var writer = sinks
        if part == .event, singles.mustTake(request), let single = singles.open() {
            singles.begin(request)
            writer = single
        }

        var sink = writer.current
        let refusal: KafkaError
        do throws(KafkaError) {
            return try await send(record, as: part, of: request, by: writer, sink: &sink)
        } catch {
            refusal = error
        }
        try await writeAgain(part, of: request, refusedBy: sink, with: refusal)
    }

    // MARK: - Retries

    /// A refused record, and the remedies that were tried.
    private struct RefusedRecord {
        let part: OutcomeWriter.Part
        let request: RequestInProgress
        var refusal: KafkaError
        /// The producer that refused the record.
        var sink: any OutcomeSink
        /// The writer whose producer takes the record next.
        var writer: ReplaceableSink
        /// True if the record was sent in a batch of one, or no producer can do so.
        var wasAlone: Bool
        var isTruncated = false

        var record: ProducerRecord? { request.outcome.record(part) }
    }

    /// Retries a record that was refused once.
    /// - Throws: an error that ends the worker.
    func writeAgain(
        _ part: Part, of request: RequestInProgress, refusedBy sink: any OutcomeSink, with refusal: KafkaError
    ) async throws(KafkaError) {
        let writer = part == .event && singles.writes(request) ? singles.open() ?? sinks : sinks
        var refused = RefusedRecord(
            part: part, request: request, refusal: refusal, sink: sink, writer: writer,
            wasAlone: writer !== sinks)

        while let topic = refused.record?.topic {
            if isClosing { throw Self.closed(before: topic) }
            guard try await prepareNextAttempt(of: &refused, topic: topic), let record = refused.record else { return }

            do throws(KafkaError) {
                return try await send(
                    record, as: part, of: request, by: refused.writer, sink: &refused.sink)
            } catch {
                refused.refusal = error
            }
        }
    }

    /// Prepares the next attempt to write a refused record.
    /// - Returns: `false` if the record needs no further attempt.
    /// - Throws: an error that ends the worker.
    private func prepareNextAttempt(of refused: inout RefusedRecord, topic: String) async throws(KafkaError) -> Bool {
        let refusal = refused.refusal
        // The producer failed fatally after it had written this record, so the topic accepts records.
        if refusal.status == .persisted {
            backoff.clear(topic)
            return false
        }
        if refusal.endsProducer {
            try replaceProducer(of: refused)
            return true
        }

        switch RefusalCure(refusal, wasAlone: refused.wasAlone, isTruncated: refused.isTruncated) {
        case .alone: sendAlone(&refused)
        case .truncated:
            refused.isTruncated = true
            if refused.request.outcome.topic == .results { meters.requests.countTruncated() }
            truncatedRecords.truncate(refused.request, refusedBy: topic, with: refusal)
            if refused.record?.topic != topic { backoff.stopRetrying(topic) }
        // The cause may be temporary, such as a timeout.
        case .later, nil: try await waitForTopic(of: refused, topic: topic)
        }
        return true
    }

    /// Switches to another producer after the record's producer failed fatally.
    /// - Throws: the refusal, if another producer would not help or could break the order.
    private func replaceProducer(of refused: RefusedRecord) throws(KafkaError) {
        if refused.refusal.kind == .fatal, !keepsOrder {
            return try refused.writer.replace(
                refused.sink, failedWith: refused.refusal,
                consequence: "its unconfirmed records are written again and may appear twice")
        }

        let wasReplacedAlready = refused.refusal.kind == .closed && refused.sink !== refused.writer.current
        guard wasReplacedAlready else { throw refused.refusal }
    }

    private func sendAlone(_ refused: inout RefusedRecord) {
        refused.wasAlone = true
        guard let single = singles.open() else { return }
        refused.writer = single
        if refused.part == .event { singles.begin(refused.request) }
    }

    /// - Throws: the refusal, if an order is promised: sent later, the record would follow outcomes enqueued after it.
    private func waitForTopic(of refused: RefusedRecord, topic: String) async throws(KafkaError) {
        if keepsOrder, refused.part == .event { throw refused.refusal }
        backoff.note(refused.refusal, by: topic)
        try await waitForRetry(of: topic)
    }

    /// Waits until a topic that refuses records may be retried.
    /// - Throws: `closed` if the worker ended meanwhile. A record written now could not be committed, so its request
    ///   would be processed and published again.
    private func waitForRetry(of topic: String) async throws(KafkaError) {
        await backoff.waitForRetry(of: topic)
        if isClosing { throw Self.closed(before: topic) }
    }

    private static func closed(before topic: String) -> KafkaError {
        KafkaError(.closed, "the worker stopped before \(topic) accepted the record")
    }

    // MARK: - One attempt

    /// Enqueues a record and waits for its delivery report.
    /// - Parameter writer: the writer whose producer takes the record.
    /// - Parameter sink: set to the producer that took or refused the record.
    private func send(
        _ record: ProducerRecord, as part: Part, of request: RequestInProgress, by writer: ReplaceableSink,
        sink: inout any OutcomeSink
    ) async throws(KafkaError) {
        sink = writer.current
        let (topic, start) = (request.outcome.topic(of: part), loop.now)
        let receipt = try await sink.handOver(record)
        stallDetector.handedOver(to: topic)
        defer { stallDetector.confirmed(by: topic) }
        // The next request in order may publish: its outcome will follow this one in the producer's queue.
        if part == .event { request.leaveOrder() }

        let position = try await sink.confirm(receipt)
        noteConfirmed(part, at: position, by: topic, since: start, of: request)
        backoff.clear(record.topic)
    }
}

extension RequestInProgress.Outcome {
    /// - Returns: `nil` if the outcome has no such record.
    fileprivate func record(_ part: OutcomeWriter.Part) -> ProducerRecord? {
        part == .deadLetter ? deadLetter : event
    }

    fileprivate func topic(of part: OutcomeWriter.Part) -> DeliveryStallDetector.Topic {
        part == .deadLetter ? .deadLetters : topic
    }
}
