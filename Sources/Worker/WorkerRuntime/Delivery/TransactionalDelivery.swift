internal import EventLoop
internal import Kafka
internal import Logging

/// Delivers outcomes for `worker.delivery=exactly-once`: a transaction publishes an outcome together with its offset
/// and done-set.
///
/// A reader of committed records sees each outcome once, whatever crashes: either both are written or neither. If the
/// done-set has no room for an outcome, or `worker.doneSetBytes` is 0, the outcome waits until every earlier record of
/// its partition has an outcome.
///
/// Transactions follow each other without a fixed interval, with a short pause between them. Outcomes that become ready
/// during one transaction go into the next. Each transaction names the member's generation in the group (KIP-447), so
/// that a worker that lost its partitions unknowingly cannot commit for them. `TransactionalDelivery+Replacement.swift`
/// replaces a producer that can run no further transaction.
///
/// Confined to its lane; not `Sendable`.
final class TransactionalDelivery: OutcomePublisher, OffsetCommitter {
    /// The time for committing outcomes that are ready at the end of the worker's grace period.
    static let timeAfterGrace = Duration.seconds(3)
    /// The pauses between retries of failed transactions double from the first of these to the second.
    static let (firstPause, longestPause) = (Duration.milliseconds(100), Duration.seconds(2))

    let sinks: ReplaceableSink
    let source: any RequestSource
    let partitions: PartitionTable
    let gate: IntakeGate
    let backoff: TopicBackoff
    let truncatedRecords: TruncatedRecords
    let loop: EventLoop
    let meters: WorkerMeters
    let ready = ReadyOutcomes()
    let offsets: TransactionOffsets
    private let isOrdered: Bool
    let health: TransactionHealth
    private(set) var phase = TransactionPhase.starting
    private var loopWait = LoopWait()
    /// True once no further transaction begins.
    private var hasEnded = false

    /// Suspends the transaction loop until something is ready.
    private struct LoopWait {
        var isDue = false
        var condition = Condition()
        var pause = TransactionPause()
        /// The next pass for a topic that refuses records, while nothing else can be published.
        var retryTimer: TimerID?
    }

    init(
        sinks: ReplaceableSink, source: any RequestSource, backoff: TopicBackoff, partitions: PartitionTable,
        gate: IntakeGate, configuration: WorkerConfiguration, loop: EventLoop, meters: WorkerMeters, log: Logger
    ) {
        self.sinks = sinks
        self.source = source
        (self.backoff, self.partitions, self.gate, self.loop, self.meters) = (backoff, partitions, gate, loop, meters)
        isOrdered = configuration.ordering != .unordered
        truncatedRecords = TruncatedRecords(configuration, loop: loop, log: log)
        offsets = TransactionOffsets(of: partitions, ready: ready, source: source, loop: loop)
        health = TransactionHealth(loop: loop, log: log)
        partitions.onProgressWithoutOutcome = { [unowned self] in wake() }
    }

    var acceptsRequests: Bool { health.problem == nil && !backoff.blockOutcomes }

    var sink: any OutcomeSink { sinks.current }

    var status: DeliveryStatus {
        DeliveryStatus(
            commitOverdue: nil, problem: backoff.problem ?? health.problem, blockedTopics: backoff.blockedTopics)
    }

    // MARK: - Begin and end

    func prepare() async throws(KafkaError) {
        try await sink.initTransactions()
        if phase == .starting { phase = .running }
    }

    /// Begins the shutdown: no call, including one in flight, may last much beyond `end`.
    func limit(to end: Instant) async {
        switch phase {
        // No outcome is ready, so ending the registration loses nothing.
        case .starting:
            phase = .ending(before: loop.now, isFinishing: false)
            await sink.endTransactions(by: loop.now)
        case .running:
            let end = end + Self.timeAfterGrace
            phase = .ending(before: end, isFinishing: false)
            await sink.endTransactions(by: end)
        case .ending, .stopped: break
        }
    }

    func finish(before end: Instant) async {
        guard case .ending(let end, false) = phase else { return }
        phase = .ending(before: end, isFinishing: true)
        wake()
    }

    func stop() {
        phase = .stopped
        backoff.close()
        wake()
    }

    /// Does nothing: a commit outside the transactions could move the group's offset back, if the last transaction was
    /// committed and its answer was lost.
    func commitAfterFailure() async {}

    /// Ends the waits for broker calls that are in flight. Call it after `stop`.
    func cutCallsShort() async { await sink.endTransactions(by: loop.now) }

    func close(within bound: Duration, hasFailed: Bool) async {
        if hasFailed { await cutCallsShort() }
        backoff.close()
        await sinks.close()
    }

    // MARK: - Ready outcomes

    /// Adds the outcome to those that wait for a transaction, which finishes the request.
    func deliver(_ request: RequestInProgress) {
        let bytes = request.beginDelivery()
        request.leaveOrder()
        guard partitions.contains(request.partition) else { return partitions.finish(request, isDelivered: false) }

        gate.outcomeHandedOver(bytes: bytes)
        ready.add(request)
        request.partition.commits.tracker.markReady(request.slot)
        let limit = partitions.metadataLimit
        if limit.bytes > 0 || limit.needsProof || request.partition.commits.tracker.isOldestReady { wake() }
    }

    /// Drops the ready outcomes of a partition. The partition's new owner processes these requests again.
    func forget(_ partition: OwnedPartition) {
        let forgotten = ready.removeAll(of: partition)
        for entry in forgotten {
            meters.calls.countWasted(entry.request.outcome.callsToWaste)
            settle(entry, isDelivered: false)
        }
        if !forgotten.isEmpty { wake() }
    }

    /// Finishes the request of an outcome that has left `ready`.
    func settle(_ entry: ReadyOutcomes.Entry, isDelivered: Bool) {
        gate.outcomeConfirmed(bytes: entry.request.unconfirmedBytes ?? 0)
        partitions.finish(entry.request, isDelivered: isDelivered)
    }

    /// Does nothing: transactions commit offsets together with outcomes.
    func commitFinished() async {}

    func commitNotes() async { wake() }

    /// Waits at most 1 s for the final notes of partitions that are about to be revoked, because no later commit could
    /// include them.
    func storeFinished() async {
        let noting = partitions.all.filter { !$0.isNoted }
        guard !noting.isEmpty, !hasEnded else { return }
        wake()
        _ = await partitions.waitUntilNoted(noting, atMost: .seconds(1))
    }

    /// Waits until the group's committed offsets of newly assigned partitions are certain, as far as that depends on
    /// this lane. The caller fetches the offsets afterwards.
    func waitUntilCertain(of assigned: [AssignedPartition]) async {
        await offsets.waitUntilSettled(of: Set(assigned.map(\.id)))
    }

    /// Waits while offsets of revoked partitions are in flight to the brokers. The caller acknowledges the revocation
    /// afterwards.
    func waitUntilArrived(of revoked: [AssignedPartition]) async {
        await offsets.waitUntilArrived(of: Set(revoked.map(\.id)))
    }

    private func wake() {
        loopWait.isDue = true
        loopWait.condition.signal()
    }

    // MARK: - Transactions

    func run() async throws(KafkaError) {
        defer { hasEnded = true }
        while !phase.isOver(at: loop.now) {
            if !loopWait.isDue {
                if phase.isFinishing { return }
                await suspend(unless: loopWait.isDue) { loopWait.condition.add($0) }
                continue
            }

            loopWait.isDue = false
            try await commitReady()
            if !phase.isFinishing { await loop.pause(loopWait.pause.time) }
        }
    }

    /// Commits the ready outcomes. After a temporary failure, retries with the outcomes that are ready, and the
    /// partitions that are owned, by then.
    private func commitReady() async throws(KafkaError) {
        var pause = Self.firstPause
        while !phase.isOver(at: loop.now) {
            let (batch, hasMore) = ready.nextBatch(
                of: partitions.all, inOrder: isOrdered, isRefusing: backoff.contains, mayRetry: mayRetry)
            if hasMore { wake() }
            let next = offsets.next(publishing: batch)
            guard !next.isEmpty else { return noteNothingCanBePublished() }

            var attempt = TransactionAttempt(batch, offsets: next, loop: loop)
            if try await run(&attempt) { return await finish(attempt) }

            if phase.isOver(at: loop.now) { return }
            await loop.pause(pause)
            pause = min(pause * 2, Self.longestPause)
        }
    }

    /// Finishes the requests of a committed transaction.
    private func finish(_ attempt: TransactionAttempt) async {
        await offsets.noteCommitted(attempt.nextOffsets)
        // Outcomes that wait for the brokers' proof may be published now.
        if await offsets.readProof(of: attempt.nextOffsets) { wake() }

        for entry in attempt.batch where ready.contains(entry) {
            ready.remove(entry)
            settle(entry, isDelivered: true)
        }
        attempt.count(in: meters.kafka)
        if let time = attempt.publishingTime { loopWait.pause.adapt(after: time) }

        health.noteSuccess()
        ready.clearSuspicions()
        if !backoff.isEmpty {
            for (record, _) in attempt.batch.flatMap(\.request.outcome.records) { backoff.clear(record.topic) }
            // Without a retry of the refused outcome, no other outcome might become ready.
            wake()
        }
        gate.wake()
    }

    /// Removes problems that concern only outcomes of revoked partitions, or only outcomes behind a request that has not
    /// begun, so that intake can resume: no later transaction would clear them. If a topic still refuses records, schedules
    /// another pass.
    private func noteNothingCanBePublished() {
        let wasBlocked = !acceptsRequests
        health.noteNothingIsLeft()
        backoff.forget { !ready.isRefused(by: $0) }
        if wasBlocked { gate.wake() }
        guard !backoff.isEmpty, loopWait.retryTimer == nil, !phase.isOver(at: loop.now) else { return }
        loopWait.retryTimer = loop.schedule(at: loop.now + .milliseconds(250)) { [weak self] in
            self?.loopWait.retryTimer = nil
            self?.wake()
        }
    }
}
