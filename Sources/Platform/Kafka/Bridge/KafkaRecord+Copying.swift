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

    private static func headers(of message: UnsafePointer<rd_kafka_message_t>) -> [RecordHeader] {
        var list: OpaquePointer?
        guard rd_kafka_message_headers(message, &list) == RD_KAFKA_RESP_ERR_NO_ERROR, let list else { return [] }
        var headers: [RecordHeader] = []
        headers.reserveCapacity(rd_kafka_header_cnt(list))
        var (name, value, size): (UnsafePointer<CChar>?, UnsafeRawPointer?, Int) = (nil, nil, 0)
        while rd_kafka_header_get_all(list, headers.count, &name, &value, &size) == RD_KAFKA_RESP_ERR_NO_ERROR {
            headers.append(RecordHeader(name.map { String(cString: $0) } ?? "", bytes(value, size)))
        }
        return headers
    }

    private static func bytes(_ start: UnsafeRawPointer?, _ count: Int) -> [UInt8]? {
        guard let start else { return nil }
        // A raw buffer would be copied byte by byte.
        return [UInt8](UnsafeBufferPointer(start: start.assumingMemoryBound(to: UInt8.self), count: count))
    }
}

extension ProducerRecord {
    /// Copies the record into the client's queue, without waiting.
    /// - Parameter opaque: Returned with the delivery report of this record.
    func handOver(
        to client: OpaquePointer, topic: OpaquePointer, opaque: UnsafeMutableRawPointer?
    ) -> rd_kafka_resp_err_t {
        let list = rd_kafka_headers_new(headers.count)
        // A span reads names and values in place. Copies would only add reference counting.
        let headers = headers.span
        for index in headers.indices {
            headers[index].name.utf8.span.withUnsafeBufferPointer { name in
                name.withMemoryRebound(to: CChar.self) { name in
                    _ = Self.withBytes(headers[index].value) { bytes in
                        rd_kafka_header_add(list, name.baseAddress, name.count, bytes.baseAddress, bytes.count)
                    }
                }
            }
        }
        let code = Self.withBytes(key) { key in
            Self.withBytes(value) { value in
                locsearch_produce(
                    client, topic, partition ?? RD_KAFKA_PARTITION_UA, key.baseAddress, key.count, value.baseAddress,
                    value.count, timestamp ?? 0, list, opaque)
            }
        }
        // On success the message owns the headers.
        if code != RD_KAFKA_RESP_ERR_NO_ERROR { rd_kafka_headers_destroy(list) }
        return code
    }

    /// Calls `body` with the bytes. Passes a null address for `nil`, and a non-null one for an empty array, because
    /// librdkafka distinguishes null from empty by the address alone.
    private static func withBytes<Value>(_ bytes: [UInt8]?, body: (UnsafeRawBufferPointer) -> Value) -> Value {
        guard let bytes else { return body(UnsafeRawBufferPointer(start: nil, count: 0)) }
        return bytes.withUnsafeBytes { buffer in
            let start = buffer.baseAddress ?? UnsafeRawPointer(bitPattern: 1)
            return body(UnsafeRawBufferPointer(start: start, count: buffer.count))
        }
    }
}
