/// Requests about transactions: producer ids, epochs, and the end of a transaction in every partition that it wrote to.
extension SimulatedCluster {
    // MARK: - InitProducerId

    package func initProducerID(_ request: InitProducerIDRequest, at broker: Int32? = nil) -> InitProducerIDResponse {
        let refuse = { (error: ErrorCode) in InitProducerIDResponse(error: error) }
        guard let id = request.transactionalID else {
            return InitProducerIDResponse(error: .none, producer: ProducerIdentity(id: makeProducerID(), epoch: 0))
        }
        if denied.contains(.writeTransactionalID(id)) { return refuse(.transactionalIDAuthorizationFailed) }
        if id.isEmpty { return refuse(.invalidRequest) }
        guard request.transactionTimeout > 0, request.transactionTimeout <= rules.maxTransactionTimeout else {
            return refuse(.invalidTransactionTimeout)
        }
        if let error = coordinatorError(.transaction(id), at: broker) { return refuse(error) }

        var transaction =
            live(id)
            ?? TransactionMetadata(
                id: id, producerID: makeProducerID(), timeout: request.transactionTimeout, now: now)
        transaction.loadedAt = seat(.transaction(id)).loadedAt
        if transactions[id] == nil { transactions[id] = transaction }
        if let current = request.current, !isKnown(current, in: transaction) { return refuse(.producerFenced) }

        switch transaction.state {
        case .ending: return refuse(.concurrentTransactions)
        case .ongoing:
            // No producer receives the epoch that fences the open transaction: the next attempt gets a higher one.
            abortByCoordinator(id)
            return refuse(.concurrentTransactions)
        case .empty, .ended: break
        }

        if let error = raiseEpoch(of: &transaction, for: request.current) { return refuse(error) }
        transaction.timeout = request.transactionTimeout
        transaction.state = .empty
        transaction.lastUpdate = now
        transactions[id] = transaction
        return InitProducerIDResponse(error: .none, producer: transaction.producer)
    }

    private func isKnown(_ current: ProducerIdentity, in transaction: TransactionMetadata) -> Bool {
        transaction.producer.epoch == -1 || current.id == transaction.producer.id
            || (current.id == transaction.previousProducerID && current.epoch >= .max - 1)
    }

    private func raiseEpoch(of transaction: inout TransactionMetadata, for current: ProducerIdentity?) -> ErrorCode? {
        let epoch = transaction.producer.epoch
        if transaction.isEpochExhausted, current == nil || current?.epoch == epoch {
            transaction.previousProducerID = transaction.producer.id
            transaction.lastEpoch = current == nil ? -1 : epoch
            transaction.producer = ProducerIdentity(id: makeProducerID(), epoch: 0)
            return nil
        }

        if let current, epoch != -1, current.epoch != epoch {
            // A retry of a call whose answer was lost gets the same answer.
            return current.epoch == transaction.lastEpoch && epoch != -1 ? nil : .producerFenced
        }
        transaction.lastEpoch = current == nil ? -1 : epoch
        transaction.producer.epoch = epoch + 1
        return nil
    }

    private func makeProducerID() -> Int64 {
        defer { nextProducerID += 1 }
        return nextProducerID
    }

    // MARK: - AddPartitionsToTxn and AddOffsetsToTxn

    package func addPartitionsToTxn(
        _ request: AddPartitionsToTxnRequest, at broker: Int32? = nil
    ) -> AddPartitionsToTxnResponse {
        let all = { (error: ErrorCode) in
            let results = request.partitions.map { ($0, error) }
            return AddPartitionsToTxnResponse(results: Dictionary(results) { first, _ in first })
        }
        if denied.contains(.writeTransactionalID(request.transaction.id)) {
            return all(.transactionalIDAuthorizationFailed)
        }

        var refused: [PartitionID: ErrorCode] = [:]
        for partition in request.partitions {
            if denied.contains(.writeTopic(partition.topic)) {
                refused[partition] = .topicAuthorizationFailed
            } else if logState(partition) == nil {
                refused[partition] = .unknownTopicOrPartition
            }
        }
        guard refused.isEmpty else {
            // All or nothing: the others are not attempted.
            var response = all(.operationNotAttempted)
            response.results.merge(refused) { _, refused in refused }
            return response
        }
        return all(add(request.partitions.map { .partition($0) }, to: request.transaction, at: broker))
    }

    package func addOffsetsToTxn(_ request: AddOffsetsToTxnRequest, at broker: Int32? = nil) -> PlainResponse {
        if denied.contains(.writeTransactionalID(request.transaction.id)) {
            return PlainResponse(error: .transactionalIDAuthorizationFailed)
        }
        if denied.contains(.readGroup(request.group)) { return PlainResponse(error: .groupAuthorizationFailed) }
        return PlainResponse(error: add([.offsets(group: request.group)], to: request.transaction, at: broker))
    }

    private func add(
        _ targets: [TransactionMetadata.Target], to name: TransactionName, at broker: Int32?
    ) -> ErrorCode {
        if name.id.isEmpty { return .invalidRequest }
        if let error = coordinatorError(.transaction(name.id), at: broker) { return error }
        guard var transaction = live(name.id), transaction.producer.id == name.producer.id else {
            return .invalidProducerIDMapping
        }
        guard transaction.producer.epoch == name.producer.epoch else { return fenced(name) }
        if case .ending = transaction.state { return .concurrentTransactions }

        if transaction.state != .ongoing {
            transaction.state = .ongoing
            transaction.start = now
            transaction.targets = []
        }
        for target in targets where !transaction.targets.contains(target) { transaction.targets.append(target) }
        transaction.lastUpdate = now
        transactions[name.id] = transaction
        return .none
    }

    private func fenced(_ name: TransactionName) -> ErrorCode {
        name.knowsProducerFenced ? .producerFenced : .invalidProducerEpoch
    }

    /// Verifies the transaction in which offsets are committed, as the partition of the group's offsets does.
    func verify(_ request: TxnOffsetCommitRequest) -> ErrorCode? {
        let name = request.transaction
        if denied.contains(.writeTransactionalID(name.id)) { return .transactionalIDAuthorizationFailed }
        guard rules.verifiesTransactions else { return nil }
        if coordinatorError(.transaction(name.id), at: nil) != nil { return .coordinatorNotAvailable }
        guard let transaction = live(name.id), transaction.producer.id == name.producer.id else {
            return .invalidProducerIDMapping
        }
        guard transaction.producer.epoch == name.producer.epoch else { return .invalidProducerEpoch }
        if case .ending = transaction.state { return .coordinatorNotAvailable }
        let isPart = transaction.state == .ongoing && transaction.targets.contains(.offsets(group: request.group))
        return isPart ? nil : .invalidTxnState
    }

    // MARK: - EndTxn

    package func endTxn(_ request: EndTxnRequest, at broker: Int32? = nil) -> PlainResponse {
        let name = request.transaction
        if denied.contains(.writeTransactionalID(name.id)) {
            return PlainResponse(error: .transactionalIDAuthorizationFailed)
        }
        if name.id.isEmpty { return PlainResponse(error: .invalidRequest) }
        if let error = coordinatorError(.transaction(name.id), at: broker) { return PlainResponse(error: error) }
        guard let transaction = live(name.id), transaction.producer.id == name.producer.id else {
            return PlainResponse(error: .invalidProducerIDMapping)
        }
        guard transaction.producer.epoch == name.producer.epoch else { return PlainResponse(error: fenced(name)) }

        switch transaction.state {
        case .empty: return PlainResponse(error: .invalidTxnState)
        case .ending: return PlainResponse(error: .concurrentTransactions)
        case .ended(let result): return PlainResponse(error: result == request.result ? .none : .invalidTxnState)
        case .ongoing:
            end(name.id, request.result)
            return PlainResponse(error: .none)
        }
    }

    private func end(_ id: String, _ result: TransactionResult) {
        transactions[id]?.state = .ending(result)
        transactions[id]?.lastUpdate = now
        transactions[id]?.markersDue = now + markerDelay()
        transactions[id]?.marked = []
    }

    /// Aborts an open transaction without its producer's request.
    ///
    /// The higher epoch in the markers fences the producer until it requests a new epoch.
    private func abortByCoordinator(_ id: String) {
        guard let aborted = transactions[id]?.producer.epoch else { return }
        transactions[id]?.producer.epoch = aborted + 1
        transactions[id]?.lastEpoch = rules.hasTransactionsVersion2 ? aborted : -1
        end(id, .abort)
    }

    // MARK: - Time

    func deadline(of transaction: TransactionMetadata) -> Int64? {
        switch transaction.state {
        case .empty, .ended: return nil
        case .ending: return transaction.markersDue.map { max($0, transaction.loadedAt) }
        case .ongoing:
            // The coordinator checks at intervals for transactions that have exceeded their timeout.
            let end = max(transaction.start + transaction.timeout, transaction.loadedAt)
            let interval = rules.transactionTimeoutInterval
            return (end / interval + 1) * interval
        }
    }

    func fire(_ id: String) {
        guard let transaction = transactions[id] else { return }
        switch transaction.state {
        case .empty, .ended: break
        case .ongoing: abortByCoordinator(id)
        case .ending(let result): writeMarkers(of: transaction, result)
        }
    }

    private func writeMarkers(of transaction: TransactionMetadata, _ result: TransactionResult) {
        let seat = seat(.transaction(transaction.id))
        guard isUp(seat.broker) else { return retryMarkers(of: transaction.id) }

        var left: [TransactionMetadata.Target] = []
        for target in transaction.targets {
            switch target {
            case .partition(let partition):
                guard let log = logState(partition) else { continue }  // The topic was deleted.
                guard mayAppendMarker(to: log) else {
                    left.append(target)
                    continue
                }
                // A failed leader may have lost the marker, so that the transaction is open again.
                let isOpen = log.producers[transaction.producer.id]?.transactionStart != nil
                if isOpen || !transaction.marked.contains(partition) {
                    transactions[transaction.id]?.marked.insert(partition)
                    change(partition) {
                        _ = $0.appendMarker(result, of: transaction.producer, coordinatorEpoch: seat.epoch, now: now)
                    }
                }
                // Markers are written with acks=all, and requested again until all replicas have them.
                if log.highWatermark < log.logEnd { left.append(target) }
            case .offsets(let group):
                guard isUp(coordinator(.group(group))) else {
                    left.append(target)
                    continue
                }
                groups[group]?.offsets.end(result, of: transaction.producer.id)
            }
        }

        if left.isEmpty {
            transactions[transaction.id]?.state = .ended(result)
            transactions[transaction.id]?.targets = []
            transactions[transaction.id]?.markersDue = nil
            transactions[transaction.id]?.lastUpdate = now
        } else {
            transactions[transaction.id]?.targets = left
            retryMarkers(of: transaction.id)
        }
        wakeWaits()
    }

    private func mayAppendMarker(to log: PartitionLog) -> Bool {
        let minimum = topics[log.id.topic]?.settings.minInSyncReplicas ?? 1
        return isUp(log.leader) && !fullDisks.contains(log.leader) && log.inSyncReplicas >= minimum
    }

    private func retryMarkers(of id: String) {
        transactions[id]?.markersDue = now + rules.markerRetryInterval
    }

    /// Returns the state of a transactional id that has not expired.
    func live(_ id: String) -> TransactionMetadata? {
        guard let transaction = transactions[id] else { return nil }
        switch transaction.state {
        case .ongoing, .ending: return transaction
        case .empty, .ended:
            if now - transaction.lastUpdate < rules.transactionalIDExpiration { return transaction }
            transactions[id] = nil
            return nil
        }
    }
}
