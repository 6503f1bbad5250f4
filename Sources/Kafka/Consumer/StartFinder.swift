/// Finds and commits where a group begins to read partitions for which it has committed nothing.
struct StartFinder {
    private static let bound = Duration.seconds(2)

    let client: ClientHandle
    let startFrom: StartPosition

    /// Asks the broker for the partitions without a committed offset, and commits where each of them begins.
    /// - Returns: Where those begin. Partitions that have a committed offset are left out.
    func commitStarts(of ids: [TopicPartition]) async throws(KafkaError) -> [TopicPartition: Int64] {
        let committed = try await client.committedOffsets(of: ids, within: Self.bound)
        let new = ids.filter { committed[$0] == nil }
        guard !new.isEmpty else { return [:] }

        let starts = try await starts(of: new)
        try await client.commit(starts, within: Self.bound)
        return starts
    }

    private func starts(of ids: [TopicPartition]) async throws(KafkaError) -> [TopicPartition: Int64] {
        switch startFrom {
        case .earliest:
            return try await client.offsets(.beginning, of: ids, within: Self.bound)
        case .latest:
            return try await client.offsets(.end, of: ids, within: Self.bound)
        case .time(let milliseconds):
            let found = try await client.offsets(.time(milliseconds), of: ids, within: Self.bound)
            let without = ids.filter { found[$0] == nil }
            guard !without.isEmpty else { return found }

            // A partition without a record of that time or later begins with what is written from now on.
            let ends = try await client.offsets(.end, of: without, within: Self.bound)
            return found.merging(ends) { found, _ in found }
        }
    }
}
