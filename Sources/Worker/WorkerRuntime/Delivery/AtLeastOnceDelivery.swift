internal import DequeModule
internal import EventLoop
internal import Kafka
internal import Logging

/// Delivers outcomes for `worker.delivery=at-least-once`: each outcome is published as soon as it is ready.
///
/// Once the brokers have acknowledged an outcome, its offset counts as done, and `CommitLoop` commits it.
/// `handOverAtOnce` publishes nearly all outcomes without a task. `OutcomeWriter` publishes the others.
///
/// Confined to its lane; not `Sendable`.
final class AtLeastOnceDelivery: OutcomePublisher {
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
    /// Outcomes for the next calls of `deliverNext`, oldest first.
    private var waiting: Deque<WaitingOutcome> = []
    /// Called for each outcome that has to wait. The handler starts a task that calls `deliverNext`. Set it before
    /// calling `deliver`.
    var onWaiting: () -> Void = {}

    init(
        sinks: ReplaceableSink, singles: SingleRecordWriter, commits: CommitLoop, backoff: TopicBackoff,
        diagnostics: TopicDiagnostics, partitions: PartitionTable, gate: IntakeGate,
        configuration: WorkerConfiguration, loop: EventLoop, meters: WorkerMeters, log: Logger
    ) {
        (self.sinks, self.singles, self.commits) = (sinks, singles, commits)
        (self.backoff, self.partitions, self.gate, self.loop, self.log) = (backoff, partitions, gate, loop, log)

        stallDetector = DeliveryStallDetector()
        stalledTopics = StalledTopics(
            stallDetector, diagnostics: diagnostics, backoff: backoff, names: configuration.topics, loop: loop, log: log
        )
        commits.onPause = { [stalledTopics] in stalledTopics.announceChanges() }
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

    func stop() {
        commits.stop()
        writer.close()
    }

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
            "the brokers do not answer: requests with unconfirmed records will be processed again",
            metadata: ["records": "\(undelivered)"])
    }

    // MARK: - Immediate delivery

    /// Publishes the outcome. From now on, a revocation no longer abandons its request.
    func deliver(_ request: RequestInProgress) {
        gate.outcomeHandedOver(bytes: request.beginDelivery())
        if !handOverAtOnce(request) { wait(WaitingOutcome(request: request)) }
    }

    /// Publishes the outcome without a task: the delivery report finishes the request. Nearly all outcomes take this
    /// path.
    /// - Returns: `false` for an outcome that has to wait, or that has a dead letter besides its event.
    private func handOverAtOnce(_ request: RequestInProgress) -> Bool {
        guard request.outcome.deadLetter == nil, backoff.isEmpty, !singles.mustTake(request),
            let record = request.outcome.event
        else { return false }

        let (sink, topic, start) = (sinks.current, request.outcome.topic, loop.now)
        let isHandedOver = sink.handOverAtOnce(record) { [self] report in
            stallDetector.confirmed(by: topic)
            switch report {
            case .success(let position):
                writer.noteConfirmed(.event, at: position, by: topic, since: start, of: request)
                finish(request, isDelivered: true)
            case .failure(let error):
                wait(WaitingOutcome(request: request, refusal: error, refusedBy: sink))
            }
        }
        guard isHandedOver else { return false }

        stallDetector.handedOver(to: topic)
        // The next request in order may publish: its outcome will follow this one in the producer's queue.
        request.leaveOrder()
        return true
    }

    private func finish(_ request: RequestInProgress, isDelivered: Bool) {
        request.leaveOrder()
        singles.finish(request)
        gate.outcomeConfirmed(bytes: request.unconfirmedBytes ?? 0)
        partitions.finish(request, isDelivered: isDelivered)
    }

    // MARK: - Waiting outcomes

    /// An outcome that could not be enqueued at once, or was refused.
    private struct WaitingOutcome {
        let request: RequestInProgress
        /// Why the event was refused, and by which producer; `nil` if it has not been enqueued.
        var refusal: KafkaError?
        var refusedBy: (any OutcomeSink)?
    }

    private func wait(_ outcome: WaitingOutcome) {
        waiting.append(outcome)
        onWaiting()
    }

    /// Delivers the outcome that has waited longest, after waiting for what that outcome needs.
    /// - Throws: an error that ends the worker.
    func deliverNext() async throws(KafkaError) {
        guard let next = waiting.popFirst() else { return }
        let request = next.request
        var isDelivered = false
        defer { finish(request, isDelivered: isDelivered) }

        do throws(KafkaError) {
            if let refusal = next.refusal, let sink = next.refusedBy {
                try await writer.writeAgain(.event, of: request, refusedBy: sink, with: refusal)
            } else {
                try await writer.write(request)
            }
            isDelivered = true
        } catch {
            // The shutdown closed the producer before the brokers took this outcome. `flush` has logged that.
            if error.kind == .closed, writer.isClosing { return }
            throw error
        }
    }
}
