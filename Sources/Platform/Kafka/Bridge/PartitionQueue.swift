internal import CRdkafka

/// Owns librdkafka's queue with the records of one assigned partition. For one actor, which must be done with the queue
/// before its client is destroyed.
final class PartitionQueue {
    private let pointer: OpaquePointer
    private let signal: QueueSignal
    private var isClosed = false

    /// Splits the partition's records off the main queue. Made before the partition is assigned, so that not one record
    /// goes to the main queue.
    /// - Parameter number: What the client's signal says when the queue stops being empty.
    /// - Returns: `nil` when librdkafka does not know the partition.
    init?(of id: TopicPartition, client: ClientHandle, signalledAs number: UInt32) {
        guard let queue = rd_kafka_queue_get_partition(client.pointer, id.topic, id.partition) else { return nil }
        rd_kafka_queue_forward(queue, nil)
        pointer = queue
        signal = client.signal
        signal.connect(queue, as: number)
    }

    deinit { close() }

    /// Takes the oldest record out.
    ///
    /// One record a call, because librdkafka's calls for several skip offsets around rebalances before 2.1.0.
    /// - Returns: `nil` when the queue is empty.
    /// - Throws: What librdkafka reported in place of a record; the next call may find a record again.
    func next(of partition: AssignedPartition) throws(KafkaError) -> ConsumerRecord? {
        guard let message = rd_kafka_consume_queue(pointer, 0) else { return nil }
        defer { rd_kafka_message_destroy(message) }

        guard message.pointee.err == RD_KAFKA_RESP_ERR_NO_ERROR else {
            throw KafkaError(message.pointee.err, doing: "reading \(partition.id)")
        }
        return ConsumerRecord(copying: message, of: partition)
    }

    /// Lets go of the queue. Safe to call more than once.
    func close() {
        guard !isClosed else { return }
        isClosed = true
        signal.disconnect(pointer)
        rd_kafka_queue_destroy(pointer)
    }
}
