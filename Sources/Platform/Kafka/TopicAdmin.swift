internal import Basics
public import Logging

/// Looks at topics and makes them: for tools. It never changes or deletes what exists, except that `setPartitions` adds
/// partitions.
///
/// Every call waits on a thread of its own, never on the caller's. Safe to use from any task.
public final class TopicAdmin: Sendable {
    private let handle: TopicAdminHandle
    private let blocking = BlockingThread("topic-admin")

    /// - Parameter configuration: only the brokers, `kafka.security.*` and `kafka.properties` are used.
    /// - Throws: `configuration` that names the property.
    public init(_ configuration: ConsumerConfiguration, log: Logger) throws(KafkaError) {
        handle = try TopicAdminHandle(configuration, log: log)
    }

    /// - Parameter requests: gets the requests that the brokers take, as soon as one of them has told.
    /// - Throws: `configuration` that names the property.
    package init(
        _ configuration: ConsumerConfiguration, log: Logger, noting requests: BrokerRequestLog
    ) throws(KafkaError) {
        handle = try TopicAdminHandle(configuration, log: log, noting: requests)
    }

    /// Asks for the brokers and all topics. No broker makes a topic for being asked so.
    /// - Throws: `unreachable`, `timedOut`, `authentication`.
    public func cluster(within bound: Duration) async throws(KafkaError) -> ClusterDescription {
        try await wait(bound) { (handle, deadline) throws(KafkaError) in try handle.cluster(before: deadline) }
    }

    /// Asks for the settings of one topic, the brokers' defaults included.
    /// - Returns: Values by name. A value that the broker does not tell is left out.
    /// - Throws: `unsupported` when the broker cannot tell, `authentication` when this user may not ask.
    public func configuration(of topic: String, within bound: Duration) async throws(KafkaError) -> [String: String] {
        try await wait(bound) { (handle, deadline) throws(KafkaError) in
            try handle.configuration(of: topic, before: deadline)
        }
    }

    /// Asks what this user may do on a topic.
    /// - Returns: `nil` where the brokers do not tell.
    /// - Throws: `unsupported` when the library is too old to ask (before 2.3), `authentication` when this user may not
    ///   describe the topic.
    package func operations(
        on topic: String, within bound: Duration
    ) async throws(KafkaError) -> Set<TopicOperation>? {
        try await wait(bound) { (handle, deadline) throws(KafkaError) in
            try handle.operations(on: topic, before: deadline)
        }
    }

    /// Asks for the first record of each partition whose timestamp is not before an instant.
    /// - Parameter milliseconds: the instant, since the Unix epoch.
    /// - Returns: No offset for a partition without such a record.
    /// - Throws: `unreachable`, `timedOut`, `authentication`; never a part of the answer.
    public func offsets(
        of partitions: [TopicPartition], since milliseconds: Int64, within bound: Duration
    ) async throws(KafkaError) -> [TopicPartition: Int64] {
        try await wait(bound) { (handle, deadline) throws(KafkaError) in
            try handle.offsets(of: partitions, since: milliseconds, before: deadline)
        }
    }

    /// Makes a topic.
    /// - Returns: `false` when it was there already, perhaps because somebody else has just made it. It stays as it is.
    /// - Throws: `unsupported` when the broker cannot make topics, `authentication` when this user may not, `other` with
    ///   the broker's reason.
    public func create(_ topic: NewTopic, within bound: Duration) async throws(KafkaError) -> Bool {
        try await wait(bound) { (handle, deadline) throws(KafkaError) in
            try handle.create(topic, before: deadline)
        }
    }

    /// Adds partitions to a topic until it has `count`. Keys then go to other partitions than before.
    /// - Throws: as `create` does; also when the topic has as many partitions already.
    public func setPartitions(_ count: Int, of topic: String, within bound: Duration) async throws(KafkaError) {
        try await wait(bound) { (handle, deadline) throws(KafkaError) in
            try handle.setPartitions(count, of: topic, before: deadline)
        }
    }

    /// Runs a call that holds its thread on the thread that is ours for this.
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
