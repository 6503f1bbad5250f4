internal import Basics
internal import CRdkafka

/// Queries about groups and topics for tools, each on the thread of the client's blocking calls.
extension ClientHandle {
    /// Fetches the partition counts of all topics. A query for one topic by name could create it on some brokers.
    /// - Returns: The number of partitions of each topic that this user may see.
    func partitionCounts(within bound: Duration) async throws(KafkaError) -> [String: Int] {
        let counts: Result<[String: Int], KafkaError> = await blocking.run { [self] in
            var metadata: UnsafePointer<rd_kafka_metadata>?
            let code = rd_kafka_metadata(pointer, 1, nil, &metadata, Int32(clamping: bound.wholeMilliseconds))
            defer { if let metadata { rd_kafka_metadata_destroy(metadata) } }
            guard code == RD_KAFKA_RESP_ERR_NO_ERROR, let found = metadata?.pointee else {
                // The call reports only a timeout, whatever its cause was.
                return .failure(KafkaError(RD_KAFKA_RESP_ERR__ALL_BROKERS_DOWN, doing: "look up the topics"))
            }

            var counts: [String: Int] = [:]
            for topic in UnsafeBufferPointer(start: found.topics, count: Int(found.topic_cnt)) {
                guard topic.err == RD_KAFKA_RESP_ERR_NO_ERROR, let name = topic.topic else { continue }
                counts[String(cString: name)] = Int(topic.partition_cnt)
            }
            return .success(counts)
        }
        return try counts.get()
    }

    /// Fetches the state of a group and its members from the brokers.
    ///
    /// The newer call `rd_kafka_DescribeConsumerGroups` is not used: in librdkafka 2.0.2 it aborts the process if the
    /// brokers cannot describe groups, such as the embedded ones.
    func description(of group: String, within bound: Duration) async throws(KafkaError) -> GroupDescription {
        let answer: Result<GroupDescription, KafkaError> = await blocking.run { [self] in
            let what = "describe group \(group)"
            var list: UnsafePointer<rd_kafka_group_list>?
            let code = rd_kafka_list_groups(pointer, group, &list, Int32(clamping: max(1, bound.wholeMilliseconds)))
            defer { if let list { rd_kafka_group_list_destroy(list) } }

            let isWhole = code == RD_KAFKA_RESP_ERR_NO_ERROR
            guard isWhole || code == RD_KAFKA_RESP_ERR__PARTIAL, let found = list?.pointee else {
                return .failure(KafkaError(code, doing: what))
            }
            let groups = UnsafeBufferPointer(start: found.groups, count: Int(found.group_cnt))
            guard let info = groups.first(where: { String(cString: $0.group) == group }) else {
                // A broker that did not answer may be the group's coordinator.
                return isWhole ? .success(.unknown) : .failure(KafkaError(RD_KAFKA_RESP_ERR__TIMED_OUT, doing: what))
            }
            guard info.err == RD_KAFKA_RESP_ERR_NO_ERROR else { return .failure(KafkaError(info.err, doing: what)) }
            return .success(GroupDescription(copying: info))
        }
        return try answer.get()
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
