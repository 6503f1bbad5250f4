internal import Basics
internal import DequeModule
internal import EventLoop
internal import Kafka
internal import Logging

/// `worker.delivery=at-least-once`: each outcome leaves as soon as it is there. Once the brokers have confirmed it, its
/// offset counts as done and is committed at the pace of `CommitLoop`.
///
/// Nearly all outcomes leave by `handOverAtOnce`, which no task waits for. The others go to the `OutcomeWriter`.
/// Confined to its lane; not `Sendable`.
final class AtLeastOnceDelivery: OutcomeDelivery {
    private let sinks: ReplaceableSink
    private let singles: SingleRecordWriter
    private let writer: OutcomeWriter
    private let commits: CommitLoop
    private let backoff: TopicBackoff
    private let stallDetector: DeliveryStallDetector
    private let stalledTopics: StalledTopics
    private let partitions: PartitionTable
    private let gate: IntakeGate
    private let loop: EventLoop
    private let log: Logger
    /// Outcomes whose tasks have yet to run, in the order of both.
    private var waiting: Deque<WaitingOutcome> = []
    var onWaiting: () -> Void = {}

    init(
        sinks: ReplaceableSink, singles: SingleRecordWriter, commits: CommitLoop, backoff: TopicBackoff,
        diagnostics: TopicDiagnostics, partitions: PartitionTable, gate: IntakeGate,
        configuration: WorkerConfiguration, loop: EventLoop, meters: WorkerMeters, log: Logger
    ) {
        self.sinks = sinks
        self.singles = singles
        self.commits = commits
        self.backoff = backoff
        self.partitions = partitions
        self.gate = gate
        self.loop = loop
        self.log = log

        stallDetector = DeliveryStallDetector()
        stalledTopics = StalledTopics(
            stallDetector, diagnostics: diagnostics, backoff: backoff, names: configuration.topics, loop: loop, log: log
        )
        writer = OutcomeWriter(
            sinks: sinks, singles: singles, backoff: backoff, stallDetector: stallDetector,
            configuration: configuration, loop: loop, meters: meters, log: log)
    }

    var acceptsRequests: Bool { !commits.isOverdue && !backoff.blockOutcomes && !stalledTopics.includeOutcomes }

    var sink: any OutcomeSink { sinks.current }

    var status: DeliveryStatus {
        let stalled = stalledTopics.status
        return DeliveryStatus(
            commitOverdue: commits.overdue,
            problem: ([backoff.problem].compactMap { $0 } + stalled.problems).joinedAsProblem,
            blockedTopics: backoff.blockedTopics + stalled.blockedTopics)
    }

    // MARK: - Begin and end

    func prepare() async throws(KafkaError) { await sinks.current.start() }

    func run() async throws(KafkaError) {
        await commits.run { stalledTopics.announceChanges() }
    }

    func commitFinished() async { await commits.commit() }

    /// Does nothing: the next commit takes them along.
    func commitPassedOver() {}

    func commitNotes() async { await commits.commit() }

    func storeFinished() async { await commits.storeProgress() }

    /// Returns at once. A commit of a former assignment that is still on its way moves the group's offset only past outcomes that
    /// are delivered, so that at worst these are published again.
    func waitUntilCertain(of assigned: [AssignedPartition]) async {}

    /// Returns at once, for the same reason. The consumer commits before it acknowledges the loss.
    func waitUntilArrived(of revoked: [AssignedPartition]) async {}

    /// Does nothing: outcomes of a partition that is gone are on their way already.
    func forget(_ partition: OwnedPartition) {}

    /// Does nothing: each call to the brokers is bounded by itself.
    func limit(to end: Instant) async {}

    func finish(before end: Instant) async { await commits.finish(before: end) }

    func stop() {
        commits.stop()
        writer.close()
    }

    func commitAfterFailure() async { await commits.commitAfterFailure() }

    /// Does nothing: a call to commit is bounded by itself.
    func cutCallsShort() async {}

    func close(within bound: Duration, hasFailed: Bool) async {
        writer.close()
        if !hasFailed { await flush(within: bound) }
        await sinks.close()
        await singles.close()
    }

    private func flush(within bound: Duration) async {
        let end = loop.now + bound
        let isFlushed = await sinks.current.flush(within: bound)
        let undelivered =
            (isFlushed ? 0 : await sinks.current.undelivered)
            + (await singles.flush(within: max(.zero, end - loop.now)))

        guard undelivered > 0 else { return }
        log.warning(
            "the brokers do not answer: what is not delivered by now will be done again",
            metadata: ["records": "\(undelivered)"])
    }

    // MARK: - At once

    /// Publishes the outcome. What was paid for is kept until the brokers have spoken.
    func deliver(_ outcome: OutgoingOutcome, of request: RequestInProgress) {
        request.beginDelivery()
        gate.outcomeHandedOver(bytes: outcome.bytes)
        if !handOverAtOnce(outcome, of: request) { wait(WaitingOutcome(outcome: outcome, request: request)) }
    }

    /// The way that nearly all outcomes take. No task waits for the brokers: the delivery report finishes the request.
    /// - Returns: `false` for an outcome that has to wait for something, or consists of more than its event.
    private func handOverAtOnce(_ outcome: OutgoingOutcome, of request: RequestInProgress) -> Bool {
        guard let record = outcome.event, outcome.deadLetter == nil, backoff.isEmpty, !singles.mustTake(request)
        else { return false }

        let (sink, topic, start) = (sinks.current, outcome.eventTopic, loop.now)
        let isHandedOver = sink.handOverAtOnce(record) { [self] report in
            stallDetector.confirmed(by: topic)
            if isPutBack(.finishedAtHandOver) { return }
            switch report {
            case .success(let position):
                writer.noteConfirmed(.event, at: position, by: topic, since: start, of: request)
                finish(outcome, of: request, isDelivered: true)
            case .failure where isPutBack(.failedRecordDropped):
                finish(outcome, of: request, isDelivered: true)
            case .failure(let error):
                wait(WaitingOutcome(outcome: outcome, request: request, refusal: error, refusedBy: sink))
            }
        }
        guard isHandedOver else { return false }

        stallDetector.handedOver(to: topic)
        // The next in order may go: its outcome is behind this one in the producer's queue.
        request.leaveTurn()
        if isPutBack(.finishedAtHandOver) { finish(outcome, of: request, isDelivered: true) }
        return true
    }

    private func finish(_ outcome: OutgoingOutcome, of request: RequestInProgress, isDelivered: Bool) {
        request.leaveTurn()
        singles.finish(request)
        gate.outcomeConfirmed(bytes: outcome.bytes)
        partitions.finish(request, isDelivered: isDelivered)
    }

    // MARK: - Outcomes that wait

    /// An outcome that could not be handed over at once, or was refused.
    private struct WaitingOutcome {
        let outcome: OutgoingOutcome
        let request: RequestInProgress
        /// Why the event was refused, and by which producer; `nil` where nothing has been handed over.
        var refusal: KafkaError?
        var refusedBy: (any OutcomeSink)?
    }

    private func wait(_ outcome: WaitingOutcome) {
        waiting.append(outcome)
        onWaiting()
    }

    func deliverNext() async throws(KafkaError) {
        guard let next = waiting.popFirst() else { return }
        let (outcome, request) = (next.outcome, next.request)
        var isDelivered = false
        defer { finish(outcome, of: request, isDelivered: isDelivered) }

        do throws(KafkaError) {
            if let refusal = next.refusal, let sink = next.refusedBy {
                try await writer.writeAgain(.event, of: outcome, request: request, refusedBy: sink, with: refusal)
            } else {
                try await writer.write(outcome, of: request)
            }
            isDelivered = true
        } catch {
            // The worker's end closed the producer under outcomes that no broker took: `flush` has said so.
            if error.kind == .closed, writer.isClosing { return }
            throw error
        }
    }
}
