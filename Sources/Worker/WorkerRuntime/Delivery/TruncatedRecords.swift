internal import EventContract
internal import EventLoop
internal import Kafka
internal import LocationSearch
internal import Logging
internal import ProviderCalls

/// Makes the truncated records that replace records which Kafka refuses as too large.
///
/// A request whose outcome can never be written would end each worker that takes it, one after another. Confined to its
/// lane; not `Sendable`.
final class TruncatedRecords {
    private let decoder: RequestDecoder
    private var encoder: OutcomeEncoder
    private let topics: WorkerConfiguration.Topics
    private let workerName: String?
    /// The most bytes of a request's key. A longer key is the reason why a record was too large.
    private let maxKeyBytes: Int
    private let loop: EventLoop
    private let log: Logger

    init(_ configuration: WorkerConfiguration, loop: EventLoop, log: Logger) {
        self.loop = loop
        self.log = log
        encoder = configuration.topics.outcomeEncoder(seed: loop.randomNumber())
        decoder = RequestDecoder(maximumBytes: configuration.maxRequestBytes)
        topics = configuration.topics
        workerName = configuration.name
        maxKeyBytes = configuration.maxRequestBytes
    }

    /// Replaces a request's outcome by one that explains why the full one is missing: an error replaces a result, and a dead
    /// letter without content replaces the full one.
    ///
    /// The truncated outcome repeats the times, providers and calls of the full one. The request completed when its
    /// response arrived, however much later the brokers refuse its outcome.
    /// - Parameter topic: the topic that refused a record of the outcome, for the log.
    func truncate(_ request: RequestInProgress, refusedBy topic: String, with refusal: KafkaError) {
        let outcome = request.outcome
        logRefusal(of: request, by: topic, with: refusal)
        let now = loop.wallNow
        let whole = read(outcome.event)
        let (receivedAt, completedAt) = (whole?.receivedAt ?? now, whole?.completedAt ?? now)
        var (event, deadLetter) = (outcome.event, nil as ProducerRecord?)
        let requestID: String

        do throws(RejectedRecord) {
            // Decoding may be the cause of the crashes.
            if request.isSetAside { throw RejectedRecord.crashesWorkers(request.record) }
            let decoded =
                if let read = request.decoded { read } else { try decoder.decode(request.record, choosesClass: true) }
            var failed = SearchOutcome(of: decoded.request, failedWith: .resultTooLarge)
            failed.attempts = outcome.calls
            failed.upstream = whole?.upstream ?? .zero
            failed.provider = whole?.provider.flatMap { ProviderID(rawValue: $0) } ?? failed.provider
            failed.triedProviders = whole?.triedProviders.compactMap { ProviderID(rawValue: $0) } ?? []
            request.trace?.fail(with: .resultTooLarge)
            requestID = failed.requestID
            event = encoder.encode(
                failed, for: decoded.envelope, receivedAt: receivedAt, completedAt: completedAt,
                trace: request.trace?.beginSending(to: topics.errors))
        } catch {
            requestID = error.requestID
            if outcome.event != nil {
                event = encoder.encode(
                    error, receivedAt: receivedAt, completedAt: completedAt,
                    steps: topic == topics.deadLetters ? request.steps : nil,
                    trace: request.trace?.beginSending(to: topics.errors))
            }
            if outcome.deadLetter != nil {
                let letter = request.deadLetter(for: error, worker: workerName, at: now)
                deadLetter = ProducerRecord(letter.withoutContent, topics: topics)
            }
        }

        if let key = event?.key, key.count > maxKeyBytes { event?.key = Array(requestID.utf8) }
        (request.outcome.event, request.outcome.topic, request.outcome.deadLetter) = (event, .errors, deadLetter)
    }

    private func logRefusal(of request: RequestInProgress, by topic: String, with refusal: KafkaError) {
        let record = request.outcome.records.first { $0.record.topic == topic }?.record
        log.error(
            "Kafka rejected a record as too large; a truncated record replaces it",
            metadata: request.logMetadata.merging([
                "topic": "\(topic)", "bytes": "\(record?.value?.count ?? 0)", "reason": "\(refusal)",
            ]) { _, own in own })
    }

    /// Decodes the event of the full outcome. Only refused records are decoded again, so other requests need not keep
    /// these values.
    private func read(_ event: ProducerRecord?) -> OutcomeEvent? {
        guard let event else { return nil }
        return try? OutcomeReader().read(value: event.value, headers: event.headers)
    }
}
