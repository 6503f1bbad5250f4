internal import Basics
internal import CRdkafka
public import Logging

/// Describes and creates topics, for tools. It never changes or deletes existing topics, except that `setPartitions`
/// adds partitions.
///
/// Every call waits on a dedicated thread, never on the caller's. Safe to use from any task.
public final class TopicAdmin: Sendable {
    let client: ClientHandle

    /// - Parameter configuration: Only the brokers, `kafka.security.*` and `kafka.properties` are used.
    /// - Throws: `configuration` that names the property.
    public init(_ configuration: ConsumerConfiguration, log: Logger) throws(KafkaError) {
        client = try ClientHandle(toolFor: configuration, log: log)
    }

    deinit { client.destroyLater() }

    /// Why each broker could not be reached, as `host:port (reason)`; `nil` if none has failed.
    package var unreachable: String? { client.brokerFailures.summary }

    /// Describes the brokers and all topics. Does not create topics, even if brokers create them automatically.
    /// - Throws: `unreachable`, `timedOut`, `authentication`.
    public func cluster(within bound: Duration) async throws(KafkaError) -> ClusterDescription {
        try await client.explaining { () throws(KafkaError) in try await client.cluster(within: bound) }
    }

    /// Fetches the settings of one topic, including the brokers' defaults.
    /// - Returns: Values by name. Values that the broker does not disclose are left out.
    /// - Throws: `unsupported` if the broker cannot describe settings, `authentication` if this user may not read them.
    public func configuration(of topic: String, within bound: Duration) async throws(KafkaError) -> [String: String] {
        let what = "look up the configuration of \(topic)"
        return try await request(what, within: bound) { [self] milliseconds throws(KafkaError) in
            var resource = rd_kafka_ConfigResource_new(RD_KAFKA_RESOURCE_TOPIC, topic)
            defer { if let resource { rd_kafka_ConfigResource_destroy(resource) } }

            let answer = try ask(RD_KAFKA_ADMIN_OP_DESCRIBECONFIGS, doing: what, milliseconds) { options, queue in
                rd_kafka_DescribeConfigs(client.pointer, &resource, 1, options, queue)
            }
            defer { rd_kafka_event_destroy(answer) }

            var count = 0
            guard let result = rd_kafka_event_DescribeConfigs_result(answer),
                let described = rd_kafka_DescribeConfigs_result_resources(result, &count)?.pointee, count == 1
            else { throw KafkaError(.other, "\(what): the answer contains no topic") }

            let code = rd_kafka_ConfigResource_error(described)
            if code != RD_KAFKA_RESP_ERR_NO_ERROR {
                throw KafkaError(code, doing: what, reason: rd_kafka_ConfigResource_error_string(described))
            }
            return Self.entries(of: described)
        }
    }

    private static func entries(of resource: OpaquePointer) -> [String: String] {
        var count = 0
        let entries = rd_kafka_ConfigResource_configs(resource, &count)

        var configuration: [String: String] = [:]
        for entry in UnsafeBufferPointer(start: entries, count: count) {
            guard let name = rd_kafka_ConfigEntry_name(entry), let value = rd_kafka_ConfigEntry_value(entry) else {
                continue
            }
            configuration[String(cString: name)] = String(cString: value)
        }
        return configuration
    }

    /// Fetches the operations that this user may perform on a topic.
    /// - Returns: `nil` if the brokers do not report them.
    /// - Throws: `unsupported` if the library is too old (before 2.3), `authentication` if this user may not describe
    ///   the topic.
    package func operations(on topic: String, within bound: Duration) async throws(KafkaError) -> Set<TopicOperation>? {
        let what = "look up this user's permissions on \(topic)"
        return try await request(what, within: bound) { [client] milliseconds throws(KafkaError) in
            var bits: UInt32 = 0
            let code = locsearch_topic_operations(client.pointer, topic, milliseconds, &bits)
            guard code != Int32.min else {
                throw KafkaError(
                    .unsupported,
                    "\(what): librdkafka \(LibraryVersion.running) does not support this; use 2.3 or newer")
            }
            guard code == 0 else {
                throw client.brokerFailures.explain(KafkaError(rd_kafka_resp_err_t(code), doing: what))
            }
            if bits == 0 { return nil }
            return Set(TopicOperation.allCases.filter { bits & 1 << $0.rawValue != 0 })
        }
    }

    /// Finds the first record of each partition whose timestamp is at or after an instant.
    /// - Parameter milliseconds: The instant, since the Unix epoch.
    /// - Returns: No entry for a partition without such a record.
    /// - Throws: `unreachable`, `timedOut`, `authentication`; never returns a partial result.
    public func offsets(
        of partitions: [TopicPartition], since milliseconds: Int64, within bound: Duration
    ) async throws(KafkaError) -> [TopicPartition: Int64] {
        try await client.explaining { () throws(KafkaError) in
            try await client.offsets(.time(max(0, milliseconds)), of: partitions, within: bound)
        }
    }
}
