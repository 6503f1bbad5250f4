internal import CRdkafka

/// Owns librdkafka's record queue of one assigned partition. Used by one actor, which must release it before its client
/// is destroyed.
final class PartitionQueue {
    private let pointer: OpaquePointer
    private let signal: QueueSignal
    /// The end of the partition, once `next` has returned all records before it. `PartitionSources` takes it.
    var end: Int64?
    private var isClosed = false

    /// Separates the partition's records from the main queue. Create it before the partition is assigned, so that no
    /// record reaches the main queue.
    /// - Parameter number: The number that the client's signal uses for this queue.
    /// - Returns: `nil` if librdkafka does not know the partition.
    init?(of id: TopicPartition, client: ClientHandle, signalledAs number: UInt32) {
        guard let queue = rd_kafka_queue_get_partition(client.pointer, id.topic, id.partition) else { return nil }
        rd_kafka_queue_forward(queue, nil)
        pointer = queue
        signal = client.signal
        signal.connect(queue, as: number)
    }

    deinit { close() }

    /// Removes and returns the oldest record.
    ///
    /// Takes one record per call, because librdkafka's batch calls skip offsets around rebalances before 2.1.0.
    /// - Returns: `nil` if the queue is empty.
    /// - Throws: The error that librdkafka queued instead of a record; the next call may return a record again.
    func next(of partition: AssignedPartition) throws(KafkaError) -> ConsumerRecord? {
        while let message = rd_kafka_consume_queue(pointer, 0) {
            defer { rd_kafka_message_destroy(message) }
            switch message.pointee.err {
            case RD_KAFKA_RESP_ERR_NO_ERROR: return ConsumerRecord(copying: message, of: partition)
            case RD_KAFKA_RESP_ERR__PARTITION_EOF: end = OffsetRange.bounded(message.pointee.offset)
            case let code: throw KafkaError(code, doing: "reading \(partition.id)")
            }
        }
        return nil
    }

    /// Releases the queue. Safe to call more than once.
    func close() {
        guard !isClosed else { return }
        isClosed = true
        signal.disconnect(pointer)
        rd_kafka_queue_destroy(pointer)
    }
}
