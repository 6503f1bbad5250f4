internal import Basics
package import Logging

/// Looks at the offsets of a group, and moves them, without joining the group: for tools.
///
/// Every call waits on a thread of its own, never on the caller's. Safe to use from any task. Call `close` after the last use.
package final class GroupAdmin: Sendable {
    private let client: ClientHandle
    private let group: String

    /// - Parameter configuration: The brokers, the group, `kafka.security.*` and `kafka.properties` are used.
    /// - Throws: `configuration` that names the property.
    package init(_ configuration: ConsumerConfiguration, log: Logger) throws(KafkaError) {
        var configuration = configuration
        // A static member's name would have the broker take a commit for that member's.
        configuration.groupInstanceID = nil
        var properties = try configuration.librdkafka(.running)
        // Without a membership there is nothing for the newer protocol to do.
        properties["group.protocol"] = nil

        group = configuration.groupID
        client = try ClientHandle(.consumer, properties: properties, hiding: configuration.secrets, log: log)
    }

    /// Frees the client.
    package func close() async { await client.destroy() }

    // MARK: - Looking

    /// Asks how many partitions a topic has. No broker makes a topic for being asked so.
    /// - Returns: `nil` when the topic is not there, or this user may not see it.
    /// - Throws: `unreachable`, which names the brokers and why each could not be reached.
    package func partitionCount(of topic: String, within bound: Duration) async throws(KafkaError) -> Int? {
        try await explaining { () throws(KafkaError) in try await client.partitionCounts(within: bound)[topic] }
    }

    /// Asks what the group has committed.
    /// - Returns: The commit of each partition that has one, with its metadata.
    /// - Throws: `timedOut`, `unreachable`, `authentication` when this user may not describe the group; never a part of the
    ///   answer.
    package func commits(
        of ids: [TopicPartition], within bound: Duration
    ) async throws(KafkaError) -> [TopicPartition: CommittedOffset] {
        try await explaining { () throws(KafkaError) in try await client.commits(of: ids, within: bound) }
    }

    /// Asks where the log of each partition begins, and where it ends for a reader of committed records.
    /// - Throws: `timedOut`, `unreachable`, `authentication`; never a part of the answer.
    package func bounds(
        of ids: [TopicPartition], within bound: Duration
    ) async throws(KafkaError) -> [TopicPartition: Range<Int64>] {
        try await explaining { () throws(KafkaError) in
            let begins = try await client.offsets(.beginning, of: ids, within: bound)
            let ends = try await client.offsets(.end, of: ids, within: bound)
            return ends.reduce(into: [:]) { bounds, end in
                bounds[end.key] = min(begins[end.key] ?? 0, end.value)..<end.value
            }
        }
    }

    /// Asks for the first record of each partition whose timestamp is not before an instant.
    /// - Parameter milliseconds: The instant, since the Unix epoch.
    /// - Returns: No offset for a partition without such a record, and none at all from brokers that look nothing up by time,
    ///   such as the embedded one.
    /// - Throws: `timedOut`, `unreachable`, `authentication`; never a part of the answer.
    package func offsets(
        of ids: [TopicPartition], since milliseconds: Int64, within bound: Duration
    ) async throws(KafkaError) -> [TopicPartition: Int64] {
        try await explaining { () throws(KafkaError) in
            try await client.offsets(.time(max(0, milliseconds)), of: ids, within: bound)
        }
    }

    /// Asks the group's coordinator for its state and its members.
    /// - Throws: `unsupported` when the brokers describe no groups, as the embedded one; `timedOut`, `unreachable`,
    ///   `authentication` when this user may not describe the group.
    package func description(within bound: Duration) async throws(KafkaError) -> GroupDescription {
        try await explaining { () throws(KafkaError) in try await client.description(of: group, within: bound) }
    }

    // MARK: - Changing

    /// Commits offsets in the group's name, and waits for the broker's answer.
    ///
    /// Kafka refuses this while the group has members; the embedded broker does not. So look at `description` first.
    /// - Throws: An error whose `saysGroupHasMembers` is true when the broker refuses for that reason.
    package func commit(
        _ offsets: [TopicPartition: CommittedOffset], within bound: Duration
    ) async throws(KafkaError) {
        try await explaining { () throws(KafkaError) in try await client.commit(offsets, within: bound) }
    }

    /// Adds why the brokers could not be reached, where that is the error.
    private func explaining<Value>(
        _ body: () async throws(KafkaError) -> Value
    ) async throws(KafkaError) -> Value {
        do throws(KafkaError) {
            return try await body()
        } catch {
            throw client.brokerFailures.explain(error)
        }
    }
}

extension GroupHistory {
    /// Returns the note for offsets that a person sets, so that partitions without a commit still begin where they would
    /// have begun: see `wasAddedLater`.
    /// - Parameters:
    ///   - ids: The partitions whose offsets are set.
    ///   - commits: What the group has committed on the topic before.
    ///   - count: How many partitions the topic has.
    /// - Returns: An empty text where it needs none.
    package static func note(
        settingOffsetsOf ids: Set<TopicPartition>, commits: [TopicPartition: CommittedOffset], partitionCount count: Int
    ) -> String {
        let withCommit = ids.union(commits.keys)
        guard withCommit.count < count else { return "" }
        if commits.isEmpty { return note(partitions: count) }

        // Of several notes the one with the most partitions counts.
        let atStart = commits.values.compactMap(partitions).max()
        return atStart.map { note(partitions: Int($0)) } ?? ""
    }
}
