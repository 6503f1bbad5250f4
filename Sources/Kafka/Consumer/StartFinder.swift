/// The questions about a group's offsets that a broker answers.
protocol OffsetBroker: Sendable {
    /// Asks which offsets the group has committed.
    /// - Returns: The offset of each partition that has one.
    func committedOffsets(
        of ids: [TopicPartition], within bound: Duration
    ) async throws(KafkaError) -> [TopicPartition: Int64]

    /// Asks for the offset of each partition that fits the query.
    /// - Returns: No offset for a partition that has no record that fits.
    func offsets(
        _ query: OffsetQuery, of ids: [TopicPartition], within bound: Duration
    ) async throws(KafkaError) -> [TopicPartition: Int64]

    /// Commits offsets in the group's name, whether or not anything is stored, and waits for the broker's word.
    func commit(_ offsets: [TopicPartition: Int64], within bound: Duration) async throws(KafkaError)
}

/// A question for one offset of a partition.
enum OffsetQuery: Sendable, Hashable {
    case beginning
    case end
    /// The first record whose timestamp is not before so many milliseconds since the Unix epoch.
    case time(Int64)
}

/// Finds and commits where a group begins to read partitions for which it has committed nothing.
struct StartFinder {
    private static let bound = Duration.seconds(2)

    let broker: any OffsetBroker
    let startFrom: StartPosition

    /// Asks the broker for the partitions without a committed offset, and commits where each of them begins.
    /// - Returns: Where those begin. Partitions that have a committed offset are left out.
    func commitStarts(of ids: [TopicPartition]) async throws(KafkaError) -> [TopicPartition: Int64] {
        let committed = try await broker.committedOffsets(of: ids, within: Self.bound)
        let new = ids.filter { committed[$0] == nil }
        guard !new.isEmpty else { return [:] }

        let starts = try await starts(of: new)
        try await broker.commit(starts, within: Self.bound)
        return starts
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
