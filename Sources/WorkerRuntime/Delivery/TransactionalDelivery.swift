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
    /// With no transaction committed for so long although some were tried, nothing new begins.
    private static let timeBeforeNotice = Duration.seconds(3)

    private let sink: any OutcomeSink
    private let source: any RequestSource
    private let partitions: PartitionTable
    private let gate: IntakeGate
    private let refusals: TopicRefusals
    private let briefForms: BriefForms
    private let loop: EventLoop
    private let meters: WorkerMeters
    private let log: Logger
    private let ready = ReadyOutcomes()
    private var phase = Phase.starting
    private var wakeUp = WakeUp()
    private var failing: (since: ContinuousClock.Instant, reason: KafkaError, isAnnounced: Bool)?

    private enum Phase: Equatable {
        /// The transactional id is being registered.
        case starting
        case running
        /// What is ready is committed as far as the brokers take it before `end`; `isFinishing`: nothing more comes.
        case ending(before: ContinuousClock.Instant, isFinishing: Bool)
        /// Nothing further may be committed.
        case stopped
    }

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
    }

    var acceptsRequests: Bool { failing?.isAnnounced != true && !refusals.blockOutcomes }

    var status: DeliveryStatus {
        let failure = failing.flatMap { $0.isAnnounced ? "transactions fail: \($0.reason)" : nil }
        return DeliveryStatus(commitOverdue: nil, problem: refusals.problem ?? failure)
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

    private var isOver: Bool {
        switch phase {
        case .starting, .running: false
        case .ending(let end, _): .now >= end
        case .stopped: true
        }
    }

    private var isFinishing: Bool {
        if case .ending(_, isFinishing: true) = phase { true } else { false }
    }

    // MARK: - What is ready

    /// From now on the outcome is a transaction's, which finishes the request.
    func deliver(_ outcome: OutgoingOutcome, of request: RequestInProgress) async throws(KafkaError) {
        request.beginDelivery()
        request.leaveTurn()
        guard partitions.contains(request.partition) else {
            return partitions.finish(request, isDelivered: false)
        }

        ready.add(outcome, of: request)
        if request.partition.tracker.markReady(request.slot) { wake() }
    }

    /// Whoever has the partition now does again what was ready on it.
    func forget(_ partition: OwnedPartition) {
        for entry in ready.removeAll(of: partition) {
            meters.wasted(entry.outcome.calls)
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
        while !isOver {
            if !wakeUp.isDue {
                if isFinishing { return }
                await suspend(unless: wakeUp.isDue) { wakeUp.waiter = $0 }
                continue
            }

            wakeUp.isDue = false
            let next = ContinuousClock.now + Self.shortestInterval
            try await commitReady()
            if !isFinishing { try? await Task.sleep(until: next, clock: .continuous) }
        }
    }

    /// Commits what is ready. What fails for the moment is aborted and tried again with what is ready and ours by then.
    private func commitReady() async throws(KafkaError) {
        var pause = Self.firstPause
        while !isOver {
            // Asked before the batch is chosen: should its partitions go to others meanwhile, the brokers refuse this
            // place in the group.
            let member = await source.membership
            let (batch, hasMore) = ready.nextBatch(
                of: partitions.all, isRefusing: refusals.contains, mayRetry: mayRetry)
            if hasMore { wake() }
            guard let member, !batch.isEmpty else { return lookAgainAtRetry() }

            guard let failure = await transact(batch, as: member) else { return noteSuccess(of: batch) }
            guard try await abort(batch, after: failure) else { return }
            try? await Task.sleep(for: pause)
            pause = min(pause * 2, Self.longestPause)
        }
    }

    /// Runs one transaction.
    /// - Returns: why it is not committed; `nil` when it is.
    private func transact(_ batch: [ReadyOutcomes.Entry], as member: GroupMembership) async -> Failure? {
        var sent: [Sent] = []
        do throws(KafkaError) {
            try await sink.beginTransaction()
            for entry in batch { try await handOver(entry, noting: &sent) }
            guard await sink.flush(within: ConfirmationWatch.patience) else {
                return Failure(reason: Self.unconfirmed, sent: sent, isStall: true)
            }
            try await sink.sendOffsets(Self.offsets(behind: batch), as: member)
            try await sink.commitTransaction()
            for record in sent { _ = try await sink.confirm(record.receipt) }
        } catch {
            return Failure(reason: error, sent: sent, isStall: false)
        }

        await noteCommitted(batch)
        for entry in batch where ready.contains(entry) {
            ready.remove(entry)
            partitions.finish(entry.request, isDelivered: true)
        }
        return nil
    }

    private func noteCommitted(_ batch: [ReadyOutcomes.Entry]) async {
        var next: [AssignedPartition: Int64] = [:]
        for entry in batch { next[entry.request.partition.id] = entry.request.offset + 1 }
        await source.noteCommitted(next.map { (partition: $0.key, next: $0.value) })
    }

    /// Why a transaction is not committed, and what it had handed over by then.
    private struct Failure {
        let reason: KafkaError
        let sent: [Sent]
        /// Some records were not confirmed in time, and no report says why: see `ConfirmationWatch`.
        let isStall: Bool
    }

    private static let unconfirmed = KafkaError(
        .timedOut, "no confirmation in time: check that the topic exists and that this user may write to it")

    private struct Sent {
        let entry: ReadyOutcomes.Entry
        let topic: String
        let receipt: KafkaProducer.Receipt
    }

    private func handOver(_ entry: ReadyOutcomes.Entry, noting sent: inout [Sent]) async throws(KafkaError) {
        for record in [entry.outcome.event, entry.outcome.deadLetter].compactMap({ $0 }) {
            do throws(KafkaError) {
                sent.append(Sent(entry: entry, topic: record.topic, receipt: try await sink.handOver(record)))
            } catch {
                // Refused before it left, so no other record has a part in it.
                noteRefusal(error, of: entry, by: record.topic, whileAlone: true)
                throw error
            }
        }
    }

    private static func offsets(
        behind batch: [ReadyOutcomes.Entry]
    ) -> [(partition: TopicPartition, next: Int64)] {
        var next: [TopicPartition: Int64] = [:]
        for entry in batch { next[entry.request.partition.id.id] = entry.request.offset + 1 }
        return next.map { (partition: $0.key, next: $0.value) }
    }

    /// Aborts a transaction and finds out which of its records cannot go as they are.
    /// - Returns: `true` when what is ready may be tried again.
    /// - Throws: what ends the worker.
    private func abort(_ batch: [ReadyOutcomes.Entry], after failure: Failure) async throws(KafkaError) -> Bool {
        switch failure.reason.kind {
        case .fatal, .fenced, .closed: throw failure.reason
        default: break
        }

        do throws(KafkaError) {
            try await sink.abortTransaction()
        } catch {
            guard isOver else { throw error }
            log.warning(
                "the brokers do not answer: what is not committed by now will be done again",
                metadata: ["reason": "\(error)"])
            return false
        }

        // Every record is aborted with the transaction, whatever its report says.
        var isExplained = noteTopicRefusal(failure.reason, of: batch)
        let brokersAreDown = await source.brokersAreDown
        for record in failure.sent {
            do throws(KafkaError) {
                _ = try await sink.confirm(record.receipt)
            } catch {
                if failure.isStall, !brokersAreDown {
                    noteRefusal(by: record.topic, of: record.entry, reason: failure.reason)
                    isExplained = true
                } else if noteRefusal(error, of: record.entry, by: record.topic, whileAlone: batch.count == 1) {
                    isExplained = true
                }
            }
        }
        noteFailure(failure.reason, isExplained: isExplained)
        return !isOver
    }

    /// Decides what becomes of an outcome one of whose records was refused.
    /// - Returns: `false` for a reason that is over with the transaction.
    @discardableResult
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
                metadata: [
                    "topic": "\(topic)", "request": "\(entry.request.partition.id.id)@\(entry.request.offset)",
                    "reason": "\(error)",
                ])
            entry.outcome = briefForms.brief(entry.outcome, of: entry.request)
            entry.isBrief = true
        }
        return true
    }

    private func noteRefusal(by topic: String, of entry: ReadyOutcomes.Entry, reason: KafkaError) {
        refusals.note(reason, by: topic)
        entry.refusingTopic = topic
    }

    /// Finds the outcome that a topic refuses, where the transaction as a whole failed for that: a broker that does not let
    /// a topic take part says so before it has seen a record.
    /// - Returns: `true` when the failure is that of single outcomes, which no longer stand in the way of others.
    private func noteTopicRefusal(_ error: KafkaError, of batch: [ReadyOutcomes.Entry]) -> Bool {
        guard error.isTopicRefusal else { return false }

        if let only = batch.first, batch.count == 1 {
            let topic = (only.outcome.deadLetter ?? only.outcome.event).topic
            noteRefusal(by: topic, of: only, reason: error)
            return true
        }

        // Most outcomes share two topics. Those with a dead letter are the likeliest to be refused for themselves.
        let suspects = batch.filter { $0.outcome.deadLetter != nil }
        for entry in suspects.isEmpty ? batch : suspects { entry.goesAlone = true }
        return true
    }

    // MARK: - Failing and recovering

    /// - Parameter isExplained: the failure is that of single outcomes, which go alone or wait for their topic from now on.
    private func noteFailure(_ error: KafkaError, isExplained: Bool) {
        if isExplained {
            failing = nil
            log.debug("transaction aborted for a refused record", metadata: ["reason": "\(error)"])
            return
        }

        let now = ContinuousClock.now
        let (since, wasAnnounced) = (failing?.since ?? now, failing?.isAnnounced ?? false)
        let isLasting = now - since >= Self.timeBeforeNotice
        failing = (since, error, wasAnnounced || isLasting)

        if isLasting, !wasAnnounced {
            log.error(
                "transactions fail: no request begins until one is committed", metadata: ["reason": "\(error)"])
        } else if !isLasting {
            log.warning("transaction aborted, its outcomes go into the next one", metadata: ["reason": "\(error)"])
        }
    }

    private func noteSuccess(of batch: [ReadyOutcomes.Entry]) {
        if failing?.isAnnounced == true { log.info("transactions are committed again: requests begin again") }
        failing = nil

        if !refusals.isEmpty {
            for entry in batch {
                refusals.clear(entry.outcome.event.topic)
                if let letter = entry.outcome.deadLetter { refusals.clear(letter.topic) }
            }
        }
        gate.wake()
    }

    private func mayRetry(_ topic: String) -> Bool {
        refusals.retryTime(of: topic).map { $0 <= .now } ?? true
    }

    /// Has the loop look again when a topic that refused a record may be tried again.
    private func lookAgainAtRetry() {
        guard !refusals.isEmpty, !ready.isEmpty, !isOver else { return }
        _ = loop.schedule(at: .now + .milliseconds(250)) { [weak self] in self?.wake() }
    }
}
