internal import Basics
internal import EventLoop
internal import Kafka
internal import Logging

/// The producer that a lane writes with, and the next one when it fails for good.
///
/// An idempotent producer fails for good when it cannot tell any more what the broker has; before librdkafka 2.3.0 a lost
/// connection is enough (#4438). A transactional one fails for good when its coordinator gave the transaction up, or answers
/// the end of a transaction that has taken effect already (#4849). A producer may also be held by a call that does not return:
/// it is abandoned, and its client lives until the call returns, or the process ends. The delivery decides what of the failed
/// producer's records is written again.
///
/// Confined to its lane; not `Sendable`.
final class ReplaceableSink {
    /// The replacements of broken producers within a minute above which it is not the producer that is broken, and the worker ends.
    private static let maxReplacementsPerMinute = 3
    /// The most abandoned producers that are still held by a call.
    static let maxAbandoned = 8

    private struct Abandoned {
        /// The call that holds the producer keeps it alive, and nothing else does.
        weak var sink: (any OutcomeSink)?
    }

    private(set) var current: any OutcomeSink
    private let makeSink: (@Sendable () throws(KafkaError) -> any OutcomeSink)?
    private let loop: EventLoop
    private let meters: WorkerMeters
    private let log: Logger
    private var replacements: [Instant] = []
    private var abandoned: [Abandoned] = []
    private var closings: [Task<Void, Never>] = []

    /// - Parameter makeSink: makes one like `sink`; `nil` where a replacement is not allowed.
    init(
        _ sink: any OutcomeSink, makeSink: (@Sendable () throws(KafkaError) -> any OutcomeSink)?, loop: EventLoop,
        meters: WorkerMeters, log: Logger
    ) {
        current = sink
        self.makeSink = makeSink
        self.loop = loop
        self.meters = meters
        self.log = log
    }

    /// Replaces a sink that can no longer write. Does nothing when that has happened already.
    /// - Parameter consequence: what becomes of the records that the failed sink leaves, for the log.
    /// - Throws: `error` itself where a replacement is not allowed or would not help.
    func replace(
        _ failed: any OutcomeSink, failedWith error: KafkaError, consequence: String
    ) throws(KafkaError) {
        let wasReplacedAlready = failed !== current
        if wasReplacedAlready { return }

        guard let makeSink else { throw error }
        if error.kind == .hung {
            try abandon(failed, after: error)
        } else if !error.mayPass {
            try noteReplacement(after: error)
        }

        current = try makeSink()
        closings.append(Task(executorPreference: loop) { await failed.close() })
        meters.kafka.countReplacedProducer()
        log.warning(
            "a producer that cannot go on was replaced by a new one",
            metadata: ["reason": "\(error)", "consequence": "\(consequence)"])
    }

    private func noteReplacement(after error: KafkaError) throws(KafkaError) {
        let now = loop.now
        replacements.removeAll { $0 + .seconds(60) < now }
        guard replacements.count < Self.maxReplacementsPerMinute else { throw error }
        replacements.append(now)
    }

    /// Counts a producer that is left to the call which holds it. A call that hangs takes 15 s until it is left, so these
    /// replacements need no other bound.
    private func abandon(_ failed: any OutcomeSink, after error: KafkaError) throws(KafkaError) {
        abandoned.removeAll { $0.sink == nil }
        guard abandoned.count < Self.maxAbandoned else {
            throw KafkaError(
                .hung,
                """
                \(error.description); \(abandoned.count) producers before it are still held by such calls, and only the end of \
                the process frees them: the worker ends
                """)
        }
        abandoned.append(Abandoned(sink: failed))
        meters.kafka.countAbandonedProducer()
    }

    /// Frees every producer, waiting for those that were replaced too.
    func close() async {
        await current.close()
        for closing in closings { await closing.value }
    }
}
