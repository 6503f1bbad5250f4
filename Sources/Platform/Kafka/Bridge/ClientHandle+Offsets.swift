internal import CRdkafka
internal import Synchronization

/// Committing offsets, and known ends of partitions.
extension ClientHandle {
    /// Sends offsets to the broker to be committed. The answer arrives as an event.
    ///
    /// The offsets are passed directly and not stored in librdkafka first: before librdkafka 2.2,
    /// `rd_kafka_offsets_store` drops their metadata.
    func requestCommit(of offsets: [(id: TopicPartition, next: CommittedOffset)]) throws(KafkaError) {
        let list = PartitionList(offsets.map { ($0.id, $0.next) })
        let code = rd_kafka_commit_queue(pointer, list.pointer, events, nil, nil)
        guard code == RD_KAFKA_RESP_ERR_NO_ERROR else { throw KafkaError(code, doing: "commit offsets") }
    }

    /// Returns one past the last record of a partition, as of the last fetch; `nil` before the first fetch.
    func knownEnd(of id: TopicPartition) -> Int64? {
        var (low, high): (Int64, Int64) = (0, 0)
        let code = rd_kafka_get_watermark_offsets(pointer, id.topic, id.partition, &low, &high)
        return code == RD_KAFKA_RESP_ERR_NO_ERROR && high >= 0 ? OffsetRange.bounded(high) : nil
    }

    /// Returns whether a partition ended before an offset, according to librdkafka's log or the last fetch.
    func wasReset(_ id: TopicPartition, beyond offset: Int64) -> Bool {
        if offsetResets.hasReset(of: id, beyond: offset) {
            offsetResets.forgetReset(of: id)
            return true
        }
        return knownEnd(of: id).map { $0 < offset } ?? false
    }
}

/// A query for one offset of a partition.
enum OffsetQuery: Sendable, Hashable {
    case beginning
    case end
    /// The first record whose timestamp, in milliseconds since the Unix epoch, is not before this.
    case time(Int64)
}

/// Broker queries, each on the thread of the client's blocking calls.
extension ClientHandle {
    /// Fetches the group's committed offsets.
    /// - Returns: The offset of each partition that has one.
    func committedOffsets(
        of ids: [TopicPartition], within bound: Duration
    ) async throws(KafkaError) -> [TopicPartition: Int64] {
        try await commits(of: ids, within: bound).mapValues(\.offset)
    }

    /// Fetches the group's committed offsets with their metadata.
    /// - Returns: The commit of each partition that has one.
    func commits(
        of ids: [TopicPartition], within bound: Duration
    ) async throws(KafkaError) -> [TopicPartition: CommittedOffset] {
        try await ask("look up committed offsets", entries: ids.map { ($0, offset: Int64(RD_KAFKA_OFFSET_INVALID)) }) {
            [pointer = Shared(pointer: pointer)] list in
            rd_kafka_committed(pointer.pointer, list, Int32(clamping: bound.wholeMilliseconds))
        }
    }

    /// Fetches the offset of each partition that matches the query.
    /// - Returns: No entry for a partition without a matching record.
    func offsets(
        _ query: OffsetQuery, of ids: [TopicPartition], within bound: Duration
    ) async throws(KafkaError) -> [TopicPartition: Int64] {
        let found = try await ask("look up offsets", entries: ids.map { ($0, offset: Self.value(of: query)) }) {
            [pointer = Shared(pointer: pointer)] list in
            rd_kafka_offsets_for_times(pointer.pointer, list, Int32(clamping: bound.wholeMilliseconds))
        }
        return found.mapValues(\.offset)
    }

    /// Fetches where the log of each partition begins, and where it ends.
    /// - Throws: Also `timedOut` if an end is missing; never returns a partial result.
    func bounds(
        of ids: [TopicPartition], within bound: Duration
    ) async throws(KafkaError) -> [TopicPartition: Range<Int64>] {
        guard !ids.isEmpty else { return [:] }
        let begins = try await offsets(.beginning, of: ids, within: bound)
        let ends = try await offsets(.end, of: ids, within: bound)
        guard ends.count == ids.count else { throw KafkaError(RD_KAFKA_RESP_ERR__TIMED_OUT, doing: "look up offsets") }
        return ends.reduce(into: [:]) { bounds, end in
            bounds[end.key] = min(begins[end.key] ?? 0, end.value)..<end.value  // bounded: not above its end
        }
    }

    /// Returns librdkafka's value for a query.
    private static func value(of query: OffsetQuery) -> Int64 {
        switch query {
        case .beginning: Int64(RD_KAFKA_OFFSET_BEGINNING)
        case .end: Int64(RD_KAFKA_OFFSET_END)
        case .time(let milliseconds): milliseconds
        }
    }

    /// - Parameter call: Fills in the list; called on the thread of the blocking calls.
    private func ask(
        _ what: String, entries: [(TopicPartition, offset: Int64)],
        _ call: @escaping @Sendable (UnsafeMutablePointer<rd_kafka_topic_partition_list_t>) -> rd_kafka_resp_err_t
    ) async throws(KafkaError) -> [TopicPartition: CommittedOffset] {
        try await blocking.run { [self] () throws(KafkaError) in
            // A lookup of several calls may still be running when the consumer closes.
            guard !isDestroyed.load(ordering: .acquiring) else { throw .closed }
            let list = PartitionList(entries)
            let code = call(list.pointer)
            guard code == RD_KAFKA_RESP_ERR_NO_ERROR else { throw KafkaError(code, doing: what) }

            let metadata = PartitionList.metadata(of: list.pointer)
            return try PartitionList.offsets(in: list.pointer, doing: what) { id, offset in
                CommittedOffset(offset, metadata: metadata[id] ?? "")
            }
        }
    }

    /// Commits offsets for the group, and waits for the broker's answer.
    func commit(_ offsets: [TopicPartition: CommittedOffset], within bound: Duration) async throws(KafkaError) {
        let error: KafkaError? = await blocking.run { [self] in commitHoldingThread(offsets, within: bound) }
        if let error { throw error }
    }

    /// Commits offsets for the group, and blocks the calling thread until the broker has answered.
    /// - Returns: Why they were not committed.
    func commitHoldingThread(_ offsets: [TopicPartition: CommittedOffset], within bound: Duration) -> KafkaError? {
        let list = PartitionList(offsets.map { ($0.key, $0.value) })
        let answers = rd_kafka_queue_new(pointer)
        defer { rd_kafka_queue_destroy(answers) }

        let code = rd_kafka_commit_queue(pointer, list.pointer, answers, nil, nil)
        guard code == RD_KAFKA_RESP_ERR_NO_ERROR else { return KafkaError(code, doing: "commit offsets") }
        guard let event = rd_kafka_queue_poll(answers, Int32(clamping: bound.wholeMilliseconds)) else {
            return KafkaError(.timedOut, "commit offsets: no answer in time")
        }
        defer { rd_kafka_event_destroy(event) }
        guard case .commitAnswered(let answer, let error) = commitAnswer(event) else { return nil }
        return error ?? answer.values.compactMap(\.self).first
    }
}
