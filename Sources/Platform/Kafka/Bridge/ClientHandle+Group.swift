internal import CRdkafka

/// Joining a group, answering its rebalances, and leaving it.
extension ClientHandle {
    func subscribe(to topics: [String]) throws(KafkaError) {
        let list = PartitionList(topics.map { TopicPartition($0, RD_KAFKA_PARTITION_UA) })
        let code = rd_kafka_subscribe(pointer, list.pointer)
        guard code == RD_KAFKA_RESP_ERR_NO_ERROR else { throw KafkaError(code, doing: "subscribe to \(topics)") }
    }

    /// True while the group moves single partitions, false while each rebalance takes all partitions away first.
    var isCooperative: Bool { rd_kafka_rebalance_protocol(pointer).map { String(cString: $0) } == "COOPERATIVE" }

    /// True when what is being revoked belongs to other members already. The calls below clear it.
    var isAssignmentLost: Bool { rd_kafka_assignment_lost(pointer) != 0 }

    func assign(_ partitions: [(id: TopicPartition, start: ReadingStart)]) throws(KafkaError) {
        let list = PartitionList(partitions.map { ($0.id, offset: $0.start.value) })

        if isCooperative {
            guard let error = rd_kafka_incremental_assign(pointer, list.pointer) else { return }
            throw KafkaError(consuming: error, doing: "assign")
        } else {
            let code = rd_kafka_assign(pointer, list.pointer)
            if code != RD_KAFKA_RESP_ERR_NO_ERROR { throw KafkaError(code, doing: "assign") }
        }
    }

    /// Gives up partitions that the group took away; all of them where the group is not cooperative.
    func unassign(_ partitions: [TopicPartition]) throws(KafkaError) {
        guard isCooperative else { return unassignAll() }

        let list = PartitionList(partitions)
        guard let error = rd_kafka_incremental_unassign(pointer, list.pointer) else { return }
        throw KafkaError(consuming: error, doing: "unassign")
    }

    /// Moves the reading of assigned partitions to other starts. What was read of them before is dropped.
    ///
    /// Holds the thread for a few milliseconds, so that no rebalance comes between this call and what led to it.
    /// - Returns: The partitions that are read from there. The others are not being read yet, or librdkafka was slow to
    ///   answer; they may be moved again.
    func seek(_ partitions: [(id: TopicPartition, start: ReadingStart)]) -> Set<TopicPartition> {
        let list = PartitionList(partitions.map { ($0.id, offset: $0.start.value) })
        let error = rd_kafka_seek_partitions(pointer, list.pointer, LibraryVersion.running.timeToSeek)
        if let error { rd_kafka_error_destroy(error) }

        let moved = PartitionList.contents(of: list.pointer).filter { $0.error == RD_KAFKA_RESP_ERR_NO_ERROR }
        return Set(moved.map(\.id))
    }

    func unassignAll() { rd_kafka_assign(pointer, nil) }

    /// Begins to leave the group: a last revocation comes as an event, and `hasLeftGroup` turns true in the end.
    func beginLeavingGroup() throws(KafkaError) {
        guard let error = rd_kafka_consumer_close_queue(pointer, events) else { return }
        throw KafkaError(consuming: error, doing: "leave the group")
    }

    var hasLeftGroup: Bool { rd_kafka_consumer_closed(pointer) != 0 }
}

extension ReadingStart {
    /// The offset that stands for the start in librdkafka's calls.
    fileprivate var value: Int64 {
        switch self {
        case .committed(let commit): commit.offset
        case .beginning: Int64(RD_KAFKA_OFFSET_BEGINNING)
        // Where the least is fetched in vain.
        case .unknown: Int64(RD_KAFKA_OFFSET_END)
        }
    }
}

extension LibraryVersion {
    /// The time that `rd_kafka_seek_partitions` is given, so that it takes 5 ms: before 2.1 it takes a thousandth (#4230).
    fileprivate var timeToSeek: Int32 { self < LibraryVersion(2, 1) ? 5000 : 5 }
}
