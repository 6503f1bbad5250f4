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
/// Transactions follow each other without a fixed interval: what becomes ready while one is under way goes into the next.
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
    let log: Logger
    let ready = ReadyOutcomes()
    private let isOrdered: Bool
    let health: TransactionHealth
    private(set) var phase = TransactionPhase.starting
    var onWaiting: () -> Void = {}
    private var rest = Rest()
    private let openOffsets = OpenOffsets()

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
        self.log = log
        isOrdered = configuration.ordering != .unordered
        truncatedRecords = TruncatedRecords(configuration, loop: loop, log: log)
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

    func storeFinished() async {}

    func waitUntilCertain(of assigned: [AssignedPartition]) async {
        await openOffsets.waitUntilClosed(of: Set(assigned.map(\.id)))
    }

    func commitPassedOver() { wake() }

    private func wake() {
        if isPutBack(.wakeUpLost), !rest.condition.isAwaited { return }
        rest.isDue = true
        rest.condition.signal()
    }

    // MARK: - Transactions

    func run() async throws(KafkaError) {
        while !phase.isOver(at: loop.now) {
            if !rest.isDue {
                if phase.isFinishing { return }
                await suspend(unless: rest.isDue) { rest.condition.add($0) }
                continue
            }

            rest.isDue = false
            let next = loop.now + Self.shortestInterval
            try await commitReady()
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
            let offsets = nextOffsets(with: batch)
            guard !batch.isEmpty || !offsets.isEmpty else { return noteNothingCanLeave() }

            var attempt = TransactionAttempt(batch, offsets: offsets, loop: loop)
            if try await run(&attempt) { return await finish(attempt) }

            if phase.isOver(at: loop.now) { return }
            await loop.pause(pause)
            pause = min(pause * 2, Self.longestPause)
        }
    }

    /// Returns where the group continues once the outcomes of a batch are published. Without a batch: in each partition where
    /// records were passed over.
    private func nextOffsets(with batch: [ReadyOutcomes.Entry]) -> [AssignedPartition: CommittedOffset] {
        var slots: [AssignedPartition: Set<OffsetTracker.Slot>] = [:]
        for entry in batch { slots[entry.request.partition.id, default: []].insert(entry.request.slot) }

        var offsets: [AssignedPartition: CommittedOffset] = [:]
        for partition in partitions.all {
            if let slots = slots[partition.id] {
                offsets[partition.id] = partition.commit(publishing: slots)
                partitions.adaptIntake(of: partition)
            } else if batch.isEmpty {
                offsets[partition.id] = partition.takeProgress(isComplete: true)
            }
        }
        if offsets.isEmpty, partitions.metadataLimit.needsProof, !ready.isEmpty {
            for partition in partitions.all where offsets.isEmpty { offsets[partition.id] = partition.proof() }
        }
        if isPutBack(.transactionOffsetOneTooFar) {
            return offsets.mapValues { CommittedOffset($0.offset + 1, metadata: $0.metadata) }
        }
        return offsets
    }

    /// Runs one transaction, and replaces a producer that can run no further one.
    /// - Returns: `false` when its outcomes may be tried again.
    private func run(_ attempt: inout TransactionAttempt) async throws(KafkaError) -> Bool {
        openOffsets.open(of: attempt.nextOffsets.keys.map(\.id))
        defer { openOffsets.close() }

        do throws(KafkaError) {
            return try await commit(&attempt)
        } catch {
            try await replaceProducer(failedWith: error, during: attempt)
            return false
        }
    }

    /// Runs one transaction to its end.
    /// - Returns: `false` when it was aborted, so that its outcomes may be tried again.
    /// - Throws: an error after which this producer can run no further transaction, and nobody here knows whether this one has
    ///   taken effect.
    private func commit(_ attempt: inout TransactionAttempt) async throws(KafkaError) -> Bool {
        let assigned = attempt.nextOffsets.keys
        var failure = await attempt.run(on: sink, within: timeToConfirm) { await membership(for: assigned) }

        if isPutBack(.failedCommitIsSuccess), attempt.isCommitting { return true }
        // Aborting is no way out of a commit without an answer: it may have taken effect.
        while let error = failure, attempt.isCommitting, error.mayPass {
            if phase.isOver(at: loop.now) {
                health.noteBrokersAreSilent(error)
                return false
            }
            health.noteFailure(error, isExplained: false)
            await loop.pause(Self.firstPause)
            failure = await attempt.commit(on: sink)
        }

        guard let failure else { return true }
        try await abort(attempt, after: failure)
        return isPutBack(.abortedIsDelivered)
    }

    /// How long the records of a transaction that begins now may take to be confirmed.
    private var timeToConfirm: Duration {
        guard let end = phase.end else { return DeliveryStallDetector.timeout }
        return min(DeliveryStallDetector.timeout, max(.milliseconds(100), loop.now.duration(to: end)))
    }

    /// Returns the membership in whose name offsets of some partitions may be committed.
    /// - Returns: `nil` when one of them was taken away, also one that is ours again.
    private func membership(for assigned: some Collection<AssignedPartition>) async -> GroupMembership? {
        let membership = await source.membership
        if isPutBack(.ownershipUnchecked) { return membership }
        // Checked after the membership was read: an older one, which brokers refuse, does no harm.
        return assigned.allSatisfy { partitions[$0.id]?.id == $0 } ? membership : nil
    }

    /// Finishes what a committed transaction held.
    private func finish(_ attempt: TransactionAttempt) async {
        await source.noteCommitted(attempt.nextOffsets.map { (partition: $0.key, next: $0.value.offset) })
        for (id, next) in attempt.nextOffsets { partitions[id.id]?.lastCommitted = next }
        if partitions.metadataLimit.needsProof { await readBack(attempt) }
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

    /// Looks whether the brokers keep what is written beside an offset. Asked again after the next transaction where they do not
    /// answer.
    private func readBack(_ attempt: TransactionAttempt) async {
        guard let (id, _) = attempt.nextOffsets.first(where: { !$0.value.metadata.isEmpty }) else { return }
        let found = try? await source.committedOffsets(of: [id], within: .seconds(5))
        if let committed = found?[id] { partitions.metadataLimit.noteReadBack(committed) }
        wake()
    }

    /// Aborts a transaction, however long the brokers take, and finds out which of its records cannot go as they are.
    /// - Throws: an error after which this producer can run no further transaction.
    private func abort(_ attempt: TransactionAttempt, after failure: KafkaError) async throws(KafkaError) {
        if failure.endsProducer { throw failure }
        if partitions.metadataLimit.shrink(after: failure) { partitions.renewProgress() }

        while true {
            do throws(KafkaError) {
                try await sink.abortTransaction()
                break
            } catch {
                if phase.isOver(at: loop.now) { return health.noteBrokersAreSilent(error) }
                guard error.mayPass else { throw error }
                health.noteFailure(error, isExplained: false)
                await loop.pause(Self.firstPause)
            }
        }

        let isExplained = await noteRefusals(of: attempt, after: failure)
        health.noteFailure(failure, isExplained: isExplained)
        // An explained failure ends what held requests up, and nothing else may ever become ready.
        if isExplained { gate.wake() }
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
