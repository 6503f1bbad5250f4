internal import Basics
internal import EventLoop
internal import Kafka
internal import Logging

/// Topics that refuse records for a reason that lasts: no permission, no such topic, a policy of the brokers.
///
/// One writer at a time tries such a topic again, at growing intervals, while the others wait. The first record that
/// is taken lets them all go on. A writer that reports nothing of its attempt holds nobody up: the next one's turn comes
/// after the longest interval. Confined to its lane; not `Sendable`.
final class TopicBackoff {
    private final class Refusal {
        let since: Instant
        var reason: KafkaError
        var attempts = 0
        var retryAt: Instant
        /// The log's latest line on it; `nil` before the first.
        var announced: String?
        var timer: TimerID?
        var turn = Condition()

        init(_ reason: KafkaError, since: Instant) {
            self.reason = reason
            self.since = since
            retryAt = since
        }
    }

    /// After so many attempts, or so much time, a refusal is taken to last: it is said in the log and by `/readyz`.
    private static let attemptsBeforeNotice = 3
    private static let timeBeforeNotice = Duration.seconds(2)
    /// The intervals between attempts double from the first to the last of these.
    private static let (firstPause, longestPause) = (Duration.milliseconds(250), Duration.seconds(5))

    private let deadLetters: String
    private let diagnostics: TopicDiagnostics
    private let gate: IntakeGate
    private let loop: EventLoop
    private let log: Logger
    private var refusals: [String: Refusal] = [:]
    private var isClosed = false

    /// - Parameter deadLetters: the topic whose refusal holds up single partitions only.
    init(deadLetters: String, diagnostics: TopicDiagnostics, gate: IntakeGate, loop: EventLoop, log: Logger) {
        self.deadLetters = deadLetters
        self.diagnostics = diagnostics
        self.gate = gate
        self.loop = loop
        self.log = log
    }

    var isEmpty: Bool { refusals.isEmpty }

    func contains(_ topic: String) -> Bool { refusals[topic] != nil }

    /// `true` while outcomes are refused: each further request would be paid for with no way to publish what it gave.
    var blockOutcomes: Bool {
        !refusals.isEmpty && refusals.contains { $0.key != deadLetters && $0.value.announced != nil }
    }

    /// `true` for a topic that has refused records for long enough to be told.
    func blocks(_ topic: String) -> Bool { refusals[topic]?.announced != nil }

    /// The refusals at present, as one line for a person; `nil` when that is nothing, or may be over in a moment.
    var problem: String? { announced.map { problem(of: $0.topic, $0.refusal) }.joinedAsProblem }

    /// The topics that have refused records for long enough to be told. Left out are those of which only is known that no
    /// broker answers.
    var blockedTopics: [String] {
        announced.filter { diagnosis(of: $0.topic, $0.refusal) != .noBrokerAnswers }.map(\.topic)
    }

    private var announced: [(topic: String, refusal: Refusal)] {
        refusals.filter { $0.value.announced != nil }.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
    }

    /// Returns what is wrong with a topic. The report on a record says so, unless no broker has spoken: then they are asked.
    /// - Returns: `nil` while the brokers have not answered.
    private func diagnosis(of topic: String, _ refusal: Refusal) -> TopicDiagnosis? {
        guard refusal.reason.saysNothingOfTheTopic else { return .refused(refusal.reason) }
        return diagnostics.diagnosis(of: topic, at: loop.now)
    }

    private func problem(of topic: String, _ refusal: Refusal) -> String {
        diagnosis(of: topic, refusal)?.problem(of: topic)
            ?? "topic \(topic) confirms no records: \(refusal.reason)"
    }

    /// Returns the instant at which the topic may be tried again; `nil` when that is now.
    func retryTime(of topic: String) -> Instant? { refusals[topic]?.retryAt }

    /// Notes that a topic refused a record.
    /// - Parameter isLasting: the record was tried for long, so the refusal is said at once.
    func note(_ error: KafkaError, by topic: String, isLasting: Bool = false) {
        let now = loop.now
        let refusal = refusals[topic] ?? Refusal(error, since: now)
        refusals[topic] = refusal
        // Records that were on their way together are refused together: that is one attempt.
        guard refusal.attempts == 0 || now >= refusal.retryAt else { return }

        refusal.reason = error
        refusal.attempts += 1
        let pause = min(Self.longestPause, Self.firstPause * (1 << min(refusal.attempts - 1, 10)))
        refusal.retryAt = now + pause
        scheduleTurn(at: refusal.retryAt, of: refusal)
        let lasts =
            isLasting || refusal.attempts >= Self.attemptsBeforeNotice || now - refusal.since >= Self.timeBeforeNotice
        if lasts { announce(refusal, topic: topic) }
    }

    /// Notes that a topic took a record.
    func clear(_ topic: String) {
        guard let refusal = refusals.removeValue(forKey: topic) else { return }

        if let timer = refusal.timer { loop.cancel(timer) }
        if !isPutBack(.retryLeavesOthersAsleep) { refusal.turn.broadcast() }
        diagnostics.forget(topic)
        if refusal.announced != nil { log.info("records can be written again", metadata: ["topic": "\(topic)"]) }
        gate.wake()
    }

    /// Forgets topics without knowing that they take records, because nothing waits for them any more. The next record
    /// will show.
    func forget(where isOver: (_ topic: String) -> Bool) {
        for topic in refusals.keys.filter(isOver) {
            guard let refusal = refusals.removeValue(forKey: topic) else { continue }
            if let timer = refusal.timer { loop.cancel(timer) }
            refusal.turn.broadcast()
            diagnostics.forget(topic)
        }
    }

    /// Notes that a record which was to be tried again goes to another topic. Where no other record waits for this one, nothing
    /// would ever find out that it takes records again.
    func giveUpTrying(_ topic: String) {
        guard let refusal = refusals[topic], !refusal.turn.isAwaited else { return }
        forget { $0 == topic }
        gate.wake()
    }

    /// Waits until it is the caller's turn to try a topic again, or the topic takes records again. The caller then writes its
    /// record, and calls `clear` or `note`: the others wait for that.
    func waitForRetry(of topic: String) async {
        guard let refusal = refusals[topic], !isClosed else { return }
        await suspend(unless: isClosed || refusals[topic] !== refusal) {
            refusal.turn.add($0)
            if refusal.timer == nil { scheduleTurn(at: refusal.retryAt, of: refusal) }
        }
    }

    /// Ends all waiting for good.
    func close() {
        isClosed = true
        for refusal in refusals.values {
            if let timer = refusal.timer { loop.cancel(timer) }
            refusal.turn.broadcast()
        }
    }

    /// Gives the first that waits its turn at `instant`, and the next one after the longest pause unless something is noted
    /// by then.
    private func scheduleTurn(at instant: Instant, of refusal: Refusal) {
        if let timer = refusal.timer { loop.cancel(timer) }
        refusal.timer = loop.schedule(at: instant) { [weak self] in
            refusal.timer = nil
            refusal.turn.signal()
            guard let self, refusal.turn.isAwaited else { return }
            scheduleTurn(at: loop.now + Self.longestPause, of: refusal)
        }
    }

    /// Writes one line for each cause of a refusal that lasts.
    private func announce(_ refusal: Refusal, topic: String) {
        let problem = problem(of: topic, refusal)
        guard refusal.announced != problem else { return }
        refusal.announced = problem

        let diagnosis = diagnosis(of: topic, refusal)
        let consequence =
            topic == deadLetters
            ? "partitions with a record that is no request stand still until that is over"
            : "no request begins until that is over"
        let metadata: Logger.Metadata = [
            "topic": "\(topic)", "reason": "\(diagnosis?.text ?? refusal.reason.description)",
        ]
        switch diagnosis {
        case .refused:
            log.error(
                "a topic takes no records: \(consequence); check that it exists and that this user may write to it",
                metadata: metadata)
        case .noBrokerAnswers:
            log.warning("no broker confirms records: no request begins until one does", metadata: metadata)
        case .withoutLeader, .complete, nil:
            log.error("no broker confirms the records of a topic: \(consequence)", metadata: metadata)
        }
    }
}

extension KafkaError {
    /// `true` when no broker has refused the record: none has answered, or the record never left.
    fileprivate var saysNothingOfTheTopic: Bool { [.timedOut, .unreachable, .retriable, .closed].contains(kind) }
}
