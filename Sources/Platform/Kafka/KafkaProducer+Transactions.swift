public import Basics
internal import EventLoop

/// Transactions. Only for a producer with `transactionalID`; one call at a time. Any of them may end as `hung`: a call into
/// librdkafka has not returned, and the producer can only be closed.
extension KafkaProducer {
    /// Bounds everything about transactions: from `instant` on nothing is tried again, no call is given time beyond it,
    /// and a call that has not returned a second later fails with `timedOut`. `initTransactions` fails at `instant` itself.
    /// May be called while a call is under way, and again with another instant. A call that begins after `instant` is given
    /// 100 ms, and fails a second after that.
    public func endTransactions(by instant: Instant) { transactions.endAll(by: instant) }

    /// Registers the transactional id and fences its former holder. Once, before the first transaction.
    ///
    /// While no broker answers, a line in the log says so, and which brokers were tried.
    /// - Throws: `unreachable` when no broker answered in about 150 s; `timedOut` when `endTransactions` ended the wait.
    public func initTransactions() async throws(KafkaError) {
        brokers.isReporting = true
        defer { brokers.isReporting = false }
        start()
        scheduleReport()

        do throws(KafkaError) {
            try await make(.initialize)
        } catch {
            // Tried for as long as a call about transactions is tried, and nobody was there.
            let isUnreachable = brokers.areDown && error.kind == .retriable
            let kind = isUnreachable ? .unreachable : error.kind
            throw brokers.explain(KafkaError(kind, code: error.code, error.description))
        }
        brokers.noteAnswer()
    }

    /// Says every now and then that no broker answers, for as long as the initialisation waits.
    private func scheduleReport() {
        brokers.reportIfDue(at: loop.now)
        loop.schedule(at: loop.now + .seconds(1)) { [weak self] in
            self?.assumeIsolated { producer in
                guard producer.brokers.isReporting, !producer.isClosed else { return }
                producer.scheduleReport()
            }
        }
    }

    /// Begins a transaction. Everything handed over until its end belongs to it.
    /// - Throws: `fatal`, `fenced` or `closed` when there can be no further transaction.
    public func beginTransaction() async throws(KafkaError) { try await make(.begin) }

    /// Adds the group's offsets to the transaction: they count only if it commits.
    /// - Parameters:
    ///   - offsets: Where to continue in each partition.
    ///   - member: The membership under which the partitions were read.
    /// - Throws: `abortable` when the transaction must be aborted; `fatal`, `fenced`, `hung` or `closed` when there can be no
    ///   other.
    public func sendOffsets(
        _ offsets: [(partition: TopicPartition, next: CommittedOffset)], as member: GroupMembership
    ) async throws(KafkaError) {
        guard member.metadata != nil else {
            throw KafkaError(.other, "add offsets to transaction: the membership belongs to no consumer")
        }
        try await make(.sendOffsets(offsets, as: member))
    }

    /// Commits the transaction, after everything in it has been delivered.
    /// - Throws: `abortable` when the transaction must be aborted; `fatal`, `fenced` or `closed` when there can be no other.
    public func commitTransaction() async throws(KafkaError) { try await make(.commit) }

    /// Aborts the transaction: what was written in it counts for nobody who reads committed records.
    /// - Throws: `fatal`, `fenced` or `closed` when there can be no other transaction.
    public func abortTransaction() async throws(KafkaError) { try await make(.abort) }

    /// True while a call about transactions is under way, for tests.
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
