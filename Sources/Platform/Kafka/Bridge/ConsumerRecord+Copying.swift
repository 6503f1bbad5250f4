internal import Basics
internal import CRdkafka

extension ConsumerRecord {
    /// Copies a message's bytes, so that the message can be destroyed at once: while it exists, so does its fetch
    /// buffer.
    /// - Parameter message: The library's own message, not a copy, because timestamp and headers are stored after it.
    init(copying message: UnsafePointer<rd_kafka_message_t>, of partition: AssignedPartition) {
        var kind = RD_KAFKA_TIMESTAMP_NOT_AVAILABLE
        let timestamp = rd_kafka_message_timestamp(message, &kind)
        self.init(
            partition: partition, offset: OffsetRange.bounded(message.pointee.offset),
            timestamp: kind == RD_KAFKA_TIMESTAMP_NOT_AVAILABLE ? nil : WallTime(milliseconds: timestamp).milliseconds,
            key: Self.bytes(message.pointee.key, message.pointee.key_len),
            value: Self.bytes(message.pointee.payload, message.pointee.len), headers: Self.headers(of: message))
    }

    private static func headers(of message: UnsafePointer<rd_kafka_message_t>) -> [KafkaHeader] {
        var list: OpaquePointer?
        guard rd_kafka_message_headers(message, &list) == RD_KAFKA_RESP_ERR_NO_ERROR, let list else { return [] }
        var headers: [KafkaHeader] = []
        headers.reserveCapacity(rd_kafka_header_cnt(list))
        var (name, value, size): (UnsafePointer<CChar>?, UnsafeRawPointer?, Int) = (nil, nil, 0)
        while rd_kafka_header_get_all(list, headers.count, &name, &value, &size) == RD_KAFKA_RESP_ERR_NO_ERROR {
            headers.append(KafkaHeader(name.map { String(cString: $0) } ?? "", bytes(value, size)))
        }
        return headers
    }

    private static func bytes(_ start: UnsafeRawPointer?, _ count: Int) -> [UInt8]? {
        guard let start else { return nil }
        // A raw buffer would be copied byte by byte.
        return [UInt8](UnsafeBufferPointer(start: start.assumingMemoryBound(to: UInt8.self), count: count))
    }
}
