internal import CRdkafka
internal import Logging
internal import Synchronization

/// Owns one librdkafka client: its pointer, its event queue, its permanent failure, and its destruction.
///
/// Safe to use from any thread until `destroy` is called. A handle may be dropped without `destroy`, for example if a
/// worker could not be created, or while a call still uses the client. Then the client, and everything that its
/// callbacks use, live until the process exits.
final class ClientHandle: Sendable {
    enum Role: Sendable {
        case consumer
        case producer
        /// A consumer's client without events. Its owner frees it with `destroyLater`.
        case tool

        fileprivate var events: Int32 {
            switch self {
            case .consumer:
                RD_KAFKA_EVENT_REBALANCE | RD_KAFKA_EVENT_OFFSET_COMMIT | RD_KAFKA_EVENT_ERROR | RD_KAFKA_EVENT_STATS
            case .producer: RD_KAFKA_EVENT_DR | RD_KAFKA_EVENT_ERROR | RD_KAFKA_EVENT_STATS
            case .tool: 0
            }
        }
    }

    // Sendable by hand: librdkafka's clients and queues may be used from any thread (its INTRODUCTION.md, "Threads and
    // callbacks"), the two pointers never change, and `destroy` is called after the last use.
    nonisolated(unsafe) let pointer: OpaquePointer
    nonisolated(unsafe) let events: OpaquePointer
    let role: Role
    /// Signals when `events`, or the queue of a partition, stops being empty.
    let signal: QueueSignal
    /// The last reason that librdkafka reported for each unreachable broker.
    let brokerFailures: BrokerFailures
    let connections = BrokerConnections()
    /// The partitions in which reading jumped to another offset, because the broker no longer had the next record.
    let offsetResets = OffsetResets()
    /// The client's last statistics, if `statistics.interval.ms` is set.
    let statistics = StatisticsBox()
    /// Runs blocking calls.
    let blocking: BlockingThread

    private let log: ClientLog
    let isDestroyed = Atomic<Bool>(false)
    private let hasFailed = Atomic<Bool>(false)
    private let firstFailure = Mutex<KafkaError?>(nil)

    /// - Parameters:
    ///   - properties: The complete librdkafka properties.
    ///   - secrets: Texts that must not appear in any log line.
    /// - Throws: `configuration` that names the property.
    init(_ role: Role, properties: [String: String], hiding secrets: [String], log: Logger) throws(KafkaError) {
        self.role = role
        brokerFailures = BrokerFailures()
        // A tool does not take the resets.
        let resets = role == .tool ? nil : offsetResets
        self.log = ClientLog(log, hiding: secrets, failures: brokerFailures, resets: resets)
        signal = try QueueSignal()

        let isConsumer = role == .consumer
        blocking = BlockingThread("kafka-\(role)")
        pointer = try ClientSettings.makeClient(
            role == .producer ? RD_KAFKA_PRODUCER : RD_KAFKA_CONSUMER, properties: properties, events: role.events,
            log: self.log, connections: connections)
        if isConsumer { rd_kafka_poll_set_consumer(pointer) }
        self.events = isConsumer ? rd_kafka_queue_get_consumer(pointer) : rd_kafka_queue_get_main(pointer)
    }

    /// Makes a tool's client for the brokers of a configuration.
    ///
    /// The client has no `group.id`. With one, librdkafka looks up the group's coordinator when the client starts, even
    /// if it neither joins nor commits. A broker rejects that for a user without rights on the group.
    /// - Parameter own: Properties that take precedence.
    /// - Throws: `configuration` that names the property.
    convenience init(
        toolFor configuration: ConsumerConfiguration, setting own: [String: String] = [:], log: Logger
    ) throws(KafkaError) {
        var properties = try configuration.librdkafka(.running)
        for name in ["group.id", "group.instance.id", "group.protocol"] { properties[name] = nil }
        properties.merge(own) { _, own in own }
        try self.init(.tool, properties: properties, hiding: configuration.secrets, log: log)
    }

    deinit {
        guard !isDestroyed.load(ordering: .acquiring) else { return }

        // The client still exists, and it writes to all three objects.
        _ = Unmanaged.passRetained(signal)
        _ = Unmanaged.passRetained(connections)
        _ = Unmanaged.passRetained(log)
    }

    /// Frees the client, on the thread of its blocking calls and therefore after them. Call it once, after the last
    /// use.
    ///
    /// Drops undelivered records. A consumer that has not left its group by then does not leave it: its session expires
    /// at the broker.
    func destroy() async { await blocking.run { [self] in free() } }

    /// The same, without a waiting caller.
    func destroyLater() { blocking.start { [self] in free() } }

    private func free() {
        isDestroyed.store(true, ordering: .releasing)
        signal.disconnect(events)
        // Otherwise, destroying a producer would wait for message.timeout.ms.
        if role == .producer { rd_kafka_purge(pointer, RD_KAFKA_PURGE_F_QUEUE | RD_KAFKA_PURGE_F_INFLIGHT) }
        rd_kafka_queue_destroy(events)
        rd_kafka_destroy_flags(pointer, role == .producer ? 0 : RD_KAFKA_DESTROY_F_NO_CONSUMER_CLOSE)
    }

    // MARK: - Permanent failures

    /// The first permanent error of the client; `nil` while it works.
    var failure: KafkaError? {
        guard hasFailed.load(ordering: .acquiring) else { return nil }
        return firstFailure.withLock { $0 }
    }

    /// Stores `error` as the failure, unless there is one already.
    func noteFailure(_ error: KafkaError) {
        firstFailure.withLock { first in if first == nil { first = error } }
        hasFailed.store(true, ordering: .releasing)
    }

    /// Reads librdkafka's fatal error and stores it as the failure.
    /// - Returns: The failure, or an earlier one if there was one.
    @discardableResult
    func noteFatalError() -> KafkaError {
        if let failure { return failure }

        var reason = [CChar](repeating: 0, count: 512)
        let code = rd_kafka_fatal_error(pointer, &reason, reason.count)
        let kind: KafkaError.Kind = KafkaError.isFencing(code) ? .fenced : .fatal
        let error = KafkaError(kind, code: code.rawValue, "\(role): \(ClientSettings.text(reason))")

        noteFailure(error)
        return error
    }

    /// True if librdkafka itself reports that the client has failed permanently.
    var isFatal: Bool { rd_kafka_fatal_error(pointer, nil, 0) != RD_KAFKA_RESP_ERR_NO_ERROR }

    /// Returns the error for a code, or the stored failure if the code only refers to it.
    func error(for code: rd_kafka_resp_err_t, doing what: String) -> KafkaError {
        code == RD_KAFKA_RESP_ERR__FATAL ? noteFatalError() : KafkaError(code, doing: what)
    }
}
