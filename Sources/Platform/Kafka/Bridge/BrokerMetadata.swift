internal import CRdkafka

/// Owns the brokers' answer to a query for topics.
struct BrokerMetadata: ~Copyable {
    private let answer: UnsafePointer<rd_kafka_metadata>

    /// Asks the brokers, and blocks the thread until one has answered.
    /// - Parameter topic: `nil` for all topics that this user may see. Brokers that create topics automatically create a
    ///   missing one that is named. From then on, the client visits all partitions of a named topic in each pass of its
    ///   threads, so a client should name only topics that it reads or writes.
    /// - Throws: `unreachable` if no broker answers in time.
    init(of topic: String?, from client: OpaquePointer, milliseconds: Int32) throws(KafkaError) {
        let what = topic.map { "look up topic \($0)" } ?? "look up the topics"
        var handle: OpaquePointer?
        if let topic {
            handle = rd_kafka_topic_new(client, topic, nil)
            guard handle != nil else { throw KafkaError(rd_kafka_last_error(), doing: what) }
        }
        defer { if let handle { rd_kafka_topic_destroy(handle) } }

        var answer: UnsafePointer<rd_kafka_metadata>?
        let code = rd_kafka_metadata(client, topic == nil ? 1 : 0, handle, &answer, milliseconds)
        guard code == RD_KAFKA_RESP_ERR_NO_ERROR, let answer else {
            // The call reports only a timeout, whatever its cause was.
            throw KafkaError(RD_KAFKA_RESP_ERR__ALL_BROKERS_DOWN, doing: what)
        }
        self.answer = answer
    }

    deinit { rd_kafka_metadata_destroy(answer) }

    /// The topics of the answer, which lives as long as this value.
    var topics: UnsafeBufferPointer<rd_kafka_metadata_topic> {
        UnsafeBufferPointer(start: answer.pointee.topics, count: Int(answer.pointee.topic_cnt))
    }

    /// The cluster's brokers and all its topics without an error.
    func description() -> ClusterDescription {
        var topics: [String: ClusterDescription.Topic] = [:]
        for topic in self.topics {
            guard topic.err == RD_KAFKA_RESP_ERR_NO_ERROR, let name = topic.topic else { continue }
            let partitions = topic.partitionList
            var described = ClusterDescription.Topic(
                partitions: partitions.count, replicationFactor: Int(partitions.map(\.replica_cnt).min() ?? 0))
            described.leaderless = topic.leaderless
            topics[String(cString: name)] = described
        }

        let brokers = UnsafeBufferPointer(start: answer.pointee.brokers, count: Int(answer.pointee.broker_cnt))
        var cluster = ClusterDescription(brokers: Set(brokers.map(\.id)), topics: topics)
        for broker in brokers {
            guard let host = broker.host.map({ String(cString: $0) }) else { continue }
            // An IPv6 address needs brackets before a port.
            cluster.addresses[broker.id] = host.contains(":") ? "[\(host)]:\(broker.port)" : "\(host):\(broker.port)"
        }
        return cluster
    }
}

extension rd_kafka_metadata_topic {
    var partitionList: UnsafeBufferPointer<rd_kafka_metadata_partition> {
        UnsafeBufferPointer(start: partitions, count: Int(partition_cnt))
    }

    /// The partitions without a leader.
    var leaderless: [Int32] { partitionList.filter { $0.leader < 0 }.map(\.id).sorted() }
}
