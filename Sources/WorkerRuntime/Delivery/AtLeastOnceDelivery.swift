internal import Basics
internal import DequeModule
internal import EventLoop
internal import Kafka
internal import Logging

/// `worker.delivery=at-least-once`: each outcome leaves as soon as it is there. Once the brokers have confirmed it, its
/// offset counts as done and is committed at the pace of `CommitLoop`.
///
/// Confined to its lane; not `Sendable`.
final class AtLeastOnceDelivery: OutcomeDelivery {
    /// What is written for a request: which of the two decides about its brief form.
    private enum Part {
        case event
        case deadLetter
    }

    private let sinks: ReplaceableSink
    private let commits: CommitLoop
    private let refusals: TopicRefusals
    private let singles: SingleRecordWriter
    private let watch = ConfirmationWatch()
    private let diagnostics: TopicDiagnostics
    private let briefForms: BriefForms
    private let partitions: PartitionTable
    private let gate: IntakeGate
    private let keepsOrder: Bool
    private let topics: WorkerConfiguration.Topics
    private let loop: EventLoop
    private let meters: WorkerMeters
    private let log: Logger
    /// What the log says of each topic that confirms nothing.
    private var announcedStalls: [ConfirmationWatch.Topic: TopicDiagnosis] = [:]
    private var isClosing = false
    /// Outcomes whose tasks have yet to run, in the order of both.
    private var waiting: Deque<Waiting> = []
    var onWaiting: () -> Void = {}

    init(
        sinks: ReplaceableSink, singles: SingleRecordWriter, commits: CommitLoop, refusals: TopicRefusals,
        diagnostics: TopicDiagnostics, partitions: PartitionTable, gate: IntakeGate,
        configuration: WorkerConfiguration, loop: EventLoop, meters: WorkerMeters, log: Logger
    ) {
        self.sinks = sinks
        self.singles = singles
        self.diagnostics = diagnostics
        self.commits = commits
        self.refusals = refusals
        self.partitions = partitions
        self.gate = gate
        briefForms = BriefForms(configuration, loop: loop)
        self.loop = loop
        keepsOrder = configuration.ordering != .unordered
        topics = configuration.topics
        self.meters = meters
        self.log = log
    }

    var acceptsRequests: Bool { !commits.isOverdue && !refusals.blockOutcomes && !areOutcomesStalled }

    var sink: any OutcomeSink { sinks.current }

    var status: DeliveryStatus {
        let now = loop.now
        let stalled = watch.stalledTopics(at: now).map { (name: topics.name(of: $0), topic: $0) }
            .filter { !refusals.blocks($0.name) }
        let diagnosed = stalled.map { (name: $0.name, diagnosis: diagnostics.diagnosis(of: $0.name, at: now)) }

        let problems = diagnosed.map { $1?.problem(of: $0) ?? "topic \($0) confirms no records" }
        let blocked = diagnosed.filter { $0.diagnosis != .noBrokerAnswers }.map(\.name)
        return DeliveryStatus(
            commitOverdue: commits.overdue,
            problem: ([refusals.problem].compactMap { $0 } + problems).joinedAsProblem,
            blockedTopics: refusals.blockedTopics + blocked)
    }

    private var areOutcomesStalled: Bool { watch.stalledTopics(at: loop.now).contains { $0 != .deadLetters } }

    func prepare() async throws(KafkaError) { await sinks.current.start() }

    func run() async throws(KafkaError) {
        await commits.run { announceStalls(at: loop.now) }
    }

    func commitFinished() async { await commits.commit() }

    func storeFinished() async { await commits.storeFrontiers() }

    /// Returns at once. A commit of a former assignment that is still on its way moves the group's offset only past outcomes that
    /// are delivered, so that at worst these are published again.
    func waitUntilCertain(of assigned: [AssignedPartition]) async {}

    func forget(_ partition: OwnedPartition) {}

    func limit(to end: Instant) async {}

    func finish(before end: Instant) async { await commits.finish(before: end) }

    func stop() {
        isClosing = true
        commits.stop()
        refusals.close()
    }

    /// Does nothing: a call to commit is bounded by itself.
    func cutCallsShort() async {}

    func close(within bound: Duration, hasFailed: Bool) async {
        isClosing = true
        refusals.close()

        if !hasFailed {
            let end = loop.now + bound
            let isFlushed = await sinks.current.flush(within: bound)
            let undelivered =
                (isFlushed ? 0 : await sinks.current.undelivered)
                + (await singles.flush(within: max(.zero, end - loop.now)))
            if undelivered > 0 {
                log.warning(
                    "the brokers do not answer: what is not delivered by now will be done again",
                    metadata: ["records": "\(undelivered)"])
            }
        }
        await sinks.close()
        await singles.close()
    }

    // MARK: - At once

    /// Publishes the outcome. What was paid for is kept until the brokers have spoken.
    func deliver(_ outcome: OutgoingOutcome, of request: RequestInProgress) {
        request.beginDelivery()
        gate.outcomeHandedOver(bytes: outcome.bytes)
        if !handOverAtOnce(outcome, of: request) { wait(Waiting(outcome: outcome, request: request)) }
    }

    /// The way that nearly all outcomes take. No task waits for the brokers: their word finishes the request.
    /// - Returns: `false` for an outcome that has to wait for something, or consists of more than its event.
    private func handOverAtOnce(_ outcome: OutgoingOutcome, of request: RequestInProgress) -> Bool {
        guard let record = outcome.event, outcome.deadLetter == nil, refusals.isEmpty, !singles.mustTake(request)
        else { return false }

        let (sink, topic, start) = (sinks.current, outcome.eventTopic, loop.now)
        let isHandedOver = sink.handOverAtOnce(record) { [self] report in
            watch.confirmed(by: topic)
            if isPutBack(.finishedAtHandOver) { return }
            switch report {
            case .success(let position):
                noteConfirmed(.event, at: position, by: topic, since: start, of: request)
                finish(outcome, of: request, isDelivered: true)
            case .failure where isPutBack(.failedRecordDropped):
                finish(outcome, of: request, isDelivered: true)
            case .failure(let error):
                wait(Waiting(outcome: outcome, request: request, refusal: error, refusedBy: sink))
            }
        }
        guard isHandedOver else { return false }

        watch.handedOver(to: topic)
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

    private func noteConfirmed(
        _ part: Part, at position: RecordPosition, by topic: ConfirmationWatch.Topic,
        since start: Instant, of request: RequestInProgress
    ) {
        meters.kafka.countConfirmed(by: topic, after: start.duration(to: loop.now))
        if part == .event, let trace = request.trace { trace.noteConfirmed(at: position) }
    }

    // MARK: - Outcomes that wait

    /// An outcome that could not be handed over at once, or was refused.
    private struct Waiting {
        let outcome: OutgoingOutcome
        let request: RequestInProgress
        /// Why the event was refused, and by whom; `nil` where nothing has been handed over.
        var refusal: KafkaError?
        var refusedBy: (any OutcomeSink)?
    }

    private func wait(_ outcome: Waiting) {
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
                try await writeAgain(.event, of: outcome, request: request, refusedBy: sink, with: refusal)
            } else {
                try await write(outcome, of: request)
            }
            isDelivered = true
        } catch {
            // The worker's end closed the producer under outcomes that no broker took: `close` has said so.
            if error.kind == .closed, isClosing { return }
            throw error
        }
    }

    /// Writes the dead letter first. Were the outcome first and the letter refused, each restart would publish the outcome
    /// again.
    private func write(_ outcome: OutgoingOutcome, of request: RequestInProgress) async throws(KafkaError) {
        if isPutBack(.deadLetterNotAwaited), let letter = outcome.deadLetter {
            _ = sinks.current.handOverAtOnce(letter) { _ in }
        } else if outcome.deadLetter != nil {
            try await write(.deadLetter, of: outcome, request: request)
            meters.kafka.countDeadLetter()
        }
        try await write(.event, of: outcome, request: request)
    }

    private func write(
        _ part: Part, of outcome: OutgoingOutcome, request: RequestInProgress
    ) async throws(KafkaError) {
        guard let record = record(part, of: outcome) else { return }
        if refusals.contains(record.topic) { try await waitForRetry(of: record.topic) }

        var writer = sinks
        if part == .event, singles.mustTake(request), let single = singles.open() {
            singles.begin(request)
            writer = single
        }

        var sink = writer.current
        let refusal: KafkaError
        do throws(KafkaError) {
            return try await send(record, as: part, of: outcome, request: request, by: writer, sink: &sink)
        } catch {
            refusal = error
        }
        try await writeAgain(part, of: outcome, request: request, refusedBy: sink, with: refusal)
    }

    /// Writes a record that was refused once, by whatever cures the refusal.
    ///
    /// A record of a batch that was too large may be innocent, so it is sent again in a batch of its own. One that is refused
    /// there too is too large itself, and a brief record takes its place.
    /// - Throws: what ends the worker.
    private func writeAgain(
        _ part: Part, of outcome: OutgoingOutcome, request: RequestInProgress, refusedBy failed: any OutcomeSink,
        with refusal: KafkaError
    ) async throws(KafkaError) {
        var (outcome, failed, refusal) = (outcome, failed, refusal)
        var writer = request.isWrittenSingly && part == .event ? singles.open() ?? sinks : sinks
        var (wentAlone, isBrief) = (writer !== sinks, false)

        while true {
            guard let topic = record(part, of: outcome)?.topic else { return }
            if isClosing { throw Self.closed(before: topic) }

            switch refusal.kind {
            // The producer failed for good after it had written this record: its topic takes records.
            case _ where refusal.status == .persisted: return refusals.clear(topic)

            case .fatal where !keepsOrder:
                try writer.replace(
                    failed, failedWith: refusal,
                    consequence: "its unconfirmed records are written again and may appear twice")
            case .closed where failed !== writer.current: break
            case .fatal, .fenced, .closed: throw refusal

            case .recordTooLarge where isPutBack(.largeOutcomeDropped): return
            case .recordTooLarge where !wentAlone && !isPutBack(.batchShortened):
                wentAlone = true
                if let single = singles.open() {
                    writer = single
                    if part == .event { singles.begin(request) }
                }
            case .recordTooLarge where !isBrief:
                isBrief = true
                log(refusal, of: part, of: outcome, request: request)
                outcome = briefForms.brief(outcome, of: request)

            // Sent again later, the record would stand behind outcomes that were handed over after it.
            default:
                if keepsOrder, part == .event { throw refusal }
                refusals.note(refusal, by: topic)
                try await waitForRetry(of: topic)
            }

            guard let record = record(part, of: outcome) else { return }
            do throws(KafkaError) {
                return try await send(record, as: part, of: outcome, request: request, by: writer, sink: &failed)
            } catch {
                refusal = error
            }
        }
    }

    /// Waits until a topic that refuses records may be tried again.
    /// - Throws: `closed` when the worker ended meanwhile. A record that were written now could not be committed any more, so
    ///   it would be done, and published, again.
    private func waitForRetry(of topic: String) async throws(KafkaError) {
        await refusals.waitForRetry(of: topic)
        if isClosing { throw Self.closed(before: topic) }
    }

    private static func closed(before topic: String) -> KafkaError {
        KafkaError(.closed, "the worker ended before \(topic) took the record")
    }

    /// Hands a record over and waits for the brokers' acknowledgement.
    /// - Parameter writer: whose producer takes the record.
    /// - Parameter sink: the one that has the record, or has refused it.
    private func send(
        _ record: ProducerRecord, as part: Part, of outcome: OutgoingOutcome, request: RequestInProgress,
        by writer: ReplaceableSink, sink: inout any OutcomeSink
    ) async throws(KafkaError) {
        sink = writer.current
        let (topic, start) = (topic(of: part, outcome), loop.now)
        let receipt = try await sink.handOver(record)
        watch.handedOver(to: topic)
        defer { watch.confirmed(by: topic) }
        // The next in order may go: its outcome is behind this one in the producer's queue.
        if part == .event { request.leaveTurn() }

        let position = try await sink.confirm(receipt)
        noteConfirmed(part, at: position, by: topic, since: start, of: request)
        refusals.clear(record.topic)
    }

    private func topic(of part: Part, _ outcome: OutgoingOutcome) -> ConfirmationWatch.Topic {
        part == .deadLetter ? .deadLetters : outcome.eventTopic
    }

    /// Says in the log which topics have stalled, with the cause as far as the brokers tell it, and which have recovered: one
    /// line for each change.
    private func announceStalls(at now: Instant) {
        let stalled = watch.stalledTopics(at: now)
        guard !stalled.isEmpty || !announcedStalls.isEmpty else { return }

        for topic in stalled {
            let name = topics.name(of: topic)
            guard let diagnosis = diagnostics.diagnosis(of: name, at: now), diagnosis != announcedStalls[topic] else {
                continue
            }
            announcedStalls[topic] = diagnosis
            announce(diagnosis, of: name)
        }

        for topic in ConfirmationWatch.Topic.allCases where !stalled.contains(topic) {
            let name = topics.name(of: topic)
            if announcedStalls.removeValue(forKey: topic) != nil {
                log.info("a topic confirms records again", metadata: ["topic": "\(name)"])
            }
            if !refusals.contains(name) { diagnostics.forget(name) }
        }
    }

    private func announce(_ diagnosis: TopicDiagnosis, of topic: String) {
        let metadata: Logger.Metadata = ["topic": "\(topic)", "reason": "\(diagnosis.text)"]
        switch diagnosis {
        case .noBrokerAnswers:
            log.warning("no broker confirms records: what waits is delivered once one answers", metadata: metadata)
        case .refused:
            log.error(
                "a topic takes no records: check that it exists and that this user may write to it",
                metadata: metadata)
        case .withoutLeader, .complete:
            log.error("no broker confirms the records of a topic", metadata: metadata)
        }
    }

    /// - Returns: `nil` where the outcome has no such part.
    private func record(_ part: Part, of outcome: OutgoingOutcome) -> ProducerRecord? {
        part == .deadLetter ? outcome.deadLetter : outcome.event
    }

    private func log(
        _ refusal: KafkaError, of part: Part, of outcome: OutgoingOutcome, request: RequestInProgress
    ) {
        guard let record = record(part, of: outcome) else { return }
        log.error(
            "Kafka refuses a record as too large; it is written in brief",
            metadata: request.logMetadata.merging([
                "topic": "\(record.topic)", "bytes": "\(record.value?.count ?? 0)", "reason": "\(refusal)",
            ]) { _, own in own })
    }
}
