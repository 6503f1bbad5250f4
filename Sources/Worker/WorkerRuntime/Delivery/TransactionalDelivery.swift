internal import Basics
internal import EventLoop
internal import Kafka
internal import Logging

/// `worker.delivery=exactly-once`: an outcome leaves in a transaction together with the offset and the done-set that say so. A
/// reader of committed records sees each outcome once, whatever crashes: either both are there or neither.
///
/// Where the done-set has no room for an outcome, or `worker.doneSetBytes` is 0, it waits until every earlier record of its
/// partition has an outcome too.
///
/// Transactions follow each other without a fixed interval, a moment apart: what becomes ready while one is under way goes into the
/// next.
/// Each names the member's generation in the group (KIP-447), so that a worker that lost its partitions, and does not know it
/// yet, cannot commit for them. A producer that can run no further transaction is replaced:
/// `TransactionalDelivery+Replacement.swift` has how.
///
/// Confined to its lane; not `Sendable`.
final class TransactionalDelivery: OutcomeDelivery {
    /// Outcomes that are ready when the worker's grace is over have this long to be committed.
    static let timeAfterGrace = Duration.seconds(3)
    /// Outcomes gather at least this long: a transaction costs four round trips to the brokers, whatever it holds.
    private static let shortestInterval = Duration.milliseconds(10)
    /// A transaction begins so long after the last one was committed. Its coordinator answers a commit before it has marked the
    /// partitions, and refuses those of the next transaction until it has (CONCURRENT_TRANSACTIONS). librdkafka then waits for 20 ms
    /// before it asks again, and all outcomes of the transaction with it.
    static let shortestRest = Duration.milliseconds(5)
    /// Transactions that fail are tried again at intervals that double from the first to the last of these.
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
    var onWaiting: () -> Void = {}
    private var rest = Rest()
    /// True once no further transaction begins.
    private var hasEnded = false

    /// Lets the loop of transactions rest until something is ready.
    private struct Rest {
        var isDue = false
        var condition = Condition()
    }

    init(
        sinks: ReplaceableSink, source: any RequestSource, backoff: TopicBackoff, partitions: PartitionTable,
        gate: IntakeGate, configuration: WorkerConfiguration, loop: EventLoop, meters: WorkerMeters, log: Logger
    ) {
        self.sinks = sinks
        self.source = source
        self.backoff = backoff
        self.partitions = partitions
        self.gate = gate
        self.loop = loop
        self.meters = meters
        isOrdered = configuration.ordering != .unordered
        truncatedRecords = TruncatedRecords(configuration, loop: loop, log: log)
        offsets = TransactionOffsets(of: partitions, ready: ready, source: source, loop: loop)
        health = TransactionHealth(loop: loop, log: log)
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

    func limit(to end: Instant) async {
        switch phase {
        // Nothing is ready, so nothing is lost with the registration.
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

    /// Does nothing: a commit beside the transactions could move the group back behind one whose end got no answer.
    func commitAfterFailure() async {}

    func cutCallsShort() async { await sink.endTransactions(by: loop.now) }

    func close(within bound: Duration, hasFailed: Bool) async {
        if hasFailed { await cutCallsShort() }
        backoff.close()
        await sinks.close()
    }

    // MARK: - What is ready

    /// Takes the outcome over for a transaction, which finishes the request.
    func deliver(_ outcome: OutgoingOutcome, of request: RequestInProgress) {
        request.beginDelivery()
        request.leaveTurn()
        guard partitions.contains(request.partition) else {
            return partitions.finish(request, isDelivered: false)
        }

        gate.outcomeHandedOver(bytes: ready.add(outcome, of: request).bytes)
        request.partition.tracker.markReady(request.slot)
        let limit = partitions.metadataLimit
        if limit.bytes > 0 || limit.needsProof || request.partition.tracker.isOldestReady { wake() }
    }

    /// Does nothing: with transactions, an outcome waits only for its commit.
    func deliverNext() {}

    /// Drops the outcomes that were ready on a partition. The partition's new owner processes these requests again.
    func forget(_ partition: OwnedPartition) {
        if isPutBack(.readyNotForgotten) { return }
        let forgotten = ready.removeAll(of: partition)
        for entry in forgotten {
            meters.calls.countWasted(entry.outcome.calls)
            settle(entry, isDelivered: false)
        }
        if !forgotten.isEmpty { wake() }
    }

    /// Finishes the request of an outcome that is no longer among those that are ready.
    func settle(_ entry: ReadyOutcomes.Entry, isDelivered: Bool) {
        gate.outcomeConfirmed(bytes: entry.bytes)
        partitions.finish(entry.request, isDelivered: isDelivered)
    }

    /// Transactions commit offsets along with outcomes, so there is nothing to commit besides.
    func commitFinished() async {}

    func commitNotes() async { wake() }

    /// Waits a moment for the goodbye of partitions that are about to go, because no commit follows that could take it along.
    func storeFinished() async {
        let noting = partitions.all.filter { !$0.isNoted }
        guard !noting.isEmpty, !hasEnded else { return }
        wake()
        _ = await partitions.waitUntilNoted(noting, atMost: .seconds(1))
    }

    func waitUntilCertain(of assigned: [AssignedPartition]) async {
        await offsets.waitUntilSettled(of: Set(assigned.map(\.id)))
    }

    func waitUntilArrived(of revoked: [AssignedPartition]) async {
        await offsets.waitUntilArrived(of: Set(revoked.map(\.id)))
    }

    func commitPassedOver() { wake() }

    private func wake() {
        if isPutBack(.wakeUpLost), !rest.condition.isAwaited { return }
        rest.isDue = true
        rest.condition.signal()
    }

    // MARK: - Transactions

    func run() async throws(KafkaError) {
        defer { hasEnded = true }
        while !phase.isOver(at: loop.now) {
            if !rest.isDue {
                if phase.isFinishing { return }
                await suspend(unless: rest.isDue) { rest.condition.add($0) }
                continue
            }

            rest.isDue = false
            let begin = loop.now
            try await commitReady()
            let next = max(begin + Self.shortestInterval, loop.now + Self.shortestRest)
            if !phase.isFinishing { await loop.pause(loop.now.duration(to: next)) }
        }
    }

    /// Commits what is ready. What fails for the moment is tried again with what is ready and ours by then.
    private func commitReady() async throws(KafkaError) {
        var pause = Self.firstPause
        while !phase.isOver(at: loop.now) {
            let (batch, hasMore) = ready.nextBatch(
                of: partitions.all, inOrder: isOrdered, isRefusing: backoff.contains, mayRetry: mayRetry)
            if hasMore { wake() }
            let next = offsets.next(publishing: batch)
            guard !next.isEmpty else { return noteNothingCanLeave() }

            var attempt = TransactionAttempt(batch, offsets: next, loop: loop)
            if try await run(&attempt) { return await finish(attempt) }

            if phase.isOver(at: loop.now) { return }
            await loop.pause(pause)
            pause = min(pause * 2, Self.longestPause)
        }
    }

    /// Finishes what a committed transaction held.
    private func finish(_ attempt: TransactionAttempt) async {
        await offsets.noteCommitted(attempt.nextOffsets)
        // What waits for the brokers' proof may leave now.
        if await offsets.readProof(of: attempt.nextOffsets) { wake() }

        for entry in attempt.batch where ready.contains(entry) {
            ready.remove(entry)
            settle(entry, isDelivered: true)
        }
        meters.kafka.countTransaction(attempt)

        health.noteSuccess()
        ready.clearSuspicions()
        if !backoff.isEmpty {
            for (record, _) in attempt.batch.flatMap(\.outcome.records) { backoff.clear(record.topic) }
            // Nothing else may become ready until a refused outcome is tried again.
            wake()
        }
        gate.wake()
    }

    /// Ends what holds requests up on behalf of outcomes that have gone to other members: without them, nothing would ever show
    /// that it is over. Has the loop look again when a topic that refused a record may be tried again.
    private func noteNothingCanLeave() {
        let wasBlocked = !acceptsRequests
        health.noteNothingIsLeft()
        backoff.forget { !ready.isRefused(by: $0) }
        if wasBlocked { gate.wake() }
        guard !backoff.isEmpty, !phase.isOver(at: loop.now) else { return }
        _ = loop.schedule(at: loop.now + .milliseconds(250)) { [weak self] in self?.wake() }
    }
}
