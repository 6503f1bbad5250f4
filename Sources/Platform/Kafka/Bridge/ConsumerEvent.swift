internal import CRdkafka

/// Everything that a consumer's client reports besides records.
enum ConsumerEvent {
    case rebalance(RebalanceEvent)
    /// The result of a commit request. The first value has `nil` for each committed partition, and the reason for each
    /// partition that the broker rejected because of its topic. The second value is the error of all other partitions.
    case commitAnswered([TopicPartition: KafkaError?], KafkaError?)
    case failed(KafkaError)
    case error(KafkaError)
    /// A record arrived in the main queue, where it would be lost.
    case misplacedRecord
    case other
}

extension ClientHandle {
    /// Removes and returns the oldest event of a consumer.
    /// - Returns: `nil` if there is none.
    func nextConsumerEvent() -> ConsumerEvent? {
        guard let event = rd_kafka_queue_poll(events, 0) else { return nil }
        let type = rd_kafka_event_type(event)
        if type == RD_KAFKA_EVENT_REBALANCE { return .rebalance(RebalanceEvent(owning: event)) }
        if type == RD_KAFKA_EVENT_STATS {
            statistics.take(StatisticsEvent(owning: event))
            return .other
        }

        defer { rd_kafka_event_destroy(event) }
        switch type {
        case RD_KAFKA_EVENT_OFFSET_COMMIT: return commitAnswer(event)
        case RD_KAFKA_EVENT_ERROR: return consumerError(event)
        case RD_KAFKA_EVENT_FETCH: return .misplacedRecord
        default: return .other
        }
    }

    func commitAnswer(_ event: OpaquePointer) -> ConsumerEvent {
        let code = rd_kafka_event_error(event)
        if code == RD_KAFKA_RESP_ERR__NO_OFFSET { return .commitAnswered([:], nil) }
        let entries = PartitionList.contents(of: rd_kafka_event_topic_partition_list(event))
        // Both levels count. A request rejected as a whole can leave the error of each partition at 0, and the error of
        // one partition is also that of the whole request.
        if code != RD_KAFKA_RESP_ERR_NO_ERROR, entries.allSatisfy({ $0.error == RD_KAFKA_RESP_ERR_NO_ERROR }) {
            return .commitAnswered([:], KafkaError(code, doing: "commit offsets"))
        }

        var answer: [TopicPartition: KafkaError?] = [:]
        var error: KafkaError?
        for entry in entries {
            guard entry.error != RD_KAFKA_RESP_ERR_NO_ERROR else {
                if entry.offset >= 0 { answer.updateValue(nil, forKey: entry.id) }
                continue
            }
            let failure = KafkaError(entry.error, doing: "commit offset of \(entry.id)")
            if failure.isTopicRefusal { answer[entry.id] = failure } else { error = failure }
        }
        return .commitAnswered(answer, error)
    }

    private func consumerError(_ event: OpaquePointer) -> ConsumerEvent {
        if Self.isFatal(event) { return .failed(noteFatalError()) }
        return .error(reportedError(event))
    }

    static func isFatal(_ event: OpaquePointer) -> Bool {
        rd_kafka_event_error(event) == RD_KAFKA_RESP_ERR__FATAL || rd_kafka_event_error_is_fatal(event) != 0
    }

    /// Reads an error event, and records its reason if it concerns a broker.
    func reportedError(_ event: OpaquePointer) -> KafkaError {
        let text = rd_kafka_event_error_string(event).map { String(cString: $0) } ?? ""
        let error = KafkaError(rd_kafka_event_error(event), doing: text)
        if error.isOfConnection { brokerFailures.note(line: text) }
        return error
    }
}

/// Owns librdkafka's rebalance event until it is answered.
final class RebalanceEvent: Sendable {
    enum Change: Sendable {
        case assigned
        case revoked
        case failed(KafkaError)
    }

    // Sendable by hand: used by one task at a time, and freed after the last use.
    private nonisolated(unsafe) let event: OpaquePointer
    let change: Change
    let partitions: [TopicPartition]

    /// Takes ownership of `event`.
    fileprivate init(owning event: OpaquePointer) {
        self.event = event
        partitions = PartitionList.contents(of: rd_kafka_event_topic_partition_list(event)).map(\.id)
        change =
            switch rd_kafka_event_error(event) {
            case RD_KAFKA_RESP_ERR__ASSIGN_PARTITIONS: .assigned
            case RD_KAFKA_RESP_ERR__REVOKE_PARTITIONS: .revoked
            case let code: .failed(KafkaError(code, doing: "rebalance"))
            }
    }

    deinit { rd_kafka_event_destroy(event) }
}
