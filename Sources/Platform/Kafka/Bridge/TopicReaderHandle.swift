internal import Basics
internal import CRdkafka
internal import Logging
internal import Synchronization
internal import LibC

/// Owns a librdkafka consumer that belongs to no group. Each call blocks its thread; safe to call from any thread.
///
/// The client has no `group.id`. With one, librdkafka looks up the group's coordinator when the client starts, even if
/// it neither joins nor commits. A broker rejects that for a user without rights on the group. Without one,
/// librdkafka's simple consumer reads the partitions into a shared queue.
///
/// `ClientHandle` is designed for a loop: its queue wakes the loop by a pipe, rebalances and reports arrive as events,
/// and its owner destroys it. This class makes blocking calls, one after another.
final class TopicReaderHandle: Sendable {
    /// A record, or the end of a partition.
    enum Event: Sendable {
        case record(ConsumerRecord)
        /// The broker reports that there is nothing at this offset or after it. Offsets before it may hold no record,
        /// because transaction markers also use offsets.
        case end(of: TopicPartition, at: Int64)
    }

    /// The partitions being read, with their topics and the queue that receives their records.
    private struct Reading: Sendable {
        let queue: Shared
        var topics: [String: Shared] = [:]
        var partitions: [TopicPartition] = []
    }

    /// One of the two edges of a partition.
    enum Edge: Int64, Sendable {
        /// The offset of the oldest record.
        case oldest = -2
        /// One past the offset of the newest record.
        case end = -1
    }

    /// Used instead of an offset: begins at the oldest record at that time.
    static let beginning = Int64(RD_KAFKA_OFFSET_BEGINNING)

    private let client: Shared
    /// `nil` until the first `assign`.
    private let reading = Mutex<Reading?>(nil)  // never held across a call into C
    private let log: ClientLog
    /// Why brokers were unreachable.
    private let failures = BrokerFailures()

    /// - Parameter needsEveryRecord: Fails if the next record was deleted, and also reads records of open or aborted
    ///   transactions.
    /// - Parameter log: Receives librdkafka's log lines.
    /// - Throws: `configuration` that names the property.
    init(_ configuration: ConsumerConfiguration, needsEveryRecord: Bool, log: Logger) throws(KafkaError) {
        var properties = try configuration.librdkafka(.running)
        // A partition's end is reported by the broker, never inferred from a timeout.
        properties["enable.partition.eof"] = "true"
        properties["auto.offset.reset"] = needsEveryRecord ? "error" : "earliest"
        if needsEveryRecord { properties["isolation.level"] = "read_uncommitted" }
        for name in ["group.id", "group.protocol"] { properties[name] = nil }

        self.log = ClientLog(log, hiding: configuration.secrets, failures: failures)
        client = Shared(
            pointer: try ClientSettings.makeClient(RD_KAFKA_CONSUMER, properties: properties, events: 0, log: self.log))
    }

    deinit {
        // Destroying waits for librdkafka's threads, so it runs where it delays no task.
        let (client, reading, log) = (client, reading.withLock { $0 }, log)
        Disposal.run {
            if let reading { Self.end(reading) }
            rd_kafka_destroy(client.pointer)
            withExtendedLifetime(log) {}
        }
    }

    // MARK: - Lookups

    /// Looks up the partitions of a topic, and retries until `deadline`, because a topic that is being created has no
    /// leader yet. Brokers that create topics automatically create a missing one.
    /// - Throws: `unreachable`, `unknownTopicOrPartition`, `authentication`.
    func partitions(
        of topic: String, before deadline: Instant
    ) throws(KafkaError) -> [TopicPartition] {
        let what = "look up topic \(topic)"
        return try retry(before: deadline) { milliseconds throws(KafkaError) in
            let metadata = try BrokerMetadata(of: topic, from: client.pointer, milliseconds: milliseconds)
            guard let found = metadata.topics.first else {
                throw KafkaError(RD_KAFKA_RESP_ERR__ALL_BROKERS_DOWN, doing: what)
            }
            guard found.err == RD_KAFKA_RESP_ERR_NO_ERROR else { throw KafkaError(found.err, doing: what) }
            guard found.partition_cnt > 0 else { throw KafkaError(RD_KAFKA_RESP_ERR_LEADER_NOT_AVAILABLE, doing: what) }
            return found.partitionList.map { TopicPartition(topic, $0.id) }
        }
    }

    /// Looks up one edge of each partition, and retries until `deadline`. Sends one request per broker for all its
    /// partitions.
    /// - Throws: `timedOut`, `unreachable`, `authentication`; never returns a partial result.
    func offsets(
        at edge: Edge, of partitions: [TopicPartition], before deadline: Instant
    ) throws(KafkaError) -> [TopicPartition: Int64] {
        guard let topic = partitions.first?.topic else { return [:] }

        let what = "look up the end offsets of \(topic)"
        return try retry(before: deadline) { milliseconds throws(KafkaError) in
            // Kafka accepts the number of an edge instead of a time. Unlike `rd_kafka_query_watermark_offsets`, which
            // has no effective timeout before 2.3.0, this call keeps to its timeout.
            let list = PartitionList(partitions.map { ($0, offset: edge.rawValue) })
            let code = rd_kafka_offsets_for_times(client.pointer, list.pointer, milliseconds)
            guard code == RD_KAFKA_RESP_ERR_NO_ERROR else { throw KafkaError(code, doing: what) }

            let offsets = try PartitionList.offsets(in: list.pointer, doing: what) { $1 }
            guard offsets.count == partitions.count else { throw KafkaError(RD_KAFKA_RESP_ERR__TIMED_OUT, doing: what) }
            return offsets
        }
    }

    /// Calls `attempt` until it succeeds, fails permanently, or `deadline` has passed.
    /// - Parameter attempt: Receives the remaining milliseconds, at least 1.
    private func retry<Value>(
        before deadline: Instant, attempt: (_ milliseconds: Int32) throws(KafkaError) -> Value
    ) throws(KafkaError) -> Value {
        while true {
            do throws(KafkaError) {
                return try attempt(Int32(clamping: max(1, (deadline - SystemClock.now).wholeMilliseconds)))
            } catch {
                let isPermanent = error.kind == .authentication || error.code == RD_KAFKA_RESP_ERR__INVALID_ARG.rawValue
                if isPermanent { throw error }
                if SystemClock.now >= deadline { throw failures.explain(error) }
            }

            var pause = timespec(tv_sec: 0, tv_nsec: 100_000_000)
            nanosleep(&pause, nil)
        }
    }

    // MARK: - Reading

    /// Begins to read these partitions, replacing all others.
    func assign(_ positions: [(TopicPartition, offset: Int64)]) throws(KafkaError) {
        if let last = reading.withLock({ $0.take() }) { Self.end(last) }

        // Each assignment has its own queue, so that records of the last one are never mistaken for records of this
        // one.
        var new = Reading(queue: Shared(pointer: rd_kafka_queue_new(client.pointer)))
        do throws(KafkaError) {
            for (partition, offset) in positions { try begin(partition, at: offset, in: &new) }
        } catch {
            Self.end(new)
            throw error
        }

        reading.withLock { [new] in $0 = new }
    }

    private func begin(
        _ partition: TopicPartition, at offset: Int64, in reading: inout Reading
    ) throws(KafkaError) {
        let topic: Shared
        if let known = reading.topics[partition.topic] {
            topic = known
        } else {
            guard let made = rd_kafka_topic_new(client.pointer, partition.topic, nil) else {
                throw KafkaError(rd_kafka_last_error(), doing: "read \(partition)")
            }
            topic = Shared(pointer: made)
            reading.topics[partition.topic] = topic
        }

        let code = rd_kafka_consume_start_queue(
            topic.pointer, partition.partition, offset, reading.queue.pointer)
        guard code == 0 else { throw KafkaError(rd_kafka_last_error(), doing: "read \(partition)") }
        reading.partitions.append(partition)
    }

    /// Stops reading all partitions, and frees their resources.
    private static func end(_ reading: Reading) {
        for partition in reading.partitions {
            guard let topic = reading.topics[partition.topic] else { continue }
            rd_kafka_consume_stop(topic.pointer, partition.partition)
        }
        rd_kafka_queue_destroy(reading.queue.pointer)
        for topic in reading.topics.values { rd_kafka_topic_destroy(topic.pointer) }
    }

    /// Waits for the next event, up to `bound` (whole milliseconds).
    /// - Returns: `nil` after `bound`, or after a temporary error such as a lost connection.
    /// - Throws: Any permanent error.
    func poll(for bound: Duration) throws(KafkaError) -> Event? {
        let milliseconds = Int32(clamping: max(0, bound.wholeMilliseconds))
        // Serves the client's own queue, which holds events without a partition, such as a token that must be renewed.
        if milliseconds > 0 { rd_kafka_poll(client.pointer, 0) }
        guard let queue = reading.withLock({ $0?.queue }) else { throw KafkaError(.closed, "no partition is read yet") }
        guard let message = rd_kafka_consume_queue(queue.pointer, milliseconds) else { return nil }
        defer { rd_kafka_message_destroy(message) }

        let code = message.pointee.err
        if code == RD_KAFKA_RESP_ERR_NO_ERROR {
            return .record(
                ConsumerRecord(copying: message, of: AssignedPartition(Self.partition(of: message), epoch: 0)))
        }
        if code == RD_KAFKA_RESP_ERR__PARTITION_EOF {
            return .end(of: Self.partition(of: message), at: OffsetRange.bounded(message.pointee.offset))
        }

        let error = KafkaError(code, doing: "read from Kafka")
        if [.unreachable, .retriable, .timedOut].contains(error.kind) { return nil }
        throw error
    }

    private static func partition(of message: UnsafePointer<rd_kafka_message_t>) -> TopicPartition {
        TopicPartition(String(cString: rd_kafka_topic_name(message.pointee.rkt)), message.pointee.partition)
    }
}
