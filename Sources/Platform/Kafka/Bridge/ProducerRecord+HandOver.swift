internal import CRdkafka

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
