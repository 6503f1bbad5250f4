internal import CRdkafka
internal import EventLoop

/// What is finished, and how far the broker has confirmed it.
extension KafkaConsumer {
    /// Notes where to continue, for the next `commit`. Partitions whose assignment is over are left out.
    /// - Parameter offsets: of the next record to read, that is one past the last finished one.
    public func store(_ offsets: [(partition: AssignedPartition, next: Int64)]) {
        let current = offsets.compactMap { entry in source(entry.partition).map { ($0, entry.next) } }
        staleOffsets += offsets.count - current.count
        guard !current.isEmpty else { return }
        let list = PartitionList(current.map { ($0.0.partition.id, offset: $0.1) })
        rd_kafka_offsets_store(client, list.pointer)
        for (source, next) in current { source.stored = next }
    }

    /// Commits what is stored and not yet committed, and waits for the broker's word. After a revocation, until the next
    /// assignment, nothing is committed: a commit then can cost the whole assignment.
    /// - Returns: the partitions whose offset the broker has confirmed, each with the offset to continue from.
    /// - Throws: why something that was stored is not committed; the next call tries again.
    @discardableResult
    public func commit(within bound: Duration = .seconds(30)) async throws(KafkaError) -> [AssignedPartition: Int64] {
        try await commitStored(before: .now + bound)
        return confirmed
    }

    private var confirmed: [AssignedPartition: Int64] {
        var offsets: [AssignedPartition: Int64] = [:]
        for source in readOrder { offsets[source.partition] = source.committed }
        return offsets
    }

    private var hasUncommitted: Bool { sources.values.contains { $0.stored != nil && $0.stored != $0.committed } }

    /// One commit at a time: who finds one under way waits for it, and for the next if something is left for that.
    func commitStored(before end: ContinuousClock.Instant, whileClosing: Bool = false) async throws(KafkaError) {
        let wanted = commits.begun + 1
        while commits.ended < wanted, hasUncommitted {
            guard whileClosing || !isClosed else { throw .closed }
            guard !isRejoining else { throw KafkaError(.retriable, "commit offsets: the group is rebalancing") }
            if commits.begun == commits.ended {
                let code = rd_kafka_commit_queue(client, nil, mainQueue, nil, nil)
                if code == RD_KAFKA_RESP_ERR__NO_OFFSET { return }
                guard code == RD_KAFKA_RESP_ERR_NO_ERROR else { throw KafkaError(code, doing: "commit offsets") }
                commits.begun += 1
            }
            let commit = commits.begun
            // How the one before ended says nothing of ours.
            if let error = await result(ofCommit: commit, before: end), commit >= wanted || end <= .now { throw error }
        }
    }

    /// - Parameter commit: the one under way, counted from 1.
    private func result(ofCommit commit: Int, before end: ContinuousClock.Instant) async -> KafkaError? {
        commits.nextWaiter += 1
        let number = commits.nextWaiter
        var timer: TimerID?
        let error = await withCheckedContinuation { waiter in
            // Looked at again: others may run between an `await` and its body.
            guard commits.ended < commit else { return waiter.resume(returning: commits.lastError) }
            commits.waiters[number] = waiter
            timer = loop.schedule(at: end) { [weak self] in
                self?.assumeIsolated { consumer in
                    let error = KafkaError(.timedOut, "commit offsets: no answer in time")
                    consumer.commits.waiters.removeValue(forKey: number)?.resume(returning: error)
                }
            }
        }
        if let timer { loop.cancel(timer) }
        return error
    }

    func committed(_ event: OpaquePointer) {
        // Both are looked at: a refused commit can leave each partition's own error at 0.
        let code = rd_kafka_event_error(event)
        var error: KafkaError?
        if code == RD_KAFKA_RESP_ERR_NO_ERROR {
            for entry in PartitionList.contents(of: rd_kafka_event_topic_partition_list(event)) {
                guard entry.error == RD_KAFKA_RESP_ERR_NO_ERROR else {
                    error = KafkaError(entry.error, doing: "commit offset of \(entry.id)")
                    continue
                }
                guard entry.offset >= 0, let number = numbers[entry.id] else { continue }
                sources[number]?.committed = entry.offset
            }
        } else if code != RD_KAFKA_RESP_ERR__NO_OFFSET {
            error = KafkaError(code, doing: "commit offsets")
        }
        commits.ended = commits.begun
        commits.lastError = error
        if error == nil { brokersAreDown = false }
        let waiters = commits.waiters
        commits.waiters.removeAll()
        for waiter in waiters.values { waiter.resume(returning: error) }
    }

    /// Notes offsets that a transaction has committed, so that `positions` shows them. Partitions whose assignment is over
    /// are left out.
    /// - Parameter offsets: The offset of the next record to read, one past the last finished one.
    public func noteCommitted(_ offsets: [(partition: AssignedPartition, next: Int64)]) {
        for (partition, next) in offsets { source(partition)?.committed = next }
    }

    /// Where each assigned partition stands. Asks nobody.
    public var positions: [Position] {
        guard !isClosed else { return [] }
        return readOrder.map { source in
            var (low, high): (Int64, Int64) = (0, 0)
            let id = source.partition.id
            let code = rd_kafka_get_watermark_offsets(client, id.topic, id.partition, &low, &high)
            return Position(
                partition: source.partition, committed: source.committed,
                end: code == RD_KAFKA_RESP_ERR_NO_ERROR && high >= 0 ? high : nil)
        }
    }
}
