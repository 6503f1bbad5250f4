internal import CRdkafka
internal import EventLoop
internal import Logging

/// Partitions come and go: the listener is asked before librdkafka is answered.
extension KafkaConsumer {
    func answer(_ event: Shared) async {
        let event = event.pointer
        defer { rd_kafka_event_destroy(event) }
        let ids = PartitionList.contents(of: rd_kafka_event_topic_partition_list(event)).map(\.id)
        let isCooperative = rd_kafka_rebalance_protocol(client).map { String(cString: $0) } == "COOPERATIVE"
        switch rd_kafka_event_error(event) {
        case RD_KAFKA_RESP_ERR__ASSIGN_PARTITIONS:
            membership = GroupMembership(of: client)
            await assign(ids, isCooperative: isCooperative)
            isRejoining = false
            if isCooperative { await wakeFetchers() }
        case RD_KAFKA_RESP_ERR__REVOKE_PARTITIONS:
            // Another may have come without an assignment in between.
            isRejoining = false
            // Asked before any assign call, which clears it.
            await revoke(ids, isLost: rd_kafka_assignment_lost(client) != 0, isCooperative: isCooperative)
        case let code:
            log.warning("rebalance failed", metadata: ["reason": "\(KafkaError(code, doing: "rebalance"))"])
            rd_kafka_assign(client, nil)
        }
    }

    private func assign(_ ids: [TopicPartition], isCooperative: Bool) async {
        brokersAreDown = false
        if !ids.isEmpty { epoch += 1 }
        var added: [AssignedPartition] = []
        for id in ids {
            guard let queue = rd_kafka_queue_get_partition(client, id.topic, id.partition) else { continue }
            // Before the assignment, so that not one record goes to the main queue.
            rd_kafka_queue_forward(queue, nil)
            let source = Source(AssignedPartition(id, epoch: epoch), number: nextNumber, queue: queue)
            if let old = numbers[id].flatMap({ sources[$0] }) { drop(old) }
            nextNumber = nextNumber == Self.mainQueueNumber - 1 ? 0 : nextNumber + 1
            sources[source.number] = source
            numbers[id] = source.number
            signal.connect(queue, as: source.number)
            added.append(source.partition)
        }
        readOrder = sources.values.sorted { $0.number < $1.number }
        await listener?.assigned(added)
        let list = PartitionList(ids)
        check("assign", isCooperative, rd_kafka_incremental_assign, rd_kafka_assign, list)
        wakeReader()
    }

    /// librdkafka pauses every partition while it takes an assignment, those that stay too, and does not tell its broker
    /// threads when that is over: they look again within a second, and until then nothing is read. A question about the
    /// partitions' ends goes through the same threads, and wakes them.
    private func wakeFetchers() async {
        let partitions = readOrder.map { ($0.partition.id, offset: Int64(RD_KAFKA_OFFSET_END)) }
        guard !partitions.isEmpty, !isClosed else { return }
        let shared = Shared(pointer: client)
        await blocking.run {
            let list = PartitionList(partitions)
            // The answer does not matter, only that it was asked for.
            _ = rd_kafka_offsets_for_times(shared.pointer, list.pointer, 200)
        }
    }

    private func revoke(_ ids: [TopicPartition], isLost: Bool, isCooperative: Bool) async {
        let gone = ids.compactMap { numbers[$0].flatMap { sources[$0] } }
        for source in gone { source.isRevoked = true }
        let partitions = gone.map(\.partition)
        if isLost {
            membership = nil
            await listener?.lost(partitions)
        } else {
            await listener?.revoked(partitions)
            await commitBeforeHandover()
        }
        isRejoining = true
        for source in gone { drop(source) }
        readOrder = sources.values.sorted { $0.number < $1.number }
        let list = PartitionList(ids)
        if isCooperative {
            check("unassign", true, rd_kafka_incremental_unassign, rd_kafka_assign, list)
        } else {
            rd_kafka_assign(client, nil)
        }
    }

    /// Tries again where the coordinator is away or moves. Not where the group has gone on without us, or forms already:
    /// it waits for our answer.
    private func commitBeforeHandover() async {
        // Well below the time the group gives its members to answer (max.poll.interval.ms).
        let end = ContinuousClock.now + .seconds(5)
        while true {
            do throws(KafkaError) {
                return try await commitStored(before: end, whileClosing: true)
            } catch {
                guard error.isOfCoordinator, ContinuousClock.now + .milliseconds(200) < end else {
                    log.warning(
                        "offsets of revoked partitions are not committed: what finished last will be done again",
                        metadata: ["reason": "\(error)"])
                    return
                }
            }
            await loop.pause(.milliseconds(200))
        }
    }

    private func check(
        _ what: String, _ isCooperative: Bool,
        _ incremental: (OpaquePointer?, UnsafePointer<rd_kafka_topic_partition_list_t>?) -> OpaquePointer?,
        _ eager: (OpaquePointer?, UnsafePointer<rd_kafka_topic_partition_list_t>?) -> rd_kafka_resp_err_t,
        _ list: borrowing PartitionList
    ) {
        if isCooperative {
            guard let error = incremental(client, list.pointer) else { return }
            log.error("rebalance", metadata: ["reason": "\(KafkaError(consuming: error, doing: what))"])
        } else {
            let code = eager(client, list.pointer)
            guard code != RD_KAFKA_RESP_ERR_NO_ERROR else { return }
            log.error("rebalance", metadata: ["reason": "\(KafkaError(code, doing: what))"])
        }
    }

    func drop(_ source: Source) {
        guard sources.removeValue(forKey: source.number) != nil else { return }
        if numbers[source.partition.id] == source.number { numbers[source.partition.id] = nil }
        source.isRevoked = true
        signal.disconnect(source.queue)
        rd_kafka_queue_destroy(source.queue)
    }
}
