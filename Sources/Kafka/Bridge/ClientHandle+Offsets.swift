internal import CRdkafka

/// Offsets: stored, committed, and asked for.
extension ClientHandle {
    /// Notes the offsets to continue from, for the next commit. Partitions that are not assigned are left out.
    func storeOffsets(_ offsets: [(id: TopicPartition, next: Int64)]) {
        let list = PartitionList(offsets.map { ($0.id, offset: $0.next) })
        rd_kafka_offsets_store(pointer, list.pointer)
    }

    /// Asks the broker to commit what is stored. The answer comes as an event.
    /// - Returns: `false` when nothing is stored, so that no answer will come.
    func requestCommit() throws(KafkaError) -> Bool {
        let code = rd_kafka_commit_queue(pointer, nil, events, nil, nil)
        if code == RD_KAFKA_RESP_ERR__NO_OFFSET { return false }
        guard code == RD_KAFKA_RESP_ERR_NO_ERROR else { throw KafkaError(code, doing: "commit offsets") }
        return true
    }

    /// Returns one past the last record of a partition, as the last fetch saw it; `nil` before the first.
    func knownEnd(of id: TopicPartition) -> Int64? {
        var (low, high): (Int64, Int64) = (0, 0)
        let code = rd_kafka_get_watermark_offsets(pointer, id.topic, id.partition, &low, &high)
        return code == RD_KAFKA_RESP_ERR_NO_ERROR && high >= 0 ? high : nil
    }
}

/// Questions to the brokers, each on the thread of the client's blocking calls.
extension ClientHandle {
    /// Asks where partitions end, for at most 200 ms. The answer does not matter, only that it was asked for.
    func askForEnds(of ids: [TopicPartition]) async {
        await blocking.run { [self] in
            let list = PartitionList(ids.map { ($0, offset: Int64(RD_KAFKA_OFFSET_END)) })
            _ = rd_kafka_offsets_for_times(pointer, list.pointer, 200)
        }
    }
}
