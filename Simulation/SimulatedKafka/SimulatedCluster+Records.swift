/// Requests about records: writing, reading, deleting.
extension SimulatedCluster {
    /// A Fetch that waits for records.
    struct WaitingFetch {
        let request: FetchRequest
        let broker: Int32?
        var end: Int64
        let fetchTimeout: FetchTimeout?
        let reply: (FetchResponse) -> Void
    }

    /// A Produce whose records are written, but not on all replicas yet.
    struct WaitingProduce {
        var response: ProduceResponse
        /// The offset that the high watermark of each partition must reach.
        let ends: [PartitionID: Int64]
        let end: Int64
        let reply: (ProduceResponse) -> Void
    }

    // MARK: - Produce

    /// Writes batches and answers at once, as if all replicas kept up.
    package func produce(_ request: ProduceRequest, at broker: Int32? = nil) -> ProduceResponse {
        var answer: ProduceResponse?
        produce(request, at: broker) { answer = $0 }
        if let answer { return answer }
        // A client that cannot wait gets the answer of a broker whose timeout has passed.
        waitingProduces.removeLast()
        return ProduceResponse(
            results: request.batches.map { ProduceResponse.Result(partition: $0.partition, error: .requestTimedOut) })
    }

    /// Writes batches. With acks=all the answer comes when all replicas have them, or with REQUEST_TIMED_OUT.
    package func produce(
        _ request: ProduceRequest, at broker: Int32? = nil, reply: @escaping (ProduceResponse) -> Void
    ) {
        var response = ProduceResponse(results: [])
        var ends: [PartitionID: Int64] = [:]
        for batch in request.batches {
            let result = append(batch, of: request, at: broker)
            response.results.append(result)
            guard result.error == .none, request.acks == -1, let log = logState(batch.partition) else { continue }
            if log.highWatermark < log.logEnd { ends[batch.partition] = log.logEnd }
        }
        wakeWaits()

        guard !ends.isEmpty else { return reply(response) }
        waitingProduces.append(
            WaitingProduce(response: response, ends: ends, end: now + request.timeout, reply: reply))
    }

    private func append(
        _ batch: ProduceRequest.Batch, of request: ProduceRequest, at broker: Int32?
    ) -> ProduceResponse.Result {
        var result = ProduceResponse.Result(partition: batch.partition, error: .none)
        if let error = refusal(of: batch, in: request, at: broker) {
            result.error = error
            return result
        }
        guard let log = logState(batch.partition) else {
            result.error = .unknownTopicOrPartition
            return result
        }

        result.logStart = log.logStart
        if batch.producer.id >= 0, let state = log.producers[batch.producer.id] {
            if let duplicate = state.duplicate(of: batch) {
                // A duplicate batch gets the same answer as the first one.
                result.baseOffset = duplicate.firstOffset
                return result
            }
            result.error = state.check(batch)
            guard result.error == .none else { return result }
        }
        change(batch.partition) { result.baseOffset = $0.append(batch, rules: rules, now: now) }
        return result
    }

    private func refusal(
        of batch: ProduceRequest.Batch, in request: ProduceRequest, at broker: Int32?
    ) -> ErrorCode? {
        let name = batch.partition.topic
        if denied.contains(.writeTopic(name)) { return .topicAuthorizationFailed }
        if let id = request.transactionalID, denied.contains(.writeTransactionalID(id)) {
            return .transactionalIDAuthorizationFailed
        }
        guard (-1...1).contains(request.acks) else { return .invalidRequiredAcks }
        guard let topic = topics[name], let log = logState(batch.partition) else { return .unknownTopicOrPartition }
        if let broker, broker != log.leader { return .notLeaderOrFollower }
        if fullDisks.contains(log.leader) { return .kafkaStorageError }
        if let error = verify(batch, in: request, log: log) { return error }

        if request.acks == -1, log.inSyncReplicas < topic.settings.minInSyncReplicas { return .notEnoughReplicas }
        if batch.records.isEmpty { return .invalidRecord }
        let size = batch.records.reduce(61) { $0 + $1.size }
        if size > topic.settings.maxMessageBytes ?? rules.maxMessageBytes { return .messageTooLarge }
        if topic.settings.isCompacted, batch.records.contains(where: { $0.key == nil }) { return .invalidRecord }
        if let ahead = rules.maxTimestampAhead {
            let latest = now + ahead
            if batch.records.contains(where: { ($0.timestamp ?? 0) > latest }) { return .invalidTimestamp }
        }
        change(batch.partition) { $0.forgetProducers(idleSince: now - rules.producerExpiration) }
        return nil
    }

    /// Checks with the coordinator that the partition is part of the transaction, before the transaction's first record there.
    private func verify(
        _ batch: ProduceRequest.Batch, in request: ProduceRequest, log: PartitionLog
    ) -> ErrorCode? {
        guard batch.isTransactional else { return nil }
        guard let id = request.transactionalID else { return .invalidTxnState }
        guard rules.verifiesTransactions, log.producers[batch.producer.id]?.transactionStart == nil else { return nil }

        // Older clients retry after NOT_ENOUGH_REPLICAS, which is what they shall do while the coordinator cannot answer.
        if coordinatorError(.transaction(id), at: nil) != nil { return .notEnoughReplicas }
        guard let transaction = live(id), transaction.producer.id == batch.producer.id else {
            return .invalidProducerIDMapping
        }
        guard transaction.producer.epoch == batch.producer.epoch else { return .invalidProducerEpoch }
        if case .ending = transaction.state { return .notEnoughReplicas }
        let isPart = transaction.state == .ongoing && transaction.targets.contains(.partition(batch.partition))
        return isPart ? nil : .invalidTxnState
    }

    // MARK: - Fetch

    /// Reads the available records without waiting.
    package func fetch(_ request: FetchRequest, at broker: Int32? = nil) -> FetchResponse {
        FetchResponse(partitions: request.partitions.map { read($0, isolation: request.isolation, at: broker) })
    }

    /// Reads, and waits for a first record as long as the request allows.
    /// - Parameter fetchTimeout: the client's limit on the wait; `nil`: the request's limit.
    package func fetch(
        _ request: FetchRequest, at broker: Int32? = nil, fetchTimeout: FetchTimeout? = nil,
        reply: @escaping (FetchResponse) -> Void
    ) {
        let response = fetch(request, at: broker)
        let isWorthAnswering = response.partitions.contains { $0.error != .none || !$0.entries.isEmpty }
        if isWorthAnswering || request.maxWait <= 0 { return reply(response) }
        let wait = fetchTimeout.map { $0.isOver ? $0.step : $0.longest } ?? request.maxWait
        waitingFetches.append(
            WaitingFetch(request: request, broker: broker, end: now + wait, fetchTimeout: fetchTimeout, reply: reply))
    }

    /// Ends a combined fetch together with its current step, because the client needs a different fetch.
    package func endSoon(_ fetchTimeout: FetchTimeout) {
        fetchTimeout.isOver = true
        guard let index = waitingFetches.firstIndex(where: { $0.fetchTimeout === fetchTimeout }) else { return }
        let begin = waitingFetches[index].end - fetchTimeout.longest
        let steps = (now - begin) / fetchTimeout.step + 1
        waitingFetches[index].end = min(waitingFetches[index].end, begin + steps * fetchTimeout.step)
    }

    private func read(
        _ request: FetchRequest.Partition, isolation: FetchRequest.Isolation, at broker: Int32?
    ) -> FetchResponse.Partition {
        let id = request.partition
        let refuse = { (error: ErrorCode) in FetchResponse.Partition(partition: id, error: error) }
        if denied.contains(.readTopic(id.topic)) { return refuse(.topicAuthorizationFailed) }
        if let topicID = request.topicID, topics[id.topic]?.id != topicID { return refuse(.unknownTopicID) }

        applyRetention(to: id)
        guard let log = logState(id) else { return refuse(.unknownTopicOrPartition) }
        if let broker, broker != log.leader { return refuse(.notLeaderOrFollower) }
        if fullDisks.contains(log.leader) { return refuse(.kafkaStorageError) }
        if request.leaderEpoch >= 0, request.leaderEpoch != log.leaderEpoch {
            return refuse(request.leaderEpoch < log.leaderEpoch ? .fencedLeaderEpoch : .unknownLeaderEpoch)
        }
        guard request.offset >= log.logStart, request.offset <= log.logEnd else {
            var answer = refuse(.offsetOutOfRange)
            (answer.highWatermark, answer.logStart) = (log.highWatermark, log.logStart)
            return answer
        }

        let end = log.end(for: isolation)
        return FetchResponse.Partition(
            partition: id, error: .none, highWatermark: log.highWatermark, lastStableOffset: log.lastStableOffset,
            logStart: log.logStart, topicID: topics[id.topic]?.id ?? 0,
            aborted: isolation == .readCommitted ? log.aborted(from: request.offset, to: end) : [],
            entries: log.read(from: request.offset, to: end, maxBytes: request.maxBytes))
    }

    // MARK: - Waiting

    /// Checks waiting requests again after records were written, copied, decided or deleted.
    func wakeWaits() {
        if waitingFetches.contains(where: { !hasNothing(for: $0) }) { wakeFetches() }
        guard !waitingProduces.isEmpty else { return }

        let produces = waitingProduces
        waitingProduces = []
        for wait in produces {
            if let response = outcome(of: wait) { wait.reply(response) } else { waitingProduces.append(wait) }
        }
    }

    private func wakeFetches() {
        let fetches = waitingFetches
        waitingFetches = []
        for wait in fetches {
            if !hasNothing(for: wait) {
                let response = fetch(wait.request, at: wait.broker)
                if response.partitions.contains(where: { $0.error != .none || !$0.entries.isEmpty }) {
                    wait.reply(response)
                    continue
                }
            }
            waitingFetches.append(wait)
        }
    }

    /// True if a fetch would read nothing and get no error, as far as that can be determined without reading.
    ///
    /// Called for every waiting fetch after each write to any partition.
    private func hasNothing(for wait: WaitingFetch) -> Bool {
        guard denied.isEmpty, fullDisks.isEmpty else { return false }
        return wait.request.partitions.allSatisfy { request in
            guard request.topicID == nil, let topic = topics[request.partition.topic],
                topic.settings.retention == nil, topic.partitions.indices.contains(Int(request.partition.partition))
            else { return false }

            let log = topic.partitions[Int(request.partition.partition)]
            return log.leader == wait.broker ?? log.leader
                && (request.leaderEpoch < 0 || request.leaderEpoch == log.leaderEpoch)
                && request.offset >= log.logStart && request.offset <= log.logEnd
                && request.offset >= log.end(for: wait.request.isolation)
        }
    }

    /// - Returns: `nil` while replicas are still awaited.
    private func outcome(of wait: WaitingProduce) -> ProduceResponse? {
        var response = wait.response
        for (index, result) in response.results.enumerated() {
            guard let end = wait.ends[result.partition] else { continue }
            guard let log = logState(result.partition) else {
                response.results[index].error = .unknownTopicOrPartition
                continue
            }
            let minimum = topics[result.partition.topic]?.settings.minInSyncReplicas ?? 1
            if log.logEnd < end {
                response.results[index].error = .notLeaderOrFollower
            } else if log.highWatermark < end {
                return nil
            } else if log.inSyncReplicas < minimum {
                response.results[index].error = .notEnoughReplicasAfterAppend
            }
        }
        return response
    }

    func endWaits() {
        // By index, because most are not late, and a copy of each would cost more than the answers.
        var lateFetches: [WaitingFetch] = []
        var index = 0
        while index < waitingFetches.count {
            if waitingFetches[index].end <= now {
                lateFetches.append(waitingFetches.remove(at: index))
            } else {
                index += 1
            }
        }
        for wait in lateFetches { wait.reply(fetch(wait.request, at: wait.broker)) }

        let late = waitingProduces.filter { $0.end <= now }
        guard !late.isEmpty else { return }
        waitingProduces.removeAll { $0.end <= now }
        for var wait in late {
            for index in wait.response.results.indices
            where wait.ends[wait.response.results[index].partition] != nil {
                wait.response.results[index].error = .requestTimedOut
            }
            wait.reply(wait.response)
        }
    }

    // MARK: - ListOffsets and DeleteRecords

    package func listOffsets(_ request: ListOffsetsRequest, at broker: Int32? = nil) -> ListOffsetsResponse {
        var response = ListOffsetsResponse(results: [:])
        for (id, query) in request.queries {
            response.results[id] = find(query, in: id, isolation: request.isolation, at: broker)
        }
        return response
    }

    private func find(
        _ query: ListOffsetsRequest.Query, in id: PartitionID, isolation: FetchRequest.Isolation, at broker: Int32?
    ) -> ListOffsetsResponse.Result {
        if denied.contains(.describeTopic(id.topic)) {
            return ListOffsetsResponse.Result(error: .topicAuthorizationFailed)
        }
        applyRetention(to: id)
        guard let log = logState(id) else { return ListOffsetsResponse.Result(error: .unknownTopicOrPartition) }
        if let broker, broker != log.leader { return ListOffsetsResponse.Result(error: .notLeaderOrFollower) }

        let end = log.end(for: isolation)
        switch query {
        case .earliest: return ListOffsetsResponse.Result(error: .none, offset: log.logStart)
        case .latest: return ListOffsetsResponse.Result(error: .none, offset: end)
        case .time(let time):
            let found = log.entries.first { $0.offset < end && $0.marker == nil && ($0.record.timestamp ?? 0) >= time }
            return ListOffsetsResponse.Result(error: .none, offset: found?.offset ?? -1)
        }
    }

    package func deleteRecords(_ request: DeleteRecordsRequest, at broker: Int32? = nil) -> DeleteRecordsResponse {
        var response = DeleteRecordsResponse(results: [:])
        for (id, offset) in request.offsets {
            guard let log = logState(id) else {
                response.results[id] = DeleteRecordsResponse.Result(error: .unknownTopicOrPartition)
                continue
            }
            if let broker, broker != log.leader {
                response.results[id] = DeleteRecordsResponse.Result(error: .notLeaderOrFollower)
                continue
            }
            let end = offset == -1 ? log.highWatermark : offset
            guard end >= 0, end <= log.highWatermark else {
                response.results[id] = DeleteRecordsResponse.Result(error: .offsetOutOfRange)
                continue
            }
            change(id) { $0.deleteRecords(before: end) }
            response.results[id] = DeleteRecordsResponse.Result(
                error: .none, lowWatermark: logState(id)?.logStart ?? -1)
        }
        wakeWaits()
        return response
    }

    private func applyRetention(to id: PartitionID) {
        guard let retention = topics[id.topic]?.settings.retention else { return }
        change(id) { $0.deleteRecords(olderThan: now - retention) }
    }
}
