internal import Basics
package import Logging

/// Reads and changes the offsets of a group without joining it, for tools.
///
/// Every call waits on a dedicated thread, never on the caller's. Safe to use from any task.
package final class GroupAdmin: Sendable {
    private let client: ClientHandle
    private let group: String

    /// - Parameter configuration: The brokers, the group, `kafka.security.*` and `kafka.properties` are used.
    /// - Throws: `configuration` that names the property.
    package init(_ configuration: ConsumerConfiguration, log: Logger) throws(KafkaError) {
        var configuration = configuration
        // With a static member's id, the broker would attribute the commit to that member.
        configuration.groupInstanceID = nil
        var properties = try configuration.librdkafka(.running)
        // The newer protocol has no effect without a membership.
        properties["group.protocol"] = nil

        group = configuration.groupID
        client = try ClientHandle(.consumer, properties: properties, hiding: configuration.secrets, log: log)
    }

    deinit { client.destroyLater() }

    // MARK: - Reading

    /// Fetches the number of partitions of a topic. Does not create the topic, even if brokers create topics
    /// automatically.
    /// - Returns: `nil` if the topic does not exist, or this user may not see it.
    /// - Throws: `unreachable`, which names the brokers and why each was unreachable.
    package func partitionCount(of topic: String, within bound: Duration) async throws(KafkaError) -> Int? {
        try await client.explaining { () throws(KafkaError) in
            try await client.cluster(within: bound).topics[topic]?.partitions
        }
    }

    /// Fetches the group's committed offsets.
    /// - Returns: The commit of each partition that has one, with its metadata.
    /// - Throws: `timedOut`, `unreachable`, `authentication` if this user may not describe the group; never returns a
    ///   partial result.
    package func commits(
        of ids: [TopicPartition], within bound: Duration
    ) async throws(KafkaError) -> [TopicPartition: CommittedOffset] {
        try await client.explaining { () throws(KafkaError) in try await client.commits(of: ids, within: bound) }
    }

    /// Fetches where the log of each partition begins, and where it ends for a reader of committed records.
    /// - Throws: `timedOut`, `unreachable`, `authentication`; never returns a partial result.
    package func bounds(
        of ids: [TopicPartition], within bound: Duration
    ) async throws(KafkaError) -> [TopicPartition: Range<Int64>] {
        try await client.explaining { () throws(KafkaError) in try await client.bounds(of: ids, within: bound) }
    }

    /// Finds the first record of each partition whose timestamp is at or after an instant.
    /// - Parameter milliseconds: The instant, since the Unix epoch.
    /// - Returns: No entry for a partition without such a record. Empty for brokers without lookup by time, such as the
    ///   embedded one.
    /// - Throws: `timedOut`, `unreachable`, `authentication`; never returns a partial result.
    package func offsets(
        of ids: [TopicPartition], since milliseconds: Int64, within bound: Duration
    ) async throws(KafkaError) -> [TopicPartition: Int64] {
        try await client.explaining { () throws(KafkaError) in
            try await client.offsets(.time(max(0, milliseconds)), of: ids, within: bound)
        }
    }

    /// Fetches the group's state and members from its coordinator.
    /// - Throws: `unsupported` if the brokers cannot describe groups, such as the embedded one; `timedOut`,
    ///   `unreachable`, `authentication` if this user may not describe the group.
    package func description(within bound: Duration) async throws(KafkaError) -> GroupDescription {
        try await client.explaining { () throws(KafkaError) in try await client.description(of: group, within: bound) }
    }

    // MARK: - Changing

    /// Commits offsets for the group, and waits for the broker's answer.
    ///
    /// Kafka rejects this while the group has members; the embedded broker does not. Therefore check `description`
    /// first.
    /// - Throws: An error whose `isGroupWithMembers` is true if the broker rejects it for that reason.
    package func commit(_ offsets: [TopicPartition: CommittedOffset], within bound: Duration) async throws(KafkaError) {
        try await client.explaining { () throws(KafkaError) in try await client.commit(offsets, within: bound) }
    }
}
