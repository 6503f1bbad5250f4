internal import CRdkafka
internal import LibC

/// Owns one `rd_kafka_topic_partition_list_t`.
struct PartitionList: ~Copyable {
    let pointer: UnsafeMutablePointer<rd_kafka_topic_partition_list_t>

    init(_ partitions: [(TopicPartition, CommittedOffset)]) {
        pointer = rd_kafka_topic_partition_list_new(Int32(clamping: partitions.count))
        for (id, next) in partitions {
            guard let entry = rd_kafka_topic_partition_list_add(pointer, id.topic, id.partition) else { continue }
            entry.pointee.offset = next.offset
            guard !next.metadata.isEmpty, let copy = strdup(next.metadata) else { continue }
            // The copy ends at the first zero byte, so the size must too. The list frees the copy.
            (entry.pointee.metadata, entry.pointee.metadata_size) = (UnsafeMutableRawPointer(copy), strlen(copy))
        }
    }

    init(_ partitions: [(TopicPartition, offset: Int64)]) {
        self.init(partitions.map { ($0.0, CommittedOffset($0.offset)) })
    }

    init(_ partitions: [TopicPartition]) {
        self.init(partitions.map { ($0, offset: Int64(RD_KAFKA_OFFSET_INVALID)) })
    }

    deinit { rd_kafka_topic_partition_list_destroy(pointer) }

    static func contents(
        of list: UnsafeMutablePointer<rd_kafka_topic_partition_list_t>?
    ) -> [(id: TopicPartition, offset: Int64, error: rd_kafka_resp_err_t)] {
        guard let list else { return [] }
        return (0..<Int(list.pointee.cnt)).map { index in
            let element = list.pointee.elems[index]
            let id = TopicPartition(String(cString: element.topic), element.partition)
            return (id, OffsetRange.bounded(element.offset), element.err)
        }
    }

    /// Returns a value for each offset, leaving out partitions without one.
    /// - Throws: The error of the first partition that has one.
    static func offsets<Value>(
        in list: UnsafeMutablePointer<rd_kafka_topic_partition_list_t>, doing what: String,
        _ value: (TopicPartition, Int64) -> Value
    ) throws(KafkaError) -> [TopicPartition: Value] {
        var offsets: [TopicPartition: Value] = [:]
        for (id, offset, error) in contents(of: list) {
            guard error == RD_KAFKA_RESP_ERR_NO_ERROR else { throw KafkaError(error, doing: "\(what) of \(id)") }
            if offset >= 0 { offsets[id] = value(id, offset) }
        }
        return offsets
    }

    /// Returns the metadata committed with each offset, up to its first zero byte; empty if there was none.
    ///
    /// librdkafka reports the length that the metadata had at the broker, but keeps only the bytes before its first
    /// zero byte (`RD_KAFKAP_STR_DUP` in `rd_kafka_handle_OffsetFetch`, up to 2.16 at least). Reading past that zero
    /// byte would be out of bounds.
    static func metadata(of list: UnsafeMutablePointer<rd_kafka_topic_partition_list_t>) -> [TopicPartition: String] {
        var metadata: [TopicPartition: String] = [:]
        for index in 0..<Int(list.pointee.cnt) {
            let element = list.pointee.elems[index]
            let bytes = UnsafeRawBufferPointer(start: element.metadata, count: element.metadata_size)
            metadata[TopicPartition(String(cString: element.topic), element.partition)] = String(
                decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
        }
        return metadata
    }
}

/// Limits offsets from outside to a safe range.
///
/// A broker's answer may contain any number. Within this range, an offset plus one, and the difference of two offsets,
/// fit into `Int64`. Code outside the bridge to librdkafka therefore needs no overflow checks.
enum OffsetRange {
    /// The largest offset; its negative limits librdkafka's special values. A partition with a million new records per
    /// second reaches 2^61 after 73,000 years.
    static let largest: Int64 = 1 << 61

    static func bounded(_ offset: Int64) -> Int64 { min(max(offset, -largest), largest) }
}
