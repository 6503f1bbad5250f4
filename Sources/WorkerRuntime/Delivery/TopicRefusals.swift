internal import EventLoop
internal import Kafka
internal import Logging

/// Topics that refuse records for a reason that lasts: no permission, no such topic, a policy of the brokers.
///
/// One writer at a time tries such a topic again, at growing intervals, while the others wait. The first record that
/// is taken lets them all go on. Confined to its lane; not `Sendable`.
final class TopicRefusals {
    private final class Refusal {
        let since: ContinuousClock.Instant
        var reason: KafkaError
        var attempts = 0
        var retryAt: ContinuousClock.Instant
        var isAnnounced = false
        var timer: TimerID?
        var waiters: [CheckedContinuation<Void, Never>] = []

        init(_ reason: KafkaError, since: ContinuousClock.Instant) {
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
    private let gate: IntakeGate
    private let loop: EventLoop
    private let log: Logger
    private var refusals: [String: Refusal] = [:]
    private var isClosed = false

    /// - Parameter deadLetters: the topic whose refusal holds up single partitions only.
    init(deadLetters: String, gate: IntakeGate, loop: EventLoop, log: Logger) {
        self.deadLetters = deadLetters
        self.gate = gate
        self.loop = loop
        self.log = log
    }

    var isEmpty: Bool { refusals.isEmpty }

    func contains(_ topic: String) -> Bool { refusals[topic] != nil }

    /// `true` while outcomes are refused: each further request would be paid for with no way to publish what it gave.
    var blockOutcomes: Bool { !refusals.isEmpty && refusals.contains { $0.key != deadLetters && $0.value.isAnnounced } }

    /// What is refused at present, as one line for a person; `nil` when that is nothing, or may be over in a moment.
    var problem: String? {
        let announced = refusals.filter(\.value.isAnnounced).sorted { $0.key < $1.key }
        guard !announced.isEmpty else { return nil }
        return announced.map { "topic \($0.key) takes no records: \($0.value.reason)" }.joined(separator: "; ")
    }

    /// When the topic may be tried again; `nil` when nothing speaks against now.
    func retryTime(of topic: String) -> ContinuousClock.Instant? { refusals[topic]?.retryAt }

    /// Notes that a topic refused a record.
    /// - Parameter isLasting: the record was tried for long, so the refusal is said at once.
    func note(_ error: KafkaError, by topic: String, isLasting: Bool = false) {
        let now = ContinuousClock.now
        let refusal = refusals[topic] ?? Refusal(error, since: now)
        refusals[topic] = refusal
        // Records that were on their way together are refused together: that is one attempt.
        guard refusal.attempts == 0 || now >= refusal.retryAt else { return }

        refusal.reason = error
        refusal.attempts += 1
        let pause = min(Self.longestPause, Self.firstPause * (1 << min(refusal.attempts - 1, 10)))
        refusal.retryAt = now + pause
        scheduleRetry(of: refusal)
        let lasts =
            isLasting || refusal.attempts >= Self.attemptsBeforeNotice || now - refusal.since >= Self.timeBeforeNotice
        if lasts { announce(refusal, topic: topic) }
    }

    /// Notes that a topic took a record.
    func clear(_ topic: String) {
        guard let refusal = refusals.removeValue(forKey: topic) else { return }

        if let timer = refusal.timer { loop.cancel(timer) }
        for waiter in refusal.waiters { waiter.resume() }
        if refusal.isAnnounced { log.info("records can be written again", metadata: ["topic": "\(topic)"]) }
        gate.wake()
    }

    /// Waits until it is the caller's turn to try a topic again, or the topic takes records again. The caller then writes its
    /// record, and calls `clear` or `note`: the others wait for that.
    func waitForRetry(of topic: String) async {
        guard let refusal = refusals[topic], !isClosed else { return }
        await suspend(unless: isClosed || refusals[topic] !== refusal) { refusal.waiters.append($0) }
    }

    /// Ends all waiting for good.
    func close() {
        isClosed = true
        for refusal in refusals.values {
            if let timer = refusal.timer { loop.cancel(timer) }
            let waiters = refusal.waiters
            refusal.waiters.removeAll()
            for waiter in waiters { waiter.resume() }
        }
    }

    private func scheduleRetry(of refusal: Refusal) {
        if let timer = refusal.timer { loop.cancel(timer) }
        refusal.timer = loop.schedule(at: refusal.retryAt) {
            guard !refusal.waiters.isEmpty else { return }
            refusal.waiters.removeFirst().resume()
        }
    }

    private func announce(_ refusal: Refusal, topic: String) {
        guard !refusal.isAnnounced else { return }
        refusal.isAnnounced = true

        let consequence =
            topic == deadLetters
            ? "partitions with a record that is no request stand still until it does"
            : "no request begins until it does"
        log.error(
            "a topic takes no records: \(consequence); check that it exists and that this user may write to it",
            metadata: ["topic": "\(topic)", "reason": "\(refusal.reason)"])
    }
}
