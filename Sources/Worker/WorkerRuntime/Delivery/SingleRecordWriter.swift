internal import EventLoop
internal import Kafka
internal import Logging

/// Writes records with a producer whose batches hold one record each, so that a refused batch concerns exactly one
/// record.
///
/// Brokers refuse a batch as a whole, and librdkafka reports that for each of its records. If a batch was too large,
/// this producer sends its records again. The second report then concerns that record only, and no other record waits
/// for it.
///
/// The producer is made when it is first needed, and kept until the lane ends. Confined to its lane; not `Sendable`.
final class SingleRecordWriter {
    private let makeSink: SinkMaker?
    private let loop: EventLoop
    private let meters: WorkerMeters
    private let log: Logger
    private var sinks: ReplaceableSink?
    /// The requests whose outcomes this producer writes.
    private var writing: Set<ObjectIdentifier> = []
    /// The number of these outcomes, by order key.
    private var countByOrder: [OrderKey: Int] = [:]

    /// - Parameter makeSink: makes the producer; `nil`: records are not written singly.
    init(_ makeSink: SinkMaker?, loop: EventLoop, meters: WorkerMeters, log: Logger) {
        (self.makeSink, self.loop, self.meters, self.log) = (makeSink, loop, meters, log)
    }

    /// Returns the producer, which the first call makes.
    /// - Returns: `nil` if it cannot be made. A record is then retried in a shared batch.
    func open() -> ReplaceableSink? {
        if let sinks { return sinks }
        guard let makeSink else { return nil }

        do throws(KafkaError) {
            sinks = ReplaceableSink(try makeSink(), makeSink: makeSink, loop: loop, meters: meters, log: log)
        } catch {
            log.warning(
                "no producer for single records: an outcome may be truncated instead of a larger one of its batch",
                metadata: ["reason": "\(error)"])
        }
        return sinks
    }

    // MARK: - Order

    /// `true` if this producer has an earlier outcome with the request's order key. The request's own outcome must then
    /// follow it there, because records of two producers have no defined order.
    func mustTake(_ request: RequestInProgress) -> Bool {
        guard !countByOrder.isEmpty, let order = request.orderPosition?.group else { return false }
        return countByOrder[order] != nil
    }

    /// True while this producer writes the request's outcome.
    func writes(_ request: RequestInProgress) -> Bool { writing.contains(ObjectIdentifier(request)) }

    /// Records that this producer writes the request's outcome. `finish` must follow each call.
    func begin(_ request: RequestInProgress) {
        guard writing.insert(ObjectIdentifier(request)).inserted else { return }
        if let order = request.orderPosition?.group { countByOrder[order, default: 0] += 1 }
    }

    /// Records that the request's outcome is written or abandoned.
    func finish(_ request: RequestInProgress) {
        guard !writing.isEmpty, writing.remove(ObjectIdentifier(request)) != nil else { return }
        guard let order = request.orderPosition?.group, let count = countByOrder[order] else { return }
        countByOrder[order] = count > 1 ? count - 1 : nil
    }

    // MARK: - End

    /// Waits until no record is unconfirmed.
    /// - Returns: the number of records that are still unconfirmed after `bound`.
    func flush(within bound: Duration) async -> Int {
        guard let sinks, await !sinks.current.flush(within: bound) else { return 0 }
        return await sinks.current.undelivered
    }

    func close() async { await sinks?.close() }
}
