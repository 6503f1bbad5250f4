internal import CRdkafka

/// Broker queries that concern neither records nor offsets.
extension ClientHandle {
    /// Fetches the number of partitions of a topic.
    /// - Returns: `nil` if no broker answers within 2 seconds, or the topic does not exist.
    func partitionCount(of topic: String) async -> Int? {
        await blocking.run { [self] in
            guard let handle = rd_kafka_topic_new(pointer, topic, nil) else { return nil }
            defer { rd_kafka_topic_destroy(handle) }

            var metadata: UnsafePointer<rd_kafka_metadata>?
            guard rd_kafka_metadata(pointer, 0, handle, &metadata, 2000) == RD_KAFKA_RESP_ERR_NO_ERROR, let metadata
            else { return nil }
            defer { rd_kafka_metadata_destroy(metadata) }

            guard metadata.pointee.topic_cnt > 0, metadata.pointee.topics[0].partition_cnt > 0 else { return nil }
            return Int(metadata.pointee.topics[0].partition_cnt)
        }
    }

    /// Asks the brokers whether a topic is usable, within 2 s. Brokers that create topics automatically create a
    /// missing one.
    func diagnosis(of topic: String) async -> TopicDiagnosis {
        await blocking.run { [self] in
            guard let handle = rd_kafka_topic_new(pointer, topic, nil) else { return .noBrokerAnswers }
            defer { rd_kafka_topic_destroy(handle) }

            var metadata: UnsafePointer<rd_kafka_metadata>?
            let code = rd_kafka_metadata(pointer, 0, handle, &metadata, 2000)
            defer { if let metadata { rd_kafka_metadata_destroy(metadata) } }
            guard code == RD_KAFKA_RESP_ERR_NO_ERROR, let metadata, metadata.pointee.topic_cnt == 1,
                let found = metadata.pointee.topics?.pointee
            else { return .noBrokerAnswers }

            guard found.err == RD_KAFKA_RESP_ERR_NO_ERROR else {
                return .refused(KafkaError(found.err, doing: "look up topic \(topic)"))
            }
            let partitions = UnsafeBufferPointer(start: found.partitions, count: Int(found.partition_cnt))
            let leaderless = partitions.filter { $0.leader < 0 }.map(\.id).sorted()
            return leaderless.isEmpty ? .complete : .withoutLeader(leaderless)
        }
    }

    /// Returns whether any broker answers within 300 ms.
    func isAnsweredByABroker() async -> Bool {
        await blocking.run { [self] in
            var metadata: UnsafePointer<rd_kafka_metadata>?
            let code = rd_kafka_metadata(pointer, 0, nil, &metadata, 300)
            if let metadata { rd_kafka_metadata_destroy(metadata) }
            return code == RD_KAFKA_RESP_ERR_NO_ERROR
        }
    }
}
