internal import Basics
internal import CRdkafka

/// Queries about topics and groups, each on the thread of the client's blocking calls.
extension ClientHandle {
    /// Fetches the number of partitions of a topic.
    /// - Returns: `nil` if no broker answers within 2 seconds, or the topic does not exist.
    func partitionCount(of topic: String) async -> Int? {
        try? await partitions(of: topic, within: .seconds(2)).count
    }

    /// Fetches the partitions of a topic. Brokers that create topics automatically create a missing one.
    /// - Throws: `unreachable`, `unknownTopicOrPartition`, `authentication`.
    func partitions(of topic: String, within bound: Duration) async throws(KafkaError) -> [TopicPartition] {
        try await blocking.run { [self] () throws(KafkaError) in
            let what = "look up topic \(topic)"
            let metadata = try BrokerMetadata(
                of: topic, from: pointer, milliseconds: Int32(clamping: max(1, bound.wholeMilliseconds)))
            guard let found = metadata.topics.first else {
                throw KafkaError(RD_KAFKA_RESP_ERR__ALL_BROKERS_DOWN, doing: what)
            }
            guard found.err == RD_KAFKA_RESP_ERR_NO_ERROR else { throw KafkaError(found.err, doing: what) }
            guard found.partition_cnt > 0 else { throw KafkaError(RD_KAFKA_RESP_ERR_LEADER_NOT_AVAILABLE, doing: what) }
            return found.partitionList.map { TopicPartition(topic, $0.id) }
        }
    }

    /// Asks the brokers whether a topic is usable, within 2 s. Brokers that create topics automatically create a
    /// missing one.
    func diagnosis(of topic: String) async -> TopicDiagnosis {
        await blocking.run { [self] in
            guard let metadata = try? BrokerMetadata(of: topic, from: pointer, milliseconds: 2000),
                let found = metadata.topics.first
            else { return .noBrokerAnswers }

            guard found.err == RD_KAFKA_RESP_ERR_NO_ERROR else {
                return .refused(KafkaError(found.err, doing: "look up topic \(topic)"))
            }
            let leaderless = found.leaderless
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

    /// Describes the brokers and all topics. A query for one topic by name could create it on some brokers.
    func cluster(within bound: Duration) async throws(KafkaError) -> ClusterDescription {
        try await blocking.run { [self] () throws(KafkaError) in
            try BrokerMetadata(of: nil, from: pointer, milliseconds: Int32(clamping: max(1, bound.wholeMilliseconds)))
                .description()
        }
    }

    /// Adds to an error of `body` the reasons why the brokers could not be reached, if that is its cause.
    func explaining<Value>(_ body: () async throws(KafkaError) -> Value) async throws(KafkaError) -> Value {
        do throws(KafkaError) {
            return try await body()
        } catch {
            throw brokerFailures.explain(error)
        }
    }

    /// Fetches the state of a group and its members from the brokers.
    ///
    /// The newer call `rd_kafka_DescribeConsumerGroups` is not used: in librdkafka 2.0.2 it aborts the process if the
    /// brokers cannot describe groups, such as the embedded ones.
    func description(of group: String, within bound: Duration) async throws(KafkaError) -> GroupDescription {
        try await blocking.run { [self] () throws(KafkaError) in
            let what = "describe group \(group)"
            var list: UnsafePointer<rd_kafka_group_list>?
            let code = rd_kafka_list_groups(pointer, group, &list, Int32(clamping: max(1, bound.wholeMilliseconds)))
            defer { if let list { rd_kafka_group_list_destroy(list) } }

            let isWhole = code == RD_KAFKA_RESP_ERR_NO_ERROR
            guard isWhole || code == RD_KAFKA_RESP_ERR__PARTIAL, let found = list?.pointee else {
                throw KafkaError(code, doing: what)
            }
            let groups = UnsafeBufferPointer(start: found.groups, count: Int(found.group_cnt))
            guard let info = groups.first(where: { String(cString: $0.group) == group }) else {
                // A broker that did not answer may be the group's coordinator.
                if isWhole { return .unknown }
                throw KafkaError(RD_KAFKA_RESP_ERR__TIMED_OUT, doing: what)
            }
            guard info.err == RD_KAFKA_RESP_ERR_NO_ERROR else { throw KafkaError(info.err, doing: what) }
            return GroupDescription(copying: info)
        }
    }
}

extension GroupDescription {
    fileprivate init(copying info: rd_kafka_group_info) {
        let members = UnsafeBufferPointer(start: info.members, count: Int(info.member_cnt)).map { member in
            let assignment = UnsafeRawBufferPointer(
                start: member.member_assignment, count: Int(max(0, member.member_assignment_size)))
            return Member(
                clientID: member.client_id.map { String(cString: $0) } ?? "",
                host: member.client_host.map { String(cString: $0) } ?? "",
                partitions: MemberAssignment.partitions(in: Array(assignment)))
        }
        self.init(state: info.state.map { String(cString: $0) } ?? "", members: members)
    }
}
