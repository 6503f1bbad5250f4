internal import EventLoop
internal import Kafka
internal import Logging

/// The producer that a lane writes with. Replaces it when it fails.
///
/// An idempotent producer fails fatally when it no longer knows which records the broker has. Before librdkafka 2.3.0,
/// a lost connection is enough (#4438). A transactional producer fails fatally when its coordinator aborted the
/// transaction. It also fails when the coordinator answers the end of a transaction that has already taken effect
/// (#4849).
///
/// A producer may also be blocked in a call that does not return. It is then abandoned, and its client lives until the
/// call returns or the process ends. The delivery decides which of the failed producer's records are written again.
///
/// Confined to its lane; not `Sendable`.
final class ReplaceableSink {
    /// More fatal failures than this within a minute do not have their cause in the producer, and the worker ends.
    private static let maxReplacementsPerMinute = 3
    /// The most abandoned producers that may still be blocked in a call.
    static let maxAbandoned = 8

    private struct Abandoned {
        /// Weak, because only the blocked call keeps an abandoned producer alive.
        weak var sink: (any OutcomeSink)?
    }

    private(set) var current: any OutcomeSink
    private let makeSink: SinkMaker?
    private let loop: EventLoop
    private let meters: WorkerMeters
    private let log: Logger
    private var replacements: [Instant] = []
    private var abandoned: [Abandoned] = []
    /// Ends once every replaced producer is closed.
    private var closing: Task<Void, Never>?

    /// - Parameter makeSink: makes a producer like `sink`; `nil` if a replacement is not allowed.
    init(_ sink: any OutcomeSink, makeSink: SinkMaker?, loop: EventLoop, meters: WorkerMeters, log: Logger) {
        current = sink
        (self.makeSink, self.loop, self.meters, self.log) = (makeSink, loop, meters, log)
    }

    /// Replaces a producer that can no longer write. Does nothing if it has been replaced already.
    /// - Parameter consequence: what happens to the failed producer's records, for the log.
    /// - Throws: `error` itself if a replacement is not allowed or would not help.
    func replace(_ failed: any OutcomeSink, failedWith error: KafkaError, consequence: String) throws(KafkaError) {
        let wasReplacedAlready = failed !== current
        if wasReplacedAlready { return }

        guard let makeSink else { throw error }
        if error.kind == .hung {
            try abandon(failed, after: error)
        } else if !error.mayPass {
            try noteReplacement(after: error)
        }

        current = try makeSink()
        closing = Task(executorPreference: loop) { [closing] in
            await failed.close()
            await closing?.value
        }
        meters.kafka.countReplacedProducer()
        log.warning(
            "a failed producer was replaced by a new one",
            metadata: ["reason": "\(error)", "consequence": "\(consequence)"])
    }

    private func noteReplacement(after error: KafkaError) throws(KafkaError) {
        let now = loop.now
        replacements.removeAll { $0 + .seconds(60) < now }
        guard replacements.count < Self.maxReplacementsPerMinute else { throw error }
        replacements.append(now)
    }

    /// Counts a producer that stays blocked in a call. A hung call is abandoned after 15 s, so these replacements need
    /// no other rate limit.
    private func abandon(_ failed: any OutcomeSink, after error: KafkaError) throws(KafkaError) {
        abandoned.removeAll { $0.sink == nil }
        guard abandoned.count < Self.maxAbandoned else {
            throw KafkaError(
                .hung,
                """
                \(error.description); \(abandoned.count) earlier producers are still blocked in such calls, and only the end of \
                the process frees them: the worker stops
                """)
        }
        abandoned.append(Abandoned(sink: failed))
    }

    /// Frees every producer. Waits for replaced ones too.
    func close() async {
        await current.close()
        await closing?.value
    }
}
