internal import Basics
internal import CRdkafka

/// Creating topics and partitions, and the admin requests behind it.
extension TopicAdmin {
    /// Creates a topic.
    /// - Returns: `false` if the topic already existed, perhaps created concurrently. It stays unchanged.
    /// - Throws: `unsupported` if the broker cannot create topics, `authentication` if this user may not, `other` with
    ///   the broker's reason.
    public func create(_ topic: NewTopic, within bound: Duration) async throws(KafkaError) -> Bool {
        let what = "create topic \(topic.name)"
        return try await request(what, within: bound) { [self] milliseconds throws(KafkaError) in
            var reason = [CChar](repeating: 0, count: 512)
            var new = rd_kafka_NewTopic_new(
                topic.name, Int32(clamping: topic.partitions), Int32(clamping: topic.replicationFactor), &reason,
                reason.count)
            guard new != nil else { throw KafkaError(.configuration, "\(what): \(ClientSettings.text(reason))") }
            defer { rd_kafka_NewTopic_destroy(new) }
            for (name, value) in topic.configuration { rd_kafka_NewTopic_set_config(new, name, value) }

            let answer = try ask(RD_KAFKA_ADMIN_OP_CREATETOPICS, doing: what, milliseconds) { options, queue in
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
    }

    /// Adds partitions to a topic until it has `count`. This changes the partition of most keys.
    /// - Throws: The errors of `create`; also if the topic already has as many partitions.
    public func setPartitions(_ count: Int, of topic: String, within bound: Duration) async throws(KafkaError) {
        let what = "add partitions to \(topic)"
        try await request(what, within: bound) { [self] milliseconds throws(KafkaError) in
            var reason = [CChar](repeating: 0, count: 512)
            var new = rd_kafka_NewPartitions_new(topic, count, &reason, reason.count)
            guard new != nil else { throw KafkaError(.configuration, "\(what): \(ClientSettings.text(reason))") }
            defer { rd_kafka_NewPartitions_destroy(new) }

            let answer = try ask(RD_KAFKA_ADMIN_OP_CREATEPARTITIONS, doing: what, milliseconds) { options, queue in
                rd_kafka_CreatePartitions(client.pointer, &new, 1, options, queue)
            }
            defer { rd_kafka_event_destroy(answer) }

            var resultCount = 0
            let results = rd_kafka_event_CreatePartitions_result(answer).flatMap {
                rd_kafka_CreatePartitions_result_topics($0, &resultCount)
            }
            if let error = error(of: results, count: resultCount, doing: what) { throw error }
        }
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

    /// Runs `body` on the thread of the blocking calls, if the controller is known. Admin requests go to the controller;
    /// without one, librdkafka would wait until the timeout.
    /// - Parameter body: Receives the remaining milliseconds.
    func request<Value: Sendable>(
        _ what: String, within bound: Duration,
        _ body: @escaping @Sendable (_ milliseconds: Int32) throws(KafkaError) -> Value
    ) async throws(KafkaError) -> Value {
        let deadline = SystemClock.now + bound
        let brokers = try await cluster(within: bound).brokers
        return try await client.blocking.run { [client] () throws(KafkaError) in
            guard brokers.contains(rd_kafka_controllerid(client.pointer, 0)) else {
                throw KafkaError(.unsupported, "\(what): none of the brokers is the controller")
            }
            return try body(Int32(clamping: max(1, (deadline - SystemClock.now).wholeMilliseconds)))
        }
    }

    /// Sends one admin request, and blocks the thread until its answer.
    /// - Parameter send: Receives the request's options and the queue for its answer.
    /// - Returns: The answer, which the caller frees.
    func ask(
        _ operation: rd_kafka_admin_op_t, doing what: String, _ milliseconds: Int32,
        send: (_ options: OpaquePointer?, _ queue: OpaquePointer?) -> Void
    ) throws(KafkaError) -> OpaquePointer {
        let options = rd_kafka_AdminOptions_new(client.pointer, operation)
        defer { rd_kafka_AdminOptions_destroy(options) }
        rd_kafka_AdminOptions_set_request_timeout(options, milliseconds, nil, 0)

        let queue = rd_kafka_queue_new(client.pointer)
        defer { rd_kafka_queue_destroy(queue) }
        send(options, queue)

        // The request has its own time limit; the additional second is for its answer to arrive.
        guard let answer = rd_kafka_queue_poll(queue, milliseconds.saturatingAdding(1000)) else {
            throw client.brokerFailures.explain(KafkaError(RD_KAFKA_RESP_ERR__TIMED_OUT, doing: what))
        }
        let code = rd_kafka_event_error(answer)
        guard code == RD_KAFKA_RESP_ERR_NO_ERROR else {
            defer { rd_kafka_event_destroy(answer) }
            throw client.brokerFailures.explain(
                KafkaError(code, doing: what, reason: rd_kafka_event_error_string(answer)))
        }
        return answer
    }
}
