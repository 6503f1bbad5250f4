internal import CRdkafka

/// A producer's local queue: accepts records and returns their delivery reports. Used by one actor, which must close it
/// before its client is destroyed.
final class ProducerQueue {
    enum Answer {
        case queued
        case isFull
        case refused(KafkaError)
    }

    private let client: ClientHandle
    /// The topics written to so far. There are so few that a linear search is faster than hashing a name.
    private var topics: [(name: String, pointer: OpaquePointer)] = []

    init(_ client: ClientHandle) { self.client = client }

    deinit { close() }

    /// Copies a record into the queue. Does not wait.
    /// - Parameter slot: Returned with the delivery report of this record. At least 0.
    func add(_ record: ProducerRecord, slot: Int) -> Answer {
        let code = produce(record, slot: slot)
        if code == RD_KAFKA_RESP_ERR_NO_ERROR { return .queued }
        if code == RD_KAFKA_RESP_ERR__QUEUE_FULL { return .isFull }
        return .refused(client.error(for: code, doing: "produce to \(record.topic)"))
    }

    private func produce(_ record: ProducerRecord, slot: Int) -> rd_kafka_resp_err_t {
        guard let topic = topic(record.topic) else { return rd_kafka_last_error() }
        // Adds one, because librdkafka reports nothing for a null pointer; bounded: it counts records in memory.
        return record.handOver(to: client.pointer, topic: topic, opaque: UnsafeMutableRawPointer(bitPattern: slot + 1))
    }

    private func topic(_ name: String) -> OpaquePointer? {
        if let known = topics.first(where: { $0.name == name }) { return known.pointer }
        guard let new = rd_kafka_topic_new(client.pointer, name, nil) else { return nil }
        topics.append((name, new))
        return new
    }

    /// Handles all delivery reports and errors received so far.
    /// - Parameters:
    ///   - report: Called with the entry and the result of each record.
    ///   - failed: Called for each error that does not concern a single record; `fatal` or `fenced` if it is permanent.
    @inline(__always)
    func serve(report: (Int, Result<RecordPosition, KafkaError>) -> Void, failed: (KafkaError) -> Void) {
        while let event = rd_kafka_queue_poll(client.events, 0) {
            switch rd_kafka_event_type(event) {
            case RD_KAFKA_EVENT_DR:
                // The library's own messages, not copies: a message's status is stored after it.
                while let message = rd_kafka_event_message_next(event) {
                    // bounded: the value that was passed in, 1 or more
                    report(Int(bitPattern: message.pointee._private) - 1, result(of: message))
                }
            case RD_KAFKA_EVENT_ERROR:
                failed(ClientHandle.isFatal(event) ? client.noteFatalError() : client.reportedError(event))
            case RD_KAFKA_EVENT_STATS:
                client.statistics.take(StatisticsEvent(owning: event))
                continue
            default: break
            }
            rd_kafka_event_destroy(event)
        }
    }

    private func result(of message: UnsafePointer<rd_kafka_message_t>) -> Result<RecordPosition, KafkaError> {
        guard message.pointee.err != RD_KAFKA_RESP_ERR_NO_ERROR else {
            return .success(RecordPosition(partition: message.pointee.partition, offset: message.pointee.offset))
        }

        // Records that fail with a fatal error are reported with other codes.
        let error =
            client.isFatal ? client.noteFatalError() : client.error(for: message.pointee.err, doing: "delivery")
        return .failure(error.with(KafkaError.Status(rd_kafka_message_status(message))))
    }

    /// Releases the topics. Safe to call more than once; nothing may be added afterwards.
    func close() {
        for topic in topics { rd_kafka_topic_destroy(topic.pointer) }
        topics.removeAll()
    }
}

extension ClientHandle {
    /// Sends the records lingering in a producer's queue, and waits until all are reported. The loop receives the
    /// reports as usual.
    func flush(within bound: Duration) async {
        let milliseconds = Int32(clamping: bound.wholeMilliseconds)
        await blocking.run { [self] in _ = rd_kafka_flush(pointer, milliseconds) }
    }
}
