internal import EventLoop
internal import Kafka
internal import Logging

/// Detects that transactions keep failing, and logs it once.
///
/// Confined to its lane; not `Sendable`.
final class TransactionHealth {
    /// After this long without a committed transaction, intake pauses.
    private static let timeBeforeNotice = Duration.seconds(3)

    private struct Failing {
        let since: Instant
        var reason: KafkaError
        var isAnnounced = false
    }

    private let loop: EventLoop
    private let log: Logger
    private var failing: Failing?

    init(loop: EventLoop, log: Logger) {
        self.loop = loop
        self.log = log
    }

    /// The reason why transactions fail, as one line for an operator; `nil` if they succeed or have not failed for
    /// long.
    var problem: String? { failing.flatMap { $0.isAnnounced ? "transactions fail: \($0.reason)" : nil } }

    /// Records an aborted transaction.
    /// - Parameter isExplained: `true` if single outcomes caused the failure. They are retried without others, or wait
    ///   for their topic.
    func noteFailure(_ reason: KafkaError, isExplained: Bool) {
        if isExplained {
            failing = nil
            log.debug("transaction aborted because of a rejected record", metadata: ["reason": "\(reason)"])
            return
        }

        let now = loop.now
        var failing = failing ?? Failing(since: now, reason: reason)
        failing.reason = reason
        if now - failing.since < Self.timeBeforeNotice {
            log.warning("transaction aborted; the next one publishes its outcomes", metadata: ["reason": "\(reason)"])
        } else if !failing.isAnnounced {
            failing.isAnnounced = true
            log.error(
                "transactions fail: intake is paused until one is committed", metadata: ["reason": "\(reason)"])
        }
        self.failing = failing
    }

    /// Logs that the shutdown leaves a transaction open, which the brokers will abort.
    func noteBrokersAreSilent(_ reason: KafkaError) {
        log.warning(
            "the brokers do not answer: uncommitted requests will be processed again",
            metadata: ["reason": "\(reason)"])
    }

    /// Records that all partitions of the failed transactions were revoked.
    func noteNothingIsLeft() {
        if problem != nil { log.info("the uncommitted partitions were revoked: intake resumes") }
        failing = nil
    }

    func noteSuccess() {
        if problem != nil { log.info("transactions are committed again: intake resumes") }
        failing = nil
    }
}

/// The pause between two transactions. The coordinator answers a commit before it has marked the partitions, and until
/// then refuses those of the next transaction (CONCURRENT_TRANSACTIONS). librdkafka retries after 20 ms, which delays all
/// its outcomes.
struct TransactionPause {
    private(set) var time = Duration.milliseconds(1)

    /// Adds 1 ms, up to 8 in all, if librdkafka may have retried. Otherwise shortens the pause by 1 %, down to 1 ms.
    mutating func adapt(after publishing: Duration) {
        let isSlow = publishing >= .milliseconds(20)
        time = isSlow ? min(time + .milliseconds(1), .milliseconds(8)) : max(time * 0.99, .milliseconds(1))
    }
}

/// The phases in the life of a `TransactionalDelivery`.
enum TransactionPhase: Equatable {
    /// The transactional id is being registered.
    case starting
    case running
    /// Ready outcomes are committed as far as the brokers accept them before `end`. While finishing, no further
    /// outcomes become ready.
    case ending(before: Instant, isFinishing: Bool)
    /// No further transaction may be committed.
    case stopped

    /// `true` when no further transaction may begin.
    func isOver(at now: Instant) -> Bool {
        switch self {
        case .starting, .running: false
        case .ending(let end, _): now >= end
        case .stopped: true
        }
    }

    /// The time at which the delivery ends; `nil` until a shutdown has begun.
    var end: Instant? {
        if case .ending(let end, _) = self { end } else { nil }
    }

    var isFinishing: Bool {
        if case .ending(_, isFinishing: true) = self { true } else { false }
    }
}
