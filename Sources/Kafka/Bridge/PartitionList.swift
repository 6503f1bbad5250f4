internal import CRdkafka

/// Owns one `rd_kafka_topic_partition_list_t`.
struct PartitionList: ~Copyable {
    let pointer: UnsafeMutablePointer<rd_kafka_topic_partition_list_t>

    init(_ partitions: [(TopicPartition, offset: Int64)]) {
        pointer = rd_kafka_topic_partition_list_new(Int32(partitions.count))
        for (id, offset) in partitions {
            rd_kafka_topic_partition_list_add(pointer, id.topic, id.partition).pointee.offset = offset
        }
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
            return (TopicPartition(String(cString: element.topic), element.partition), element.offset, element.err)
        }
    }
}
