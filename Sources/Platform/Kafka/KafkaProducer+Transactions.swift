public import Basics
internal import EventLoop

/// Transactions. They need a producer with `transactionalID`; make one call at a time. Each call may throw `hung`: a
/// call into librdkafka has not returned, and the producer can only be closed.
extension KafkaProducer {
    /// Sets a deadline for all transaction calls. After `instant` nothing is retried, and no call is given time beyond it. A
    /// call that has not returned one second later fails with `timedOut`; `initTransactions` fails at `instant` itself.
    ///
    /// May be called during a transaction call, and again with another instant. A call that begins after `instant` is given
    /// 100 ms, and fails one second after that.
    public func endTransactions(by instant: Instant) { transactions.endAll(by: instant) }

    /// Registers the transactional id and fences the previous instance that used it. Call it once, before the first
    /// transaction.
    ///
    /// While no broker answers, the log reports this and the brokers that were tried.
    /// - Throws: `unreachable` if no broker answered within about 150 s; `timedOut` if `endTransactions` ended the
    ///   wait.
    public func initTransactions() async throws(KafkaError) {
        brokers.isReporting = true
        defer { brokers.isReporting = false }
        start()
        scheduleReport()

        do throws(KafkaError) {
            try await make(.initialize)
        } catch {
            // Retried for as long as any transaction call is, and no broker answered.
            let isUnreachable = brokers.areDown && error.kind == .retriable
            let kind = isUnreachable ? .unreachable : error.kind
            throw brokers.explain(KafkaError(kind, code: error.code, error.description))
        }
        brokers.noteAnswer()
    }

    /// Logs periodically that no broker answers, for as long as the initialization waits.
    private func scheduleReport() {
        brokers.reportIfDue(at: loop.now)
        loop.schedule(at: loop.now + .seconds(1)) { [weak self] in
            self?.assumeIsolated { producer in
                guard producer.brokers.isReporting, !producer.isClosed else { return }
                producer.scheduleReport()
            }
        }
    }

    /// Begins a transaction. It contains all records enqueued until its end.
    /// - Throws: `fatal`, `fenced` or `closed` if no further transaction is possible.
    public func beginTransaction() async throws(KafkaError) { try await make(.begin) }

    /// Adds the group's offsets to the transaction: they take effect only if it commits.
    /// - Parameters:
    ///   - offsets: The offset to continue from in each partition.
    ///   - member: The membership under which the partitions were read.
    /// - Throws: `abortable` if the transaction must be aborted; `fatal`, `fenced`, `hung` or `closed` if no further
    ///   transaction is possible.
    public func sendOffsets(
        _ offsets: [(partition: TopicPartition, next: CommittedOffset)], as member: GroupMembership
    ) async throws(KafkaError) {
        guard member.metadata != nil else {
            throw KafkaError(.other, "add offsets to transaction: the membership belongs to no consumer")
        }
        try await make(.sendOffsets(offsets, as: member))
    }

    /// Commits the transaction, after all its records have been delivered.
    /// - Throws: `abortable` if the transaction must be aborted; `fatal`, `fenced` or `closed` if no further
    ///   transaction is possible.
    public func commitTransaction() async throws(KafkaError) { try await make(.commit) }

    /// Aborts the transaction: readers of committed records do not see its records.
    /// - Throws: `fatal`, `fenced` or `closed` if no further transaction is possible.
    public func abortTransaction() async throws(KafkaError) { try await make(.abort) }

    /// True while a transaction call is in progress, for tests.
    var isAskingAboutTransactions: Bool { transactions.isUnderway }

    private func make(_ call: TransactionCall) async throws(KafkaError) {
        if let failure = client.failure { throw failure }
        guard !isClosed else { throw .closed }

        do throws(KafkaError) {
            try await transactions.make(call) { call, time in
                Task {
                    let error = await client.blocking.run { [client] in call.make(on: client, within: time) }
                    if transactions.noteReturn(error), isClosed { await free() }
                }
            }
        } catch {
            if error.kind == .fatal || error.kind == .fenced { client.noteFailure(error) }
            throw error
        }
    }
}
