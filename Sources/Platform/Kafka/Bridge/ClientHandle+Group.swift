internal import CRdkafka

/// Joining a group, answering its rebalances, and leaving it.
extension ClientHandle {
    func subscribe(to topics: [String]) throws(KafkaError) {
        let list = PartitionList(topics.map { TopicPartition($0, RD_KAFKA_PARTITION_UA) })
        let code = rd_kafka_subscribe(pointer, list.pointer)
        guard code == RD_KAFKA_RESP_ERR_NO_ERROR else { throw KafkaError(code, doing: "subscribe to \(topics)") }
    }

    /// True if the group moves single partitions; false if each rebalance first revokes all partitions.
    var isCooperative: Bool { rd_kafka_rebalance_protocol(pointer).map { String(cString: $0) } == "COOPERATIVE" }

    /// True if the partitions being revoked already belong to other members. The calls below clear it.
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

    /// Gives up revoked partitions; all partitions if the group is not cooperative.
    func unassign(_ partitions: [TopicPartition]) throws(KafkaError) {
        guard isCooperative else { return unassignAll() }

        let list = PartitionList(partitions)
        guard let error = rd_kafka_incremental_unassign(pointer, list.pointer) else { return }
        throw KafkaError(consuming: error, doing: "unassign")
    }

    /// Moves the reading of assigned partitions to other offsets, and drops their fetched records.
    ///
    /// Blocks the thread for a few milliseconds, so that no rebalance can come between this call and the decision that
    /// led to it.
    /// - Returns: The partitions that were moved. The others are not being read yet, or librdkafka was slow to answer;
    ///   they may be moved again.
    func seek(_ partitions: [(id: TopicPartition, start: ReadingStart)]) -> Set<TopicPartition> {
        let list = PartitionList(partitions.map { ($0.id, offset: $0.start.value) })
        let error = rd_kafka_seek_partitions(pointer, list.pointer, LibraryVersion.running.timeToSeek)
        if let error { rd_kafka_error_destroy(error) }

        let moved = PartitionList.contents(of: list.pointer).filter { $0.error == RD_KAFKA_RESP_ERR_NO_ERROR }
        return Set(moved.map(\.id))
    }

    func unassignAll() { rd_kafka_assign(pointer, nil) }

    /// Begins to leave the group. A last revocation arrives as an event, and `hasLeftGroup` then becomes true.
    func beginLeavingGroup() throws(KafkaError) {
        guard let error = rd_kafka_consumer_close_queue(pointer, events) else { return }
        throw KafkaError(consuming: error, doing: "leave the group")
    }

    var hasLeftGroup: Bool { rd_kafka_consumer_closed(pointer) != 0 }
}

extension ReadingStart {
    /// librdkafka's offset value for the start.
    fileprivate var value: Int64 {
        switch self {
        case .committed(let commit): commit.offset
        case .beginning: Int64(RD_KAFKA_OFFSET_BEGINNING)
        // The end, where the least data is fetched only to be dropped.
        case .unknown: Int64(RD_KAFKA_OFFSET_END)
        }
    }
}

extension LibraryVersion {
    /// The timeout for `rd_kafka_seek_partitions`, so that it takes 5 ms: before 2.1 it takes a thousandth of its
    /// timeout (#4230).
    fileprivate var timeToSeek: Int32 { self < LibraryVersion(2, 1) ? 5000 : 5 }
}
