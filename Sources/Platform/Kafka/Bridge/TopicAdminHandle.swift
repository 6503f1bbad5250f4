internal import Basics
internal import CRdkafka
internal import Logging

/// Owns a librdkafka client that describes and creates topics. Each call blocks its thread; safe to call from any
/// thread.
final class TopicAdminHandle: Sendable {
    private let client: Shared
    private let log: ClientLog
    /// Why brokers were unreachable.
    private let failures = BrokerFailures()

    /// - Parameters:
    ///   - log: Receives librdkafka's log lines.
    ///   - requests: Receives the brokers' request versions; `nil` if they are not needed.
    /// - Throws: `configuration` that names the property.
    init(
        _ configuration: ConsumerConfiguration, log: Logger, noting requests: BrokerRequestLog? = nil
    ) throws(KafkaError) {
        var properties = try configuration.librdkafka(.running)
        // A client with a group looks up the group's coordinator, for which this user may lack permission.
        properties["group.id"] = nil
        properties["group.protocol"] = nil
        // The library reports the brokers' request versions only in these lines.
        if requests != nil { properties["debug"] = "feature" }

        self.log = ClientLog(log, hiding: configuration.secrets, failures: failures, requests: requests)
        client = Shared(
            pointer: try ClientSettings.makeClient(RD_KAFKA_CONSUMER, properties: properties, events: 0, log: self.log))
    }

    deinit {
        // Destroying waits for librdkafka's threads, so it runs where it delays no task.
        let (client, log) = (client, log)
        Disposal.run {
            rd_kafka_destroy(client.pointer)
            withExtendedLifetime(log) {}
        }
    }

    // MARK: - Reading

    /// Fetches all topics. A query for one topic by name could create it on some brokers.
    func cluster(before deadline: Instant) throws(KafkaError) -> ClusterDescription {
        var metadata: UnsafePointer<rd_kafka_metadata>?
        let code = rd_kafka_metadata(client.pointer, 1, nil, &metadata, Self.milliseconds(until: deadline))
        defer { if let metadata { rd_kafka_metadata_destroy(metadata) } }

        guard code == RD_KAFKA_RESP_ERR_NO_ERROR, let found = metadata?.pointee else {
            // The call reports only a timeout, whatever its cause was.
            throw failures.explain(KafkaError(RD_KAFKA_RESP_ERR__ALL_BROKERS_DOWN, doing: "look up the topics"))
        }

        var topics: [String: ClusterDescription.Topic] = [:]
        for topic in UnsafeBufferPointer(start: found.topics, count: Int(found.topic_cnt)) {
            guard topic.err == RD_KAFKA_RESP_ERR_NO_ERROR, let name = topic.topic else { continue }
            let partitions = UnsafeBufferPointer(start: topic.partitions, count: Int(topic.partition_cnt))
            var described = ClusterDescription.Topic(
                partitions: partitions.count, replicationFactor: Int(partitions.map(\.replica_cnt).min() ?? 0))
            described.leaderless = partitions.filter { $0.leader < 0 }.map(\.id).sorted()
            topics[String(cString: name)] = described
        }
        let brokers = UnsafeBufferPointer(start: found.brokers, count: Int(found.broker_cnt))
        var cluster = ClusterDescription(brokers: Set(brokers.map(\.id)), topics: topics)
        for broker in brokers {
            guard let host = broker.host.map({ String(cString: $0) }) else { continue }
            // An IPv6 address needs brackets before a port.
            cluster.addresses[broker.id] = host.contains(":") ? "[\(host)]:\(broker.port)" : "\(host):\(broker.port)"
        }
        return cluster
    }

    func configuration(
        of topic: String, before deadline: Instant
    ) throws(KafkaError) -> [String: String] {
        let what = "look up the configuration of \(topic)"
        var resource = rd_kafka_ConfigResource_new(RD_KAFKA_RESOURCE_TOPIC, topic)
        defer { if let resource { rd_kafka_ConfigResource_destroy(resource) } }

        let answer = try ask(RD_KAFKA_ADMIN_OP_DESCRIBECONFIGS, doing: what, before: deadline) { options, queue in
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
    /// - Throws: `unsupported` if the library is too old.
    func operations(on topic: String, before deadline: Instant) throws(KafkaError) -> Set<TopicOperation>? {
        let what = "look up this user's permissions on \(topic)"
        try requireController(doing: what, before: deadline)
        var bits: UInt32 = 0
        let code = locsearch_topic_operations(client.pointer, topic, Self.milliseconds(until: deadline), &bits)
        guard code != Int32.min else {
            throw KafkaError(
                .unsupported, "\(what): librdkafka \(LibraryVersion.running) does not support this; use 2.3 or newer")
        }
        guard code == 0 else { throw failures.explain(KafkaError(rd_kafka_resp_err_t(code), doing: what)) }
        if bits == 0 { return nil }
        return Set(TopicOperation.allCases.filter { bits & 1 << $0.rawValue != 0 })
    }

    func offsets(
        of partitions: [TopicPartition], since milliseconds: Int64, before deadline: Instant
    ) throws(KafkaError) -> [TopicPartition: Int64] {
        let what = "look up offsets by time"
        let list = PartitionList(partitions.map { ($0, offset: max(0, milliseconds)) })
        let code = rd_kafka_offsets_for_times(client.pointer, list.pointer, Self.milliseconds(until: deadline))
        guard code == RD_KAFKA_RESP_ERR_NO_ERROR else { throw failures.explain(KafkaError(code, doing: what)) }

        var offsets: [TopicPartition: Int64] = [:]
        for (id, offset, error) in PartitionList.contents(of: list.pointer) {
            guard error == RD_KAFKA_RESP_ERR_NO_ERROR else { throw KafkaError(error, doing: "\(what) of \(id)") }
            if offset >= 0 { offsets[id] = offset }
        }
        return offsets
    }

    // MARK: - Creating

    /// - Returns: `false` if the topic already existed.
    func create(_ topic: NewTopic, before deadline: Instant) throws(KafkaError) -> Bool {
        let what = "create topic \(topic.name)"
        var reason = [CChar](repeating: 0, count: 512)
        var new = rd_kafka_NewTopic_new(
            topic.name, Int32(clamping: topic.partitions), Int32(clamping: topic.replicationFactor), &reason,
            reason.count)
        guard new != nil else { throw KafkaError(.configuration, "\(what): \(ClientSettings.text(reason))") }
        defer { rd_kafka_NewTopic_destroy(new) }
        for (name, value) in topic.configuration { rd_kafka_NewTopic_set_config(new, name, value) }

        let answer = try ask(RD_KAFKA_ADMIN_OP_CREATETOPICS, doing: what, before: deadline) { options, queue in
            rd_kafka_CreateTopics(client.pointer, &new, 1, options, queue)
        }
        defer { rd_kafka_event_destroy(answer) }

        var count = 0
        let results = rd_kafka_event_CreateTopics_result(answer).flatMap {
            rd_kafka_CreateTopics_result_topics($0, &count)
        }
        let error = error(of: results, count: count, doing: what)
        if error?.code == RD_KAFKA_RESP_ERR_TOPIC_ALREADY_EXISTS.rawValue { return false }
        if let error { throw error }
        return true
    }

    func setPartitions(
        _ partitions: Int, of topic: String, before deadline: Instant
    ) throws(KafkaError) {
        let what = "add partitions to \(topic)"
        var reason = [CChar](repeating: 0, count: 512)
        var new = rd_kafka_NewPartitions_new(topic, partitions, &reason, reason.count)
        guard new != nil else { throw KafkaError(.configuration, "\(what): \(ClientSettings.text(reason))") }
        defer { rd_kafka_NewPartitions_destroy(new) }

        let answer = try ask(RD_KAFKA_ADMIN_OP_CREATEPARTITIONS, doing: what, before: deadline) { options, queue in
            rd_kafka_CreatePartitions(client.pointer, &new, 1, options, queue)
        }
        defer { rd_kafka_event_destroy(answer) }

        var count = 0
        let results = rd_kafka_event_CreatePartitions_result(answer).flatMap {
            rd_kafka_CreatePartitions_result_topics($0, &count)
        }
        if let error = error(of: results, count: count, doing: what) { throw error }
    }

    /// Returns the broker's error for the single topic of a request; `nil` on success.
    private func error(
        of results: UnsafeMutablePointer<OpaquePointer?>?, count: Int, doing what: String
    ) -> KafkaError? {
        guard count == 1, let result = results?.pointee else {
            return KafkaError(.other, "\(what): the answer contains no topic")
        }

        let code = rd_kafka_topic_result_error(result)
        if code == RD_KAFKA_RESP_ERR_NO_ERROR { return nil }
        return KafkaError(code, doing: what, reason: rd_kafka_topic_result_error_string(result))
    }

    // MARK: - Requests

    /// Sends one admin request and waits for its answer.
    /// - Parameter send: Receives the request's options and the queue for its answer.
    /// - Returns: The answer, which the caller frees.
    private func ask(
        _ operation: rd_kafka_admin_op_t, doing what: String, before deadline: Instant,
        send: (_ options: OpaquePointer?, _ queue: OpaquePointer?) -> Void
    ) throws(KafkaError) -> OpaquePointer {
        let milliseconds = Self.milliseconds(until: deadline)
        try requireController(doing: what, before: deadline)

        let options = rd_kafka_AdminOptions_new(client.pointer, operation)
        defer { rd_kafka_AdminOptions_destroy(options) }
        rd_kafka_AdminOptions_set_request_timeout(options, milliseconds, nil, 0)

        let queue = rd_kafka_queue_new(client.pointer)
        defer { rd_kafka_queue_destroy(queue) }
        send(options, queue)

        // The request has its own time limit; the additional second is for its answer to arrive.
        guard let answer = rd_kafka_queue_poll(queue, milliseconds.saturatingAdding(1000)) else {
            throw failures.explain(KafkaError(RD_KAFKA_RESP_ERR__TIMED_OUT, doing: what))
        }
        let code = rd_kafka_event_error(answer)
        guard code == RD_KAFKA_RESP_ERR_NO_ERROR else {
            defer { rd_kafka_event_destroy(answer) }
            throw failures.explain(KafkaError(code, doing: what, reason: rd_kafka_event_error_string(answer)))
        }
        return answer
    }

    /// Checks that the controller is known. Admin requests go to the controller; without one, librdkafka would wait
    /// until the timeout.
    private func requireController(doing what: String, before deadline: Instant) throws(KafkaError) {
        let brokers = try cluster(before: deadline).brokers
        guard brokers.contains(rd_kafka_controllerid(client.pointer, 0)) else {
            throw KafkaError(.unsupported, "\(what): none of the brokers is the controller")
        }
    }

    private static func milliseconds(until deadline: Instant) -> Int32 {
        Int32(clamping: max(1, (deadline - SystemClock.now).wholeMilliseconds))
    }
}
