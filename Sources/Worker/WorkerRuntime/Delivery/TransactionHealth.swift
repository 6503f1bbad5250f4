internal import Basics
internal import EventLoop
internal import Kafka
internal import Logging

/// Knows since when no transaction has been committed although some were tried, and says so in the log once.
///
/// Confined to its lane; not `Sendable`.
final class TransactionHealth {
    /// The duration of failures after which nothing new begins.
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

    /// Why transactions fail, as one line for a person; `nil` while they do not, or may be over it in a moment.
    var problem: String? { failing.flatMap { $0.isAnnounced ? "transactions fail: \($0.reason)" : nil } }

    /// Notes a transaction that was aborted.
    /// - Parameter isExplained: the failure is that of single outcomes, which go alone or wait for their topic from now on.
    func noteFailure(_ reason: KafkaError, isExplained: Bool) {
        if isExplained {
            failing = nil
            log.debug("transaction aborted for a refused record", metadata: ["reason": "\(reason)"])
            return
        }

        let now = loop.now
        var failing = failing ?? Failing(since: now, reason: reason)
        failing.reason = reason
        if now - failing.since < Self.timeBeforeNotice {
            log.warning("transaction aborted, its outcomes go into the next one", metadata: ["reason": "\(reason)"])
        } else if !failing.isAnnounced {
            failing.isAnnounced = true
            log.error(
                "transactions fail: no request begins until one is committed", metadata: ["reason": "\(reason)"])
        }
        self.failing = failing
    }

    /// Reports that the worker's end leaves a transaction open, which the brokers will give up.
    func noteBrokersAreSilent(_ reason: KafkaError) {
        log.warning(
            "the brokers do not answer: what is not committed by now will be done again",
            metadata: ["reason": "\(reason)"])
    }

    /// Notes that nothing of what failed is left: it belongs to other members of the group now.
    func noteNothingIsLeft() {
        if problem != nil {
            log.info("what could not be committed is not this worker's any more: requests begin again")
        }
        failing = nil
    }

    func noteSuccess() {
        if problem != nil { log.info("transactions are committed again: requests begin again") }
        failing = nil
    }
}
