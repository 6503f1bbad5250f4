internal import EventLoop
internal import Kafka
internal import Logging

/// Topics that refuse records for a lasting reason: no permission, no such topic, a policy of the brokers.
///
/// One writer at a time retries such a topic, at growing intervals, while the others wait. The first accepted record
/// releases them all. A writer that does not report its attempt blocks no others: the next one retries after the
/// longest interval.
///
/// Confined to its lane; not `Sendable`.
final class TopicBackoff {
    private final class Refusal {
        let since: Instant
        var reason: KafkaError
        var attempts = 0
        var retryAt: Instant
        /// The problem that was last logged; `nil` before the first line.
        var announced: String?
        var timer: TimerID?
        /// The writers that wait for an attempt.
        var waiting = Condition()

        init(_ reason: KafkaError, since: Instant) {
            self.reason = reason
            self.since = since
            retryAt = since
        }
    }

    /// After this many attempts, or this much time, a refusal counts as lasting: it is logged and reported by
    /// `/readyz`.
    private static let attemptsBeforeNotice = 3
    private static let timeBeforeNotice = Duration.seconds(2)
    /// The intervals between attempts double from the first of these to the second.
    private static let (firstPause, longestPause) = (Duration.milliseconds(250), Duration.seconds(5))

    private let deadLetters: String
    private let diagnostics: TopicDiagnostics
    private let gate: IntakeGate
    private let loop: EventLoop
    private let log: Logger
    private var refusals: [String: Refusal] = [:]
    private var isClosed = false

    /// - Parameter deadLetters: the topic whose refusals block single partitions only.
    init(deadLetters: String, diagnostics: TopicDiagnostics, gate: IntakeGate, loop: EventLoop, log: Logger) {
        self.deadLetters = deadLetters
        (self.diagnostics, self.gate, self.loop, self.log) = (diagnostics, gate, loop, log)
    }

    var isEmpty: Bool { refusals.isEmpty }

    func contains(_ topic: String) -> Bool { refusals[topic] != nil }

    /// `true` while a topic refuses outcomes. Any further request would be billed although its outcome cannot be
    /// published.
    var blockOutcomes: Bool {
        !refusals.isEmpty && refusals.contains { $0.key != deadLetters && $0.value.announced != nil }
    }

    /// `true` for a topic whose refusal counts as lasting.
    func blocks(_ topic: String) -> Bool { refusals[topic]?.announced != nil }

    /// The lasting refusals, as one line for an operator; `nil` if there are none.
    var problem: String? { announced.map { problem(of: $0.topic, $0.refusal) }.joinedAsProblem }

    /// The topics whose refusals count as lasting, except those for which no broker answers.
    var blockedTopics: [String] {
        announced.filter { diagnosis(of: $0.topic, $0.refusal) != .noBrokerAnswers }.map(\.topic)
    }

    private var announced: [(topic: String, refusal: Refusal)] {
        refusals.filter { $0.value.announced != nil }.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
    }

    /// Returns what is wrong with a topic: the error of its delivery report, or the brokers' answer if the error does
    /// not come from one.
    /// - Returns: `nil` until the brokers have answered.
    private func diagnosis(of topic: String, _ refusal: Refusal) -> TopicDiagnosis? {
        guard refusal.reason.isUnrelatedToTopic else { return .refused(refusal.reason) }
        return diagnostics.diagnosis(of: topic, at: loop.now)
    }

    private func problem(of topic: String, _ refusal: Refusal) -> String {
        diagnosis(of: topic, refusal)?.problem(of: topic)
            ?? "topic \(topic) does not confirm records: \(refusal.reason)"
    }

    /// Returns the time of the next attempt; `nil` if the topic does not refuse records.
    func retryTime(of topic: String) -> Instant? { refusals[topic]?.retryAt }

    /// Records that a topic refused a record.
    /// - Parameter isLasting: `true` if the record was unconfirmed for long, so that the refusal is logged at once.
    func note(_ error: KafkaError, by topic: String, isLasting: Bool = false) {
        let now = loop.now
        let refusal = refusals[topic] ?? Refusal(error, since: now)
        refusals[topic] = refusal
        // Records that were in flight together are refused together, which counts as one attempt.
        guard refusal.attempts == 0 || now >= refusal.retryAt else { return }

        refusal.reason = error
        refusal.attempts += 1
        let pause = min(Self.longestPause, Self.firstPause * (1 << min(refusal.attempts - 1, 10)))
        refusal.retryAt = now + pause
        scheduleRetry(at: refusal.retryAt, of: refusal)
        let lasts =
            isLasting || refusal.attempts >= Self.attemptsBeforeNotice || now - refusal.since >= Self.timeBeforeNotice
        if lasts { announce(refusal, topic: topic) }
    }

    /// Records that a topic accepted a record.
    func clear(_ topic: String) {
        guard let refusal = refusals.removeValue(forKey: topic) else { return }

        if let timer = refusal.timer { loop.cancel(timer) }
        refusal.waiting.broadcast()
        diagnostics.forget(topic)
        if refusal.announced != nil { log.info("a topic accepts records again", metadata: ["topic": "\(topic)"]) }
        gate.wake()
    }

    /// Removes topics for which no record waits, although it is unknown whether they accept records. The next record
    /// will show it.
    func forget(where isUnused: (_ topic: String) -> Bool) {
        for topic in refusals.keys.filter(isUnused) {
            guard let refusal = refusals.removeValue(forKey: topic) else { continue }
            if let timer = refusal.timer { loop.cancel(timer) }
            refusal.waiting.broadcast()
            diagnostics.forget(topic)
        }
    }

    /// Records that a record is redirected to another topic instead of being retried. If no other record waits for this
    /// topic, the refusal is removed, because no attempt would ever do so.
    func stopRetrying(_ topic: String) {
        guard let refusal = refusals[topic], !refusal.waiting.isAwaited else { return }
        forget { $0 == topic }
        gate.wake()
    }

    /// Waits until the caller may retry a topic, or the topic accepts records again. The caller then writes its record
    /// and calls `clear` or `note`; the other writers wait for that.
    func waitForRetry(of topic: String) async {
        guard let refusal = refusals[topic], !isClosed else { return }
        await suspend(unless: isClosed || refusals[topic] !== refusal) {
            refusal.waiting.add($0)
            if refusal.timer == nil { scheduleRetry(at: refusal.retryAt, of: refusal) }
        }
    }

    /// Ends all waits, present and future.
    func close() {
        isClosed = true
        for refusal in refusals.values {
            if let timer = refusal.timer { loop.cancel(timer) }
            refusal.waiting.broadcast()
        }
    }

    /// Wakes the first waiting writer at `instant`, and the next one after the longest pause if no result is recorded
    /// by then.
    private func scheduleRetry(at instant: Instant, of refusal: Refusal) {
        if let timer = refusal.timer { loop.cancel(timer) }
        refusal.timer = loop.schedule(at: instant) { [weak self] in
            refusal.timer = nil
            refusal.waiting.signal()
            guard let self, refusal.waiting.isAwaited else { return }
            scheduleRetry(at: loop.now + Self.longestPause, of: refusal)
        }
    }

    /// Logs one line for each cause of a lasting refusal.
    private func announce(_ refusal: Refusal, topic: String) {
        let problem = problem(of: topic, refusal)
        guard refusal.announced != problem else { return }
        refusal.announced = problem

        let diagnosis = diagnosis(of: topic, refusal)
        announce(diagnosis, of: topic, reason: diagnosis?.text ?? refusal.reason.description)
    }

    /// Logs that a topic rejects or does not confirm records.
    /// - Parameter diagnosis: `nil` until the brokers have answered.
    func announce(_ diagnosis: TopicDiagnosis?, of topic: String, reason: String) {
        let consequence =
            topic == deadLetters
            ? "partitions with an invalid record are paused until it recovers"
            : "intake is paused until it recovers"
        let metadata: Logger.Metadata = ["topic": "\(topic)", "reason": "\(reason)"]
        switch diagnosis {
        case .refused:
            log.error(
                "a topic rejects records: \(consequence); check that it exists and that this user may write to it",
                metadata: metadata)
        case .noBrokerAnswers:
            log.warning("no broker confirms records: intake is paused until one does", metadata: metadata)
        case .withoutLeader, .complete, nil:
            log.error("a topic does not confirm records: \(consequence)", metadata: metadata)
        }
    }
}

extension KafkaError {
    /// `true` if no broker has refused the record: none has answered, or the record was never sent.
    fileprivate var isUnrelatedToTopic: Bool { [.timedOut, .unreachable, .retriable, .closed].contains(kind) }
}
