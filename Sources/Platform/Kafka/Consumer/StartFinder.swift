/// The broker queries and commits that `StartFinder` needs.
protocol OffsetBroker: Sendable {
    /// Fetches the group's committed offsets.
    /// - Returns: The commit of each partition that has one.
    func commits(
        of ids: [TopicPartition], within bound: Duration
    ) async throws(KafkaError) -> [TopicPartition: CommittedOffset]

    /// Fetches the number of partitions of a topic.
    /// - Returns: `nil` if no broker answers in time, or the topic does not exist.
    func partitionCount(of topic: String) async -> Int?

    /// Fetches the offset of each partition that matches the query.
    /// - Returns: No entry for a partition without a matching record.
    func offsets(
        _ query: OffsetQuery, of ids: [TopicPartition], within bound: Duration
    ) async throws(KafkaError) -> [TopicPartition: Int64]

    /// Commits offsets for the group, and waits for the broker's answer.
    func commit(_ offsets: [TopicPartition: CommittedOffset], within bound: Duration) async throws(KafkaError)
}

/// A query for one offset of a partition.
enum OffsetQuery: Sendable, Hashable {
    case beginning
    case end
    /// The first record whose timestamp, in milliseconds since the Unix epoch, is not before this.
    case time(Int64)
}

/// Finds and commits the start offsets of partitions for which a group has committed nothing.
///
/// A new group begins as defined by `kafka.startFrom`. A partition that was added to the topic later is read from its
/// beginning, because all its records were written after the group began.
struct StartFinder {
    private static let bound = Duration.seconds(2)

    let broker: any OffsetBroker
    let startFrom: StartPosition

    /// Finds where reading begins in each partition: its committed offset, or else its start offset.
    /// - Returns: No entry for a partition without an answer, which must be requested again.
    /// - Throws: Why the broker did not answer within `bound`, such as a transaction that is about to commit an offset.
    func starts(
        of ids: [TopicPartition], within bound: Duration
    ) async throws(KafkaError) -> [TopicPartition: ReadingStart] {
        let committed = try await broker.commits(of: ids, within: bound)
        let new = ids.filter { committed[$0] == nil }
        var starts = committed.mapValues { ReadingStart.committed($0) }

        if startFrom == .earliest {
            for id in new { starts[id] = .beginning }
        } else if !new.isEmpty {
            for (id, start) in try await commitStarts(of: new) { starts[id] = .committed(start) }
        }
        return starts
    }

    /// Finds the start offsets of the partitions without a committed offset, and commits them.
    /// - Returns: These start offsets. Partitions with a committed offset are left out.
    func commitStarts(of ids: [TopicPartition]) async throws(KafkaError) -> [TopicPartition: CommittedOffset] {
        let committed = try await broker.commits(of: ids, within: Self.bound)
        let new = ids.filter { committed[$0] == nil }

        var all: [TopicPartition: CommittedOffset] = [:]
        for (topic, ids) in Dictionary(grouping: new, by: \.topic) {
            let starts = try await commitStarts(of: ids, in: topic)
            all.merge(starts) { _, start in start }
        }
        return all
    }

    private func commitStarts(
        of ids: [TopicPartition], in topic: String
    ) async throws(KafkaError) -> [TopicPartition: CommittedOffset] {
        guard let count = await broker.partitionCount(of: topic) else {
            throw KafkaError(.retriable, "look up topic \(topic): no broker returned its partitions")
        }
        let partitions = (0..<Int32(clamping: count)).map { TopicPartition(topic, $0) }
        let history = GroupHistory(try await broker.commits(of: partitions, within: Self.bound).values)

        let added = ids.filter(history.wasAddedLater)
        let others = ids.filter { !history.wasAddedLater($0) }
        var starts = others.isEmpty ? [:] : try await starts(of: others)
        if !added.isEmpty {
            starts.merge(try await broker.offsets(.beginning, of: added, within: Self.bound)) { _, start in start }
        }

        let note = GroupHistory.note(partitions: count)
        let commits = starts.mapValues { CommittedOffset($0, fields: [note]) }
        try await broker.commit(commits, within: Self.bound)
        return commits
    }

    private func starts(of ids: [TopicPartition]) async throws(KafkaError) -> [TopicPartition: Int64] {
        switch startFrom {
        case .earliest:
            return try await broker.offsets(.beginning, of: ids, within: Self.bound)
        case .latest:
            return try await broker.offsets(.end, of: ids, within: Self.bound)
        case .time(let milliseconds):
            let found = try await broker.offsets(.time(milliseconds), of: ids, within: Self.bound)
            let without = ids.filter { found[$0] == nil }
            guard !without.isEmpty else { return found }

            // A partition without a record at or after that time begins at its current end.
            let ends = try await broker.offsets(.end, of: without, within: Self.bound)
            return found.merging(ends) { found, _ in found }
        }
    }
}

/// Where reading of a partition begins.
///
/// This lookup is never left to librdkafka (2.0.2 to 2.15). While a transaction blocks a group's offsets, librdkafka
/// requests them repeatedly. If a rebalance arrives meanwhile, it interprets the answer to an older request as "nothing
/// is committed". It then begins at `auto.offset.reset` (`rd_kafka_assignment_apply_offsets`), and every outcome of the
/// partition would be published twice.
enum ReadingStart: Sendable, Hashable {
    /// The group's committed offset. If there was none, the start offset that the group has just committed.
    case committed(CommittedOffset)
    /// The oldest record.
    case beginning
    /// Unknown. The partition may not be read before `ClientHandle.seek` has set another start.
    case unknown
}
