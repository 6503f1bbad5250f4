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
    private let turns = SharedTurns()
    private let watch = ConfirmationWatch()
    private let briefForms: BriefForms
    private let partitions: PartitionTable
    private let gate: IntakeGate
    private let keepsOrder: Bool
    private let topics: WorkerConfiguration.Topics
    private let meters: WorkerMeters
    private let log: Logger
    private var announcedStalls: [ConfirmationWatch.Topic] = []
    private var isClosing = false

    init(
        sinks: ReplaceableSink, commits: CommitLoop, refusals: TopicRefusals, partitions: PartitionTable,
        gate: IntakeGate, configuration: WorkerConfiguration, meters: WorkerMeters, log: Logger
    ) {
        self.sinks = sinks
        self.commits = commits
        self.refusals = refusals
        self.partitions = partitions
        self.gate = gate
        briefForms = BriefForms(configuration)
        keepsOrder = configuration.ordering != .unordered
        topics = configuration.topics
        self.meters = meters
        self.log = log
    }

    var acceptsRequests: Bool { !commits.isOverdue && !refusals.blockOutcomes && !areOutcomesStalled }

    var sink: any OutcomeSink { sinks.current }

    var status: DeliveryStatus {
        let stalled = watch.stalledTopics(at: .now).map { "topic \(topics.name(of: $0)) confirms no records" }
        return DeliveryStatus(
            commitOverdue: commits.overdue,
            problem: refusals.problem ?? (stalled.isEmpty ? nil : stalled.joined(separator: "; ")))
    }

    private var areOutcomesStalled: Bool { watch.stalledTopics(at: .now).contains { $0 != .deadLetters } }

    func prepare() async throws(KafkaError) { await sinks.current.start() }

    func run() async throws(KafkaError) {
        await commits.run { announce(watch.stalledTopics(at: .now)) }
    }

    func commitFinished() async { await commits.commit() }

    func storeFinished() async { await commits.storeFrontiers() }

    func forget(_ partition: OwnedPartition) {}

    func limit(to end: ContinuousClock.Instant) async {}

    func finish(before end: ContinuousClock.Instant) async { await commits.finish(before: end) }

    func stop() {
        isClosing = true
        commits.stop()
        refusals.close()
    }

    func close(hasFailed: Bool) async {
        isClosing = true
        refusals.close()

        if !hasFailed, await !sinks.current.flush(within: .seconds(5)) {
            let undelivered = await sinks.current.undelivered
            log.warning(
                "the brokers do not answer: what is not delivered by now will be done again",
                metadata: ["records": "\(undelivered)"])
        }
        await sinks.close()
    }

    // MARK: - Writing

    /// Publishes the outcome and waits for the brokers' word. What was paid for is kept until then.
    ///
    /// The dead letter is written first. Were the outcome first and the letter refused, each restart would publish the
    /// outcome again.
    func deliver(_ outcome: OutgoingOutcome, of request: RequestInProgress) async throws(KafkaError) {
        request.beginDelivery()
        let bytes = outcome.bytes
        gate.outcomeHandedOver(bytes: bytes)
        var isDelivered = false
        defer {
            request.leaveTurn()
            gate.outcomeConfirmed(bytes: bytes)
            partitions.finish(request, isDelivered: isDelivered)
        }

        do throws(KafkaError) {
            if outcome.deadLetter != nil { try await writeDeadLetter(of: outcome, request: request) }
            try await write(.event, of: outcome, request: request)
            isDelivered = true
        } catch {
            // The worker's end closed the producer under outcomes that no broker took: `close` has said so.
            if error.kind == .closed, isClosing { return }
            throw error
        }
    }

    /// Kept out of line: `write` would be inlined a second time, into the frame of every request.
    @inline(never)
    private func writeDeadLetter(of outcome: OutgoingOutcome, request: RequestInProgress) async throws(KafkaError) {
        try await write(.deadLetter, of: outcome, request: request)
        meters.kafka.countDeadLetter()
    }

    /// Writes one record. This is the way that nearly all take; what fails goes on in `writeAgain`.
    @inline(__always)
    private func write(
        _ part: Part, of outcome: OutgoingOutcome, request: RequestInProgress
    ) async throws(KafkaError) {
        guard let record = record(part, of: outcome) else { return }
        if refusals.contains(record.topic) { await refusals.waitForRetry(of: record.topic) }

        await turns.enter()
        let sink = sinks.current
        let failure: KafkaError
        do throws(KafkaError) {
            defer { turns.leave() }
            let start = ContinuousClock.now
            let receipt = try await sink.handOver(record)
            let topic = topic(of: part, outcome)
            watch.handedOver(to: topic)
            defer { watch.confirmed(by: topic) }
            // The next in order may go: its outcome is behind this one in the producer's queue.
            if part == .event { request.leaveTurn() }
            let position = try await sink.confirm(receipt)
            meters.kafka.countConfirmed(by: topic, after: start.duration(to: .now))
            if part == .event, let trace = request.trace { trace.noteConfirmed(at: position) }
            if !refusals.isEmpty { refusals.clear(record.topic) }
            return
        } catch {
            failure = error
        }
        try await writeAgain(part, of: outcome, request: request, refusedBy: sink, with: failure)
    }

    /// Writes a record that was refused once, by whatever cures the refusal.
    ///
    /// Kept out of line: its locals live across suspension points and would enlarge the fast path's async frame.
    /// - Throws: what ends the worker.
    @inline(never)
    private func writeAgain(
        _ part: Part, of outcome: OutgoingOutcome, request: RequestInProgress, refusedBy failed: any OutcomeSink,
        with refusal: KafkaError
    ) async throws(KafkaError) {
        var (outcome, failed, refusal) = (outcome, failed, refusal)
        var (wasAlone, isBrief) = (false, false)

        while true {
            guard let topic = record(part, of: outcome)?.topic else { return }
            if isClosing { throw KafkaError(.closed, "the worker ended before \(topic) took the record") }

            switch refusal.kind {
            // The producer failed for good after it had written this record.
            case _ where refusal.status == .persisted: return

            case .fatal where !keepsOrder: try sinks.replace(failed, failedWith: refusal)
            case .closed where failed !== sinks.current: break
            case .fatal, .fenced, .closed: throw refusal

            case .recordTooLarge where !wasAlone:
                wasAlone = true
            case .recordTooLarge:
                guard !isBrief else { throw refusal }
                isBrief = true
                log(refusal, of: part, of: outcome, request: request)
                outcome = briefForms.brief(outcome, of: request)

            // Sent again later, the record would stand behind outcomes that were handed over after it.
            default:
                if keepsOrder, part == .event { throw refusal }
                refusals.note(refusal, by: topic)
                await refusals.waitForRetry(of: topic)
            }

            guard let record = record(part, of: outcome) else { return }
            failed = sinks.current
            do throws(KafkaError) {
                try await send(record, to: self.topic(of: part, outcome), alone: wasAlone)
                refusals.clear(record.topic)
                return
            } catch {
                refusal = error
            }
        }
    }

    private func send(
        _ record: ProducerRecord, to topic: ConfirmationWatch.Topic, alone: Bool
    ) async throws(KafkaError) {
        if alone { await turns.enterAlone() } else { await turns.enter() }
        defer { if alone { turns.leaveAlone() } else { turns.leave() } }

        let sink = sinks.current
        let start = ContinuousClock.now
        let receipt = try await sink.handOver(record)
        watch.handedOver(to: topic)
        defer { watch.confirmed(by: topic) }
        _ = try await sink.confirm(receipt)
        meters.kafka.countConfirmed(by: topic, after: start.duration(to: .now))
    }

    private func topic(of part: Part, _ outcome: OutgoingOutcome) -> ConfirmationWatch.Topic {
        part == .deadLetter ? .deadLetters : outcome.eventTopic
    }

    /// Says in the log which topics have stalled, and which have recovered: one line for each change.
    private func announce(_ stalled: [ConfirmationWatch.Topic]) {
        guard stalled != announcedStalls else { return }

        for topic in stalled where !announcedStalls.contains(topic) {
            log.error(
                "a topic confirms no records: check that it exists and that this user may write to it",
                metadata: ["topic": "\(topics.name(of: topic))"])
        }
        for topic in announcedStalls where !stalled.contains(topic) {
            log.info("a topic confirms records again", metadata: ["topic": "\(topics.name(of: topic))"])
        }
        announcedStalls = stalled
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
