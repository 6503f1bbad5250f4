internal import Kafka
internal import SimulatedKafka

/// Sending of batches, and the brokers' answers.
extension SimulatedProducer {
    /// Sends the next batch of a partition, now or when it has lingered.
    func send(_ lane: Lane, isFlushing: Bool = false) {
        guard !lane.isUnderway, failure == nil, !isClosed else { return }
        // A failed transaction sends nothing.
        guard !isTransactional || transaction.maySend else { return }
        guard !lane.batch.isEmpty || !lane.queue.isEmpty else { return }
        guard isFlushing || !lane.batch.isEmpty else {
            guard !lane.isTimerSet else { return }
            lane.isTimerSet = true
            return link.after(settings.linger) { [weak self] in
                lane.isTimerSet = false
                self?.send(lane, isFlushing: true)
            }
        }

        guard identity.id >= 0 else { return getIdentity() }
        guard lane.notBefore <= now else {
            return link.after(lane.notBefore - now) { [weak self] in self?.send(lane, isFlushing: true) }
        }
        if isTransactional, !lane.isInTransaction { return addToTransaction() }
        guard let leader = link.leaders[lane.id] else { return lookUpTopics() }

        if lane.batch.isEmpty {
            lane.batch = Array(lane.queue.prefix(settings.batchRecords))
            lane.queue.removeFirst(lane.batch.count)
        }
        sendBatch(of: lane, to: leader.broker)
    }

    private func sendBatch(of lane: Lane, to broker: Int32) {
        lane.isUnderway = true
        let entries = lane.batch
        let used = identity
        let batch = ProduceRequest.Batch(
            lane.id, entries.map { SimulatedRecord($0.record) }, producer: used, baseSequence: lane.sequence,
            isTransactional: isTransactional)
        var request = ProduceRequest([batch], transactionalID: settings.transactionalID)
        request.timeout = settings.requestTimeout
        let sent = request
        link.ask(.produce, broker, { $0.produce(sent, at: broker, reply: $1) }) {
            [weak self] (result: Result<ProduceResponse, NetworkFailure>) in
            guard let self else { return }
            lane.isUnderway = false
            guard !lane.batch.isEmpty, lane.batch.first === entries.first else { return send(lane, isFlushing: true) }
            switch result {
            case .success(let answer):
                let code = answer.results.first?.error ?? .unknownServerError
                take(code, baseOffset: answer.results.first?.baseOffset ?? -1, for: lane, by: used)
            case .failure(let failure):
                // A broken connection, or a missing answer, leaves open whether the records are in the log.
                for entry in entries { entry.status = .possiblyPersisted }
                link.forgetLeader(of: lane.id)
                retry(lane, code: failure == .timedOut ? LibraryCode.timedOut : LibraryCode.transport)
            }
        }
    }

    private func take(_ code: ErrorCode, baseOffset: Int64, for lane: Lane, by used: ProducerIdentity) {
        switch code {
        case .none, .duplicateSequenceNumber: deliver(lane, baseOffset: code == .none ? baseOffset : -1)
        case .notLeaderOrFollower, .leaderNotAvailable, .unknownTopicOrPartition, .kafkaStorageError:
            link.forgetLeader(of: lane.id)
            retry(lane, code: Int32(code.rawValue))
        case .requestTimedOut, .notEnoughReplicasAfterAppend:
            for entry in lane.batch { entry.status = .possiblyPersisted }
            retry(lane, code: Int32(code.rawValue))
        case .notEnoughReplicas, .coordinatorLoadInProgress: retry(lane, code: Int32(code.rawValue))
        case .outOfOrderSequenceNumber where used == identity:
            let known = KafkaError(librdkafkaCode: Int32(code.rawValue), doing: "produce")
            for entry in lane.batch { entry.status = .possiblyPersisted }
            fail(KafkaError(.fatal, code: known.code, known.description))
        case .invalidProducerEpoch where isTransactional && used == identity:
            fail(KafkaError(librdkafkaCode: LibraryCode.fenced, doing: "produce"))
        default: refuse(lane, code)
        }
    }

    private func deliver(_ lane: Lane, baseOffset: Int64) {
        let batch = lane.batch
        lane.batch = []
        advanceSequence(of: lane, by: batch.count)
        for (index, entry) in batch.enumerated() {
            let offset = baseOffset < 0 ? -1 : baseOffset + Int64(index)
            finish(entry, .success(RecordPosition(partition: lane.id.partition, offset: offset)))
        }
        wake()
        send(lane, isFlushing: true)
    }

    private func advanceSequence(of lane: Lane, by count: Int) {
        let next = Int64(lane.sequence) + Int64(count)
        lane.sequence = Int32(truncatingIfNeeded: next > Int64(Int32.max) ? next - Int64(Int32.max) - 1 : next)
    }

    private func retry(_ lane: Lane, code: Int32) {
        guard let first = lane.batch.first else { return }
        if isTransactional, !transaction.maySend { return purge() }
        guard first.end > now else {
            // The deadline has passed. `expire` skipped the batch because it was in flight.
            let batch = lane.batch
            lane.batch = []
            renewIdentity()
            for entry in batch { finish(entry, code: LibraryCode.messageTimedOut) }
            if isTransactional { failTransaction(LibraryCode.messageTimedOut, needsNewEpoch: true) }
            wake()
            return
        }
        lane.notBefore = now + ClientLink.backoff
        link.after(ClientLink.backoff) { [weak self] in self?.send(lane, isFlushing: true) }
    }

    /// Handles a permanent rejection of these records. Later ones need a new identity, because the numbers have a gap.
    private func refuse(_ lane: Lane, _ code: ErrorCode) {
        let batch = lane.batch
        lane.batch = []
        if isTransactional {
            // An earlier attempt may be in the log. Another record with the same numbers would be treated as a duplicate.
            let mayBeWritten = batch.contains { $0.status == .possiblyPersisted }
            failTransaction(Int32(code.rawValue), needsNewEpoch: mayBeWritten)
        } else {
            renewIdentity()
        }
        for entry in batch { finish(entry, code: Int32(code.rawValue)) }
        wake()
        send(lane, isFlushing: true)
    }

    // MARK: - Identity

    /// Abandons the sequence numbers in use. Outside of transactions the producer gets a new identity at once.
    func renewIdentity() {
        guard !isTransactional else { return }
        identity = .none
        for lane in lanes.values { lane.sequence = 0 }
        getIdentity()
    }

    /// Requests an identity without transactions from any broker.
    private func getIdentity() {
        guard !isTransactional, !isGettingIdentity, !isClosed else { return }
        isGettingIdentity = true
        let broker = Int32(
            1 + Int(truncatingIfNeeded: now / ClientLink.backoff) % Int(link.network.cluster.rules.brokers))
        link.ask(.initProducerID, broker, { $1($0.initProducerID(InitProducerIDRequest(nil), at: broker)) }) {
            [weak self] (result: Result<InitProducerIDResponse, NetworkFailure>) in
            guard let self else { return }
            isGettingIdentity = false
            if case .success(let answer) = result, answer.error == .none {
                identity = answer.producer
                for lane in inOrder { send(lane, isFlushing: true) }
            } else {
                link.after(ClientLink.backoff) { [weak self] in self?.getIdentity() }
            }
        }
    }
}

extension SimulatedRecord {
    fileprivate init(_ record: ProducerRecord) {
        self.init(
            key: record.key, value: record.value,
            headers: record.headers.map { SimulatedHeader($0.name, $0.value) },
            timestamp: record.timestamp.map { $0 * ClusterRules.millisecond })
    }
}
