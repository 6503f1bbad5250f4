internal import Basics
internal import EventContract
internal import EventLoop
internal import Kafka
internal import LocationSearch
internal import Logging
internal import ProviderCalls

/// Makes truncated records, which take the place of those that Kafka refuses as too large.
///
/// A request whose outcome can never be written would end each worker that takes it, one after another. Confined to its
/// lane; not `Sendable`.
final class TruncatedRecords {
    private let decoder: RequestDecoder
    private var encoder: OutcomeEncoder
    private let topics: WorkerConfiguration.Topics
    private let workerName: String?
    /// No request may have a longer key, so a longer one is what was too large.
    private let maxKeyBytes: Int
    private let loop: EventLoop
    private let log: Logger

    init(_ configuration: WorkerConfiguration, loop: EventLoop, log: Logger) {
        self.loop = loop
        self.log = log
        encoder = OutcomeEncoder(seed: loop.randomNumber())
        decoder = RequestDecoder(maximumBytes: configuration.maxRequestBytes)
        topics = configuration.topics
        workerName = configuration.name
        maxKeyBytes = configuration.maxRequestBytes
    }

    /// Returns an outcome that says why there is no whole one: an error in place of a result, and a dead letter without
    /// content in place of a whole one.
    ///
    /// The outcome says of the request's times, providers and calls what the whole one said: the request ended when its answer
    /// came, however much later the brokers refuse that.
    /// - Parameter topic: refused a record of the outcome, as the log says.
    func truncate(
        _ outcome: OutgoingOutcome, of request: RequestInProgress, refusedBy topic: String, with refusal: KafkaError
    ) -> OutgoingOutcome {
        logRefusal(of: outcome, request: request, by: topic, with: refusal)
        let now = EventTime(loop.wallNow)
        let whole = read(outcome.event)
        let (receivedAt, completedAt) = (whole?.receivedAt ?? now, whole?.completedAt ?? now)
        var (event, deadLetter) = (outcome.event, nil as ProducerRecord?)
        let requestID: String

        do throws(RejectedRecord) {
            // Decoding may be what crashes processes.
            if request.isSetAside { throw RejectedRecord.crashesWorkers(request.record) }
            let decoded = if let read = request.decoded { read } else { try decoder.decode(request.record) }
            var failed = SearchOutcome(of: decoded.request, failedWith: .resultTooLarge)
            failed.attempts = outcome.calls
            failed.upstream = whole?.upstream ?? .zero
            failed.provider = whole?.provider.flatMap { ProviderID(rawValue: $0) } ?? failed.provider
            failed.triedProviders = whole?.triedProviders.compactMap { ProviderID(rawValue: $0) } ?? []
            request.trace?.fail(with: .resultTooLarge)
            requestID = failed.requestID
            event = ProducerRecord(
                encoder.encode(
                    failed, for: decoded.envelope, receivedAt: receivedAt, completedAt: completedAt,
                    trace: request.trace?.beginSending(to: topics.errors)), topics: topics)
        } catch {
            requestID = error.requestID
            if outcome.event != nil {
                event = ProducerRecord(
                    encoder.encode(
                        error, receivedAt: receivedAt, completedAt: completedAt,
                        trace: request.trace?.beginSending(to: topics.errors)), topics: topics)
            }
            if outcome.deadLetter != nil {
                let letter = request.deadLetter(for: error, worker: workerName, at: now)
                deadLetter = ProducerRecord(letter.withoutContent, topics: topics)
            }
        }

        if let key = event?.key, key.count > maxKeyBytes { event?.key = Array(requestID.utf8) }
        return OutgoingOutcome(event: event, isResult: false, deadLetter: deadLetter, calls: outcome.calls)
    }

    private func logRefusal(
        of outcome: OutgoingOutcome, request: RequestInProgress, by topic: String, with refusal: KafkaError
    ) {
        let record = outcome.records.first { $0.record.topic == topic }?.record
        log.error(
            "Kafka refuses a record as too large; it is written in brief",
            metadata: request.logMetadata.merging([
                "topic": "\(topic)", "bytes": "\(record?.value?.count ?? 0)", "reason": "\(refusal)",
            ]) { _, own in own })
    }

    /// Reads what the whole outcome says. Only a record that Kafka refuses is read again, so what each request needs stays small.
    private func read(_ event: ProducerRecord?) -> OutcomeEvent? {
        guard let event else { return nil }
        return try? OutcomeReader().read(
            value: event.value, headers: event.headers.map { EventHeader($0.name, $0.value) })
    }
}
