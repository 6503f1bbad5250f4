internal import CRdkafka
internal import Logging

/// What is asked of the brokers beside records and offsets, and what the client says of them.
extension KafkaConsumer {
    /// How many partitions a topic has, as a broker says now.
    /// - Returns: `nil` when none answers within 2 seconds, or the topic is not there.
    public func partitionCount(of topic: String) async -> Int? {
        guard !isClosed else { return nil }
        let shared = Shared(pointer: client)
        return await blocking.run {
            guard let handle = rd_kafka_topic_new(shared.pointer, topic, nil) else { return nil }
            defer { rd_kafka_topic_destroy(handle) }
            var metadata: UnsafePointer<rd_kafka_metadata>?
            guard rd_kafka_metadata(shared.pointer, 0, handle, &metadata, 2000) == RD_KAFKA_RESP_ERR_NO_ERROR,
                let metadata
            else { return nil }
            defer { rd_kafka_metadata_destroy(metadata) }
            guard metadata.pointee.topic_cnt > 0, metadata.pointee.topics[0].partition_cnt > 0 else { return nil }
            return Int(metadata.pointee.topics[0].partition_cnt)
        }
    }

    /// librdkafka says when the last broker goes, not when one comes back.
    func probe() async {
        let shared = Shared(pointer: client)
        let isUp = await blocking.run {
            var metadata: UnsafePointer<rd_kafka_metadata>?
            let code = rd_kafka_metadata(shared.pointer, 0, nil, &metadata, 300)
            if let metadata { rd_kafka_metadata_destroy(metadata) }
            return code == RD_KAFKA_RESP_ERR_NO_ERROR
        }
        isProbing = false
        guard isUp, brokersAreDown else { return }
        brokersAreDown = false
        log.info("brokers answer again")
    }

    func reportEvent(_ event: OpaquePointer) {
        let code = rd_kafka_event_error(event)
        let text = rd_kafka_event_error_string(event).map { String(cString: $0) } ?? ""
        if code == RD_KAFKA_RESP_ERR__FATAL || rd_kafka_event_error_is_fatal(event) != 0 {
            var reason = [CChar](repeating: 0, count: 512)
            let original = rd_kafka_fatal_error(client, &reason, reason.count)
            let isFenced = original == RD_KAFKA_RESP_ERR_FENCED_INSTANCE_ID
            failure = KafkaError(
                isFenced ? .fenced : .fatal, code: original.rawValue, "consumer: \(ClientSettings.text(reason))")
            wakeReader()
            return
        }
        report(KafkaError(code, doing: text))
    }

    func report(_ error: KafkaError) {
        if error.code == RD_KAFKA_RESP_ERR__ALL_BROKERS_DOWN.rawValue {
            if !brokersAreDown { log.warning("no broker answers; trying again until one does") }
            brokersAreDown = true
        } else if error.kind == .unreachable || error.code == RD_KAFKA_RESP_ERR__PARTITION_EOF.rawValue {
            log.debug("consumer", metadata: ["reason": "\(error)"])
        } else {
            // Some come back with every retry of the client.
            let now = ContinuousClock.now
            if let last = lastWarnings[error.code], now - last < .seconds(30) { return }
            lastWarnings[error.code] = now
            log.warning("consumer", metadata: ["reason": "\(error)"])
        }
    }
}
