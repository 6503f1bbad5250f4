internal import Basics
public import Logging

/// Describes and creates topics, for tools. It never changes or deletes existing topics, except that `setPartitions`
/// adds partitions.
///
/// Every call waits on a dedicated thread, never on the caller's. Safe to use from any task.
public final class TopicAdmin: Sendable {
    private let handle: TopicAdminHandle
    private let blocking = BlockingThread("topic-admin")

    /// - Parameter configuration: Only the brokers, `kafka.security.*` and `kafka.properties` are used.
    /// - Throws: `configuration` that names the property.
    public init(_ configuration: ConsumerConfiguration, log: Logger) throws(KafkaError) {
        handle = try TopicAdminHandle(configuration, log: log)
    }

    /// - Parameter requests: Receives the request versions of the brokers, as soon as one has reported them.
    /// - Throws: `configuration` that names the property.
    package init(
        _ configuration: ConsumerConfiguration, log: Logger, noting requests: BrokerRequestLog
    ) throws(KafkaError) {
        handle = try TopicAdminHandle(configuration, log: log, noting: requests)
    }

    /// Describes the brokers and all topics. Does not create topics, even if brokers create them automatically.
    /// - Throws: `unreachable`, `timedOut`, `authentication`.
    public func cluster(within bound: Duration) async throws(KafkaError) -> ClusterDescription {
        try await wait(bound) { (handle, deadline) throws(KafkaError) in try handle.cluster(before: deadline) }
    }

    /// Fetches the settings of one topic, including the brokers' defaults.
    /// - Returns: Values by name. Values that the broker does not disclose are left out.
    /// - Throws: `unsupported` if the broker cannot describe settings, `authentication` if this user may not read them.
    public func configuration(of topic: String, within bound: Duration) async throws(KafkaError) -> [String: String] {
        try await wait(bound) { (handle, deadline) throws(KafkaError) in
            try handle.configuration(of: topic, before: deadline)
        }
    }

    /// Fetches the operations that this user may perform on a topic.
    /// - Returns: `nil` if the brokers do not report them.
    /// - Throws: `unsupported` if the library is too old (before 2.3), `authentication` if this user may not describe
    ///   the topic.
    package func operations(
        on topic: String, within bound: Duration
    ) async throws(KafkaError) -> Set<TopicOperation>? {
        try await wait(bound) { (handle, deadline) throws(KafkaError) in
            try handle.operations(on: topic, before: deadline)
        }
    }

    /// Finds the first record of each partition whose timestamp is at or after an instant.
    /// - Parameter milliseconds: The instant, since the Unix epoch.
    /// - Returns: No entry for a partition without such a record.
    /// - Throws: `unreachable`, `timedOut`, `authentication`; never returns a partial result.
    public func offsets(
        of partitions: [TopicPartition], since milliseconds: Int64, within bound: Duration
    ) async throws(KafkaError) -> [TopicPartition: Int64] {
        try await wait(bound) { (handle, deadline) throws(KafkaError) in
            try handle.offsets(of: partitions, since: milliseconds, before: deadline)
        }
    }

    /// Creates a topic.
    /// - Returns: `false` if the topic already existed, perhaps created concurrently. It stays unchanged.
    /// - Throws: `unsupported` if the broker cannot create topics, `authentication` if this user may not, `other` with
    ///   the broker's reason.
    public func create(_ topic: NewTopic, within bound: Duration) async throws(KafkaError) -> Bool {
        try await wait(bound) { (handle, deadline) throws(KafkaError) in
            try handle.create(topic, before: deadline)
        }
    }

    /// Adds partitions to a topic until it has `count`. This changes the partition of most keys.
    /// - Throws: The errors of `create`; also if the topic already has as many partitions.
    public func setPartitions(_ count: Int, of topic: String, within bound: Duration) async throws(KafkaError) {
        try await wait(bound) { (handle, deadline) throws(KafkaError) in
            try handle.setPartitions(count, of: topic, before: deadline)
        }
    }

    /// Runs a blocking call on the dedicated thread.
    private func wait<Value: Sendable>(
        _ bound: Duration,
        body: @escaping @Sendable (TopicAdminHandle, Instant) throws(KafkaError) -> Value
    ) async throws(KafkaError) -> Value {
        let (handle, deadline) = (handle, SystemClock.now + bound)
        let result: Result<Value, KafkaError> = await blocking.run {
            do throws(KafkaError) { return .success(try body(handle, deadline)) } catch { return .failure(error) }
        }
        return try result.get()
    }
}
