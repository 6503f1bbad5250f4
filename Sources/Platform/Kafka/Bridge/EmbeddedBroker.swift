internal import CRdkafka
import Synchronization

/// librdkafka's mock cluster: brokers on 127.0.0.1 that other processes can also reach.
///
/// It is intended for trials and tests. It stores no data on disk, and a partition keeps the newest 5 MB or 100,000
/// batches. Aborted transactions stay visible, and offsets cannot be looked up by time. Safe to call from any thread.
public final class EmbeddedBroker: Sendable {
    /// The kinds of requests to the cluster; raw values are Kafka's API keys.
    public enum API: Int16, Sendable, CaseIterable {
        case produce = 0
        case fetch = 1
        case listOffsets = 2
        case metadata = 3
        case offsetCommit = 8
        case offsetFetch = 9
        case findCoordinator = 10
        case joinGroup = 11
        case heartbeat = 12
        case leaveGroup = 13
        case syncGroup = 14
        case initProducerID = 22
        case addPartitionsToTxn = 24
        case addOffsetsToTxn = 25
        case endTxn = 26
        case txnOffsetCommit = 28

        /// Finds a kind by the name in Kafka's documentation (`Produce`, `OffsetCommit`), ignoring case.
        public init?(name: String) {
            guard let api = Self.allCases.first(where: { "\($0)".lowercased() == name.lowercased() }) else {
                return nil
            }
            self = api
        }
    }

    private struct Handles: @unchecked Sendable {
        // Sendable by hand: the cluster's calls lock inside (rdkafka_mock.c), and both are freed once, in `deinit`.
        let client: OpaquePointer
        let cluster: OpaquePointer
    }
    private let handles: Handles
    /// The address of each broker as `host:port`, separated by commas.
    public let bootstrapServers: String

    /// Starts the brokers.
    /// - Parameter topics: The number of partitions by topic name. Other topics are created on first use, with 4
    ///   partitions.
    /// - Throws: `other` if the system has no port or file descriptor left.
    public init(brokers: Int = 1, topics: [String: Int] = [:]) throws(KafkaError) {
        let client = try ClientSettings.makeClient(
            RD_KAFKA_PRODUCER, properties: ["log_level": "2"], events: 0, log: nil)
        guard let cluster = rd_kafka_mock_cluster_new(client, Int32(clamping: brokers)) else {
            rd_kafka_destroy(client)
            throw KafkaError(.other, "the embedded broker cannot listen on 127.0.0.1; check the limit on open files")
        }
        handles = Handles(client: client, cluster: cluster)
        bootstrapServers = String(cString: rd_kafka_mock_cluster_bootstraps(cluster))
        for (topic, partitions) in topics {
            let code = rd_kafka_mock_topic_create(
                cluster, topic, Int32(clamping: partitions), Int32(clamping: min(brokers, 3)))
            if code != RD_KAFKA_RESP_ERR_NO_ERROR { throw KafkaError(code, doing: "create topic \(topic)") }
        }
    }

    deinit {
        rd_kafka_mock_cluster_destroy(handles.cluster)
        rd_kafka_destroy(handles.client)
    }

    /// Answers the next `count` requests of one kind with a Kafka error code; -195 closes the connection instead.
    public func fail(_ api: API, with code: Int32, count: Int = 1) {
        locsearch_mock_fail(handles.cluster, api.rawValue, Int32(clamping: count), rd_kafka_resp_err_t(code))
    }

    /// Answers the next requests of one kind to one broker (numbered from 1), one code each, each after `delay`. Code 0
    /// is a success that is only delayed.
    public func fail(_ api: API, with codes: [Int32], broker: Int32, delay: Duration = .zero) throws(KafkaError) {
        for code in codes {
            let result = locsearch_mock_fail_at(
                handles.cluster, broker, api.rawValue, rd_kafka_resp_err_t(code),
                Int32(clamping: delay.wholeMilliseconds))
            try Self.check(result, "fail \(api) at broker \(broker)")
        }
    }

    /// Makes every request for a topic fail with a code; 0 ends this.
    public func setError(_ code: Int32, ofTopic topic: String) {
        rd_kafka_mock_topic_set_error(handles.cluster, topic, rd_kafka_resp_err_t(code))
    }

    /// Moves a partition to another broker (numbered from 1).
    public func setLeader(of partition: TopicPartition, to broker: Int32) throws(KafkaError) {
        let code = rd_kafka_mock_partition_set_leader(
            handles.cluster, partition.topic, partition.partition, broker)
        try Self.check(code, "move \(partition) to broker \(broker)")
    }

    private static func check(_ code: rd_kafka_resp_err_t, _ what: String) throws(KafkaError) {
        if code != RD_KAFKA_RESP_ERR_NO_ERROR { throw KafkaError(code, doing: what) }
    }

    /// Returns the code of an error by librdkafka's name for it (`NOT_LEADER_FOR_PARTITION`, `_TRANSPORT`, `NO_ERROR`).
    public static func errorCode(named name: String) -> Int32? {
        var (table, count): (UnsafePointer<rd_kafka_err_desc>?, Int) = (nil, 0)
        rd_kafka_get_err_descs(&table, &count)
        for entry in UnsafeBufferPointer(start: table, count: count) {
            guard let known = entry.name, String(cString: known) == name else { continue }
            return entry.code.rawValue
        }
        return nil
    }

    /// Sets how long a new group waits for more members. Supported from librdkafka 2.6.0; otherwise it is 3 s.
    /// - Returns: True if the library could set it.
    @discardableResult
    public func setGroupDelay(_ time: Duration) -> Bool {
        locsearch_mock_group_delay(handles.cluster, Int32(clamping: time.wholeMilliseconds)) == 0
    }

    /// Cancels the remaining failures set for one kind of request.
    public func clearFailures(of api: API) { rd_kafka_mock_clear_request_errors(handles.cluster, api.rawValue) }

    /// Creates a topic; an existing one stays unchanged.
    public func createTopic(_ name: String, partitions: Int) throws(KafkaError) {
        let code = rd_kafka_mock_topic_create(handles.cluster, name, Int32(clamping: partitions), 1)
        guard code != RD_KAFKA_RESP_ERR_NO_ERROR, code != RD_KAFKA_RESP_ERR_TOPIC_ALREADY_EXISTS else { return }
        throw KafkaError(code, doing: "create topic \(name)")
    }

    /// Delays every answer of a broker (numbered from 1).
    public func setRoundTripTime(_ time: Duration, broker: Int32) {
        rd_kafka_mock_broker_set_rtt(handles.cluster, broker, Int32(clamping: time.wholeMilliseconds))
    }

    /// Disconnects a broker (numbered from 1) from the network, or reconnects it.
    public func set(broker: Int32, isUp: Bool) {
        if isUp {
            rd_kafka_mock_broker_set_up(handles.cluster, broker)
        } else {
            rd_kafka_mock_broker_set_down(handles.cluster, broker)
        }
    }
}
