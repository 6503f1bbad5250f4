internal import EventLoop
internal import Kafka
internal import Logging

/// `worker.delivery=exactly-once`: an outcome waits until every earlier record of its partition has one too, then leaves in
/// a transaction together with the offset behind it. Whoever reads committed records sees each outcome once, whatever
/// crashes: either both are there or neither.
///
/// Transactions follow each other without a fixed interval: what becomes ready while one is under way goes into the next.
/// Each names the member's place in the group (KIP-447), so that a worker that lost its partitions, and does not know it
/// yet, cannot commit for them.
///
/// Confined to its lane; not `Sendable`.
final class TransactionalDelivery: OutcomeDelivery {
    /// What is ready when the worker's grace is over has this long to be committed.
    private static let timeAfterGrace = Duration.seconds(5)
    /// Outcomes gather at least this long: a transaction costs four round trips to the brokers, whatever it holds.
    private static let shortestInterval = Duration.milliseconds(10)
    /// Transactions that fail are tried again at intervals that double from the first to the last of these.
    private static let (firstPause, longestPause) = (Duration.milliseconds(100), Duration.seconds(2))

    let sink: any OutcomeSink
    private let source: any RequestSource
    private let partitions: PartitionTable
    private let gate: IntakeGate
    private let refusals: TopicRefusals
    private let briefForms: BriefForms
    private let loop: EventLoop
    private let meters: WorkerMeters
    private let log: Logger
    private let ready = ReadyOutcomes()
    private let health: TransactionHealth
    private var phase = TransactionPhase.starting
    var onWaiting: () -> Void = {}
    private var wakeUp = WakeUp()

    /// Lets the loop of transactions rest until something is ready.
    private struct WakeUp {
        var isDue = false
        var waiter: CheckedContinuation<Void, Never>?
    }

    init(
        sink: any OutcomeSink, source: any RequestSource, refusals: TopicRefusals, partitions: PartitionTable,
        gate: IntakeGate, configuration: WorkerConfiguration, loop: EventLoop, meters: WorkerMeters, log: Logger
    ) {
        self.sink = sink
        self.source = source
        self.refusals = refusals
        self.partitions = partitions
        self.gate = gate
        self.loop = loop
        self.meters = meters
        self.log = log
        briefForms = BriefForms(configuration)
        health = TransactionHealth(log: log)
    }

    var acceptsRequests: Bool { health.problem == nil && !refusals.blockOutcomes }

    var status: DeliveryStatus {
        DeliveryStatus(commitOverdue: nil, problem: refusals.problem ?? health.problem)
    }

    // MARK: - Begin and end

    func prepare() async throws(KafkaError) {
        try await sink.initTransactions()
        if phase == .starting { phase = .running }
    }

    func limit(to end: ContinuousClock.Instant) async {
        switch phase {
        // Nothing is ready, so nothing is lost with the registration.
        case .starting:
            phase = .ending(before: .now, isFinishing: false)
            await sink.endTransactions(by: .now)
        case .running:
            let end = end + Self.timeAfterGrace
            phase = .ending(before: end, isFinishing: false)
            await sink.endTransactions(by: end)
        case .ending, .stopped: break
        }
    }

    func finish(before end: ContinuousClock.Instant) async {
        guard case .ending(let end, false) = phase else { return }
        phase = .ending(before: end, isFinishing: true)
        wake()
    }

    func stop() {
        phase = .stopped
        refusals.close()
        wake()
    }

    func close(hasFailed: Bool) async {
        if hasFailed { await sink.endTransactions(by: .now) }
        refusals.close()
        await sink.close()
    }

    // MARK: - What is ready

    /// From now on the outcome is a transaction's, which finishes the request.
    func deliver(_ outcome: OutgoingOutcome, of request: RequestInProgress) {
        request.beginDelivery()
        request.leaveTurn()
        guard partitions.contains(request.partition) else {
            return partitions.finish(request, isDelivered: false)
        }

        ready.add(outcome, of: request)
        if request.partition.tracker.markReady(request.slot) { wake() }
    }

    /// Nothing waits but for its transaction.
    func deliverNext() {}

    /// Whoever has the partition now does again what was ready on it.
    func forget(_ partition: OwnedPartition) {
        for entry in ready.removeAll(of: partition) {
            meters.calls.countWasted(entry.outcome.calls)
            partitions.finish(entry.request, isDelivered: false)
        }
    }

    /// Transactions commit offsets along with outcomes, so there is nothing to commit besides.
    func commitFinished() async {}

    func storeFinished() async {}

    private func wake() {
        wakeUp.isDue = true
        guard let waiter = wakeUp.waiter else { return }
        wakeUp.waiter = nil
        waiter.resume()
    }

    // MARK: - Transactions

    func run() async throws(KafkaError) {
        while !phase.isOver {
            if !wakeUp.isDue {
                if phase.isFinishing { return }
                await suspend(unless: wakeUp.isDue) { wakeUp.waiter = $0 }
                continue
            }

            wakeUp.isDue = false
            let next = ContinuousClock.now + Self.shortestInterval
            try await commitReady()
            if !phase.isFinishing { try? await Task.sleep(until: next, clock: .continuous) }
        }
    }

    /// Commits what is ready. What fails for the moment is aborted and tried again with what is ready and ours by then.
    private func commitReady() async throws(KafkaError) {
        var pause = Self.firstPause
        while !phase.isOver {
            let member = await source.membership
            let (batch, hasMore) = ready.nextBatch(
                of: partitions.all, isRefusing: refusals.contains, mayRetry: mayRetry)
            if hasMore { wake() }
            guard let member, !batch.isEmpty else { return lookAgainAtRetry() }

            var attempt = TransactionAttempt(batch)
            guard let failure = await attempt.run(on: sink, as: member) else { return await finish(attempt) }
            guard try await abort(attempt, after: failure) else { return }
            try? await Task.sleep(for: pause)
            pause = min(pause * 2, Self.longestPause)
        }
    }

    /// Finishes what a committed transaction held.
    private func finish(_ attempt: TransactionAttempt) async {
        await source.noteCommitted(attempt.nextOffsets.map { (partition: $0.key, next: $0.value) })
        for entry in attempt.batch where ready.contains(entry) {
            ready.remove(entry)
            partitions.finish(entry.request, isDelivered: true)
        }
        meters.kafka.countTransaction(attempt)

        health.noteSuccess()
        ready.clearSuspicions()
        if !refusals.isEmpty {
            for (record, _) in attempt.batch.flatMap(\.outcome.records) { refusals.clear(record.topic) }
        }
        gate.wake()
    }

    /// Aborts a transaction and finds out which of its records cannot go as they are.
    /// - Returns: `true` when what is ready may be tried again.
    /// - Throws: what ends the worker.
    private func abort(_ attempt: TransactionAttempt, after failure: KafkaError) async throws(KafkaError) -> Bool {
        switch failure.kind {
        case .fatal, .fenced, .closed: throw failure
        default: break
        }

        do throws(KafkaError) {
            try await sink.abortTransaction()
        } catch {
            guard phase.isOver else { throw error }
            log.warning(
                "the brokers do not answer: what is not committed by now will be done again",
                metadata: ["reason": "\(error)"])
            return false
        }

        // Every record is aborted with the transaction, whatever its report says.
        var isExplained = noteTopicRefusal(failure, of: attempt.batch)
        if let refused = attempt.refusedAtHandOver,
            noteRefusal(refused.error, of: refused.entry, by: refused.topic, whileAlone: true)
        {
            isExplained = true
        }

        let brokersAreDown = await source.brokersAreDown
        for record in attempt.sent {
            do throws(KafkaError) {
                _ = try await sink.confirm(record.receipt)
            } catch {
                if attempt.isStalled, !brokersAreDown {
                    noteRefusal(by: record.topic, of: record.entry, reason: failure, isLasting: true)
                    isExplained = true
                } else if noteRefusal(
                    error, of: record.entry, by: record.topic, whileAlone: attempt.batch.count == 1)
                {
                    isExplained = true
                }
            }
        }
        health.noteFailure(failure, isExplained: isExplained)
        return !phase.isOver
    }

    /// Decides what becomes of an outcome one of whose records was refused.
    /// - Returns: `false` for a reason that is over with the transaction.
    private func noteRefusal(
        _ error: KafkaError, of entry: ReadyOutcomes.Entry, by topic: String, whileAlone: Bool
    ) -> Bool {
        if error.isTopicRefusal {
            noteRefusal(by: topic, of: entry, reason: error)
            return true
        }
        guard error.kind == .recordTooLarge else { return false }

        if !whileAlone {
            entry.goesAlone = true
        } else if entry.isBrief {
            noteRefusal(by: topic, of: entry, reason: error)
        } else {
            log.error(
                "Kafka refuses a record as too large; it is written in brief",
                metadata: entry.request.logMetadata.merging(["topic": "\(topic)", "reason": "\(error)"]) { _, own in own
                })
            entry.outcome = briefForms.brief(entry.outcome, of: entry.request)
            entry.isBrief = true
        }
        return true
    }

    private func noteRefusal(
        by topic: String, of entry: ReadyOutcomes.Entry, reason: KafkaError, isLasting: Bool = false
    ) {
        refusals.note(reason, by: topic, isLasting: isLasting)
        entry.refusingTopic = topic
    }

    /// Finds the outcome that a topic refuses, where the transaction as a whole failed for that: a broker that does not let
    /// a topic take part says so before it has seen a record.
    /// - Returns: `true` when the failure is that of single outcomes, which no longer stand in the way of others.
    private func noteTopicRefusal(_ error: KafkaError, of batch: [ReadyOutcomes.Entry]) -> Bool {
        guard error.isTopicRefusal else { return false }

        if let only = batch.first, batch.count == 1, let topic = (only.outcome.deadLetter ?? only.outcome.event)?.topic
        {
            noteRefusal(by: topic, of: only, reason: error)
            return true
        }

        // Most outcomes share two topics. Those with a dead letter are the likeliest to be refused for themselves.
        let suspects = batch.filter { $0.outcome.deadLetter != nil }
        ready.suspect(suspects.isEmpty ? batch : suspects)
        return true
    }

    private func mayRetry(_ topic: String) -> Bool {
        refusals.retryTime(of: topic).map { $0 <= .now } ?? true
    }

    /// Has the loop look again when a topic that refused a record may be tried again.
    private func lookAgainAtRetry() {
        guard !refusals.isEmpty, !ready.isEmpty, !phase.isOver else { return }
        _ = loop.schedule(at: .now + .milliseconds(250)) { [weak self] in self?.wake() }
    }
}
