internal import Basics
internal import CRdkafka

/// The partitions that a tool reads, and the queue that receives their records. It belongs to no group:
/// librdkafka's simple consumer reads the partitions. Each call may block its thread; make one call after another.
struct TopicReading: Sendable {
    /// Used instead of an offset: begins at the oldest record at that time.
    static let beginning = Int64(RD_KAFKA_OFFSET_BEGINNING)

    private let client: ClientHandle
    private let queue: Shared
    private var topics: [String: Shared] = [:]
    private var partitions: [TopicPartition] = []

    /// Begins to read. Call `end` after the last use.
    init(_ starts: [TopicPartition: Int64], client: ClientHandle) throws(KafkaError) {
        self.client = client
        queue = Shared(pointer: rd_kafka_queue_new(client.pointer))
        do throws(KafkaError) {
            for (partition, offset) in starts { try begin(partition, at: offset) }
        } catch {
            end()
            throw error
        }
    }

    private mutating func begin(_ partition: TopicPartition, at offset: Int64) throws(KafkaError) {
        let topic: Shared
        if let known = topics[partition.topic] {
            topic = known
        } else {
            guard let made = rd_kafka_topic_new(client.pointer, partition.topic, nil) else {
                throw KafkaError(rd_kafka_last_error(), doing: "read \(partition)")
            }
            topic = Shared(pointer: made)
            topics[partition.topic] = topic
        }

        let code = rd_kafka_consume_start_queue(topic.pointer, partition.partition, offset, queue.pointer)
        guard code == 0 else { throw KafkaError(rd_kafka_last_error(), doing: "read \(partition)") }
        partitions.append(partition)
    }

    /// Stops reading all partitions, and frees their resources.
    func end() {
        for partition in partitions {
            guard let topic = topics[partition.topic] else { continue }
            rd_kafka_consume_stop(topic.pointer, partition.partition)
        }
        rd_kafka_queue_destroy(queue.pointer)
        for topic in topics.values { rd_kafka_topic_destroy(topic.pointer) }
    }

    /// Waits for the next record or partition end, up to `bound` (whole milliseconds), and adds it to `records` or `ends`.
    /// - Returns: `false` after `bound`, or after a temporary error such as a lost connection.
    /// - Throws: Any permanent error.
    func poll(
        for bound: Duration, into records: inout [ConsumerRecord], _ ends: inout [TopicPartition: Int64]
    ) throws(KafkaError) -> Bool {
        let milliseconds = Int32(clamping: max(0, bound.wholeMilliseconds))
        // Serves the client's own queue, which holds events without a partition, such as a token that must be renewed.
        if milliseconds > 0 { rd_kafka_poll(client.pointer, 0) }
        guard let message = rd_kafka_consume_queue(queue.pointer, milliseconds) else { return false }
        defer { rd_kafka_message_destroy(message) }

        let partition = TopicPartition(
            String(cString: rd_kafka_topic_name(message.pointee.rkt)), message.pointee.partition)
        switch message.pointee.err {
        case RD_KAFKA_RESP_ERR_NO_ERROR:
            records.append(ConsumerRecord(copying: message, of: AssignedPartition(partition, epoch: 0)))
        case RD_KAFKA_RESP_ERR__PARTITION_EOF:
            ends[partition] = OffsetRange.bounded(message.pointee.offset)
        case let code:
            let error = KafkaError(code, doing: "read from Kafka")
            if [.unreachable, .retriable, .timedOut].contains(error.kind) { return false }
            throw error
        }
        return true
    }
}
