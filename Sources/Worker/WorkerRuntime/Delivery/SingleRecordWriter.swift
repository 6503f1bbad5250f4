internal import Kafka
internal import Logging

/// The producer whose batches hold one record each, so that whatever refuses a batch refuses that one record.
///
/// The brokers refuse a batch as a whole, and librdkafka reports that for each of its records. A record of a batch that was
/// too large is sent again by this producer: no other record has a part in its second report, and none waits for it.
/// The producer is made when it is first needed, and kept until the lane ends. Confined to its lane; not `Sendable`.
final class SingleRecordWriter {
    private let makeSinks: (() throws(KafkaError) -> ReplaceableSink)?
    private let log: Logger
    private var sinks: ReplaceableSink?
    /// How many outcomes of each order this producer has.
    private var ordersUnderWay: [OrderKey: Int] = [:]

    /// - Parameter makeSinks: makes the producer; `nil`: there is none.
    init(_ makeSinks: (() throws(KafkaError) -> ReplaceableSink)?, log: Logger) {
        self.makeSinks = makeSinks
        self.log = log
    }

    /// Returns the producer, and makes it at the first call.
    /// - Returns: `nil` where it cannot be made. A record is then sent again in whatever batch it gets into.
    func open() -> ReplaceableSink? {
        if let sinks { return sinks }
        guard let makeSinks else { return nil }

        do throws(KafkaError) {
            sinks = try makeSinks()
        } catch {
            log.warning(
                "no producer for single records: an outcome may be shortened in place of a larger one of its batch",
                metadata: ["reason": "\(error)"])
        }
        return sinks
    }

    // MARK: - Order

    /// `true` when an earlier outcome of the request's order is with this producer. The request's own outcome must follow it
    /// there, because no order holds between two producers.
    func mustTake(_ request: RequestInProgress) -> Bool {
        guard !ordersUnderWay.isEmpty, let order = request.turn?.group else { return false }
        return ordersUnderWay[order] != nil
    }

    /// Notes that the request's outcome goes by this producer. Each call is followed by `finish`.
    func begin(_ request: RequestInProgress) {
        guard !request.isWrittenSingly else { return }
        request.isWrittenSingly = true
        if let order = request.turn?.group { ordersUnderWay[order, default: 0] += 1 }
    }

    /// Notes that the request's outcome is written, or given up.
    func finish(_ request: RequestInProgress) {
        guard request.isWrittenSingly else { return }
        request.isWrittenSingly = false
        guard let order = request.turn?.group, let count = ordersUnderWay[order] else { return }
        ordersUnderWay[order] = count > 1 ? count - 1 : nil
    }

    // MARK: - The end

    /// Waits until no record is unconfirmed.
    /// - Returns: the number of records that are unconfirmed when `bound` has passed.
    func flush(within bound: Duration) async -> Int {
        guard let sinks, await !sinks.current.flush(within: bound) else { return 0 }
        return await sinks.current.undelivered
    }

    func close() async { await sinks?.close() }
}
