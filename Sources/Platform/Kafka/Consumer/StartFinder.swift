/// The questions about a group's offsets that a broker answers.
protocol OffsetBroker: Sendable {
    /// Asks what the group has committed.
    /// - Returns: The commit of each partition that has one.
    func commits(
        of ids: [TopicPartition], within bound: Duration
    ) async throws(KafkaError) -> [TopicPartition: CommittedOffset]

    /// Asks how many partitions a topic has.
    /// - Returns: `nil` when no broker answers in time, or the topic is not there.
    func partitionCount(of topic: String) async -> Int?

    /// Asks for the offset of each partition that fits the query.
    /// - Returns: No offset for a partition that has no record that fits.
    func offsets(
        _ query: OffsetQuery, of ids: [TopicPartition], within bound: Duration
    ) async throws(KafkaError) -> [TopicPartition: Int64]

    /// Commits offsets in the group's name, and waits for the broker's answer.
    func commit(_ offsets: [TopicPartition: CommittedOffset], within bound: Duration) async throws(KafkaError)
}

/// A question for one offset of a partition.
enum OffsetQuery: Sendable, Hashable {
    case beginning
    case end
    /// The first record whose timestamp is not before so many milliseconds since the Unix epoch.
    case time(Int64)
}

/// Finds and commits where a group begins to read partitions for which it has committed nothing.
///
/// A new group begins where `kafka.startFrom` says. A partition that was added to the topic later is read from its
/// beginning: whatever it holds was written while the group was there to read it.
struct StartFinder {
    private static let bound = Duration.seconds(2)

    let broker: any OffsetBroker
    let startFrom: StartPosition

    /// Finds where reading begins in each partition: where the group has committed, or else where such a partition begins.
    /// - Returns: No start for a partition about which an answer is missing, so that it must be asked for again.
    /// - Throws: Why the broker did not say within `bound`, such as a transaction that is about to commit an offset.
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

    /// Asks the broker for the partitions without a committed offset, and commits where each of them begins.
    /// - Returns: Where those begin. Partitions that have a committed offset are left out.
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
            throw KafkaError(.retriable, "look up topic \(topic): no broker says how many partitions it has")
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

            // A partition without a record of that time or later begins with what is written from now on.
            let ends = try await broker.offsets(.end, of: without, within: Self.bound)
            return found.merging(ends) { found, _ in found }
        }
    }
}
