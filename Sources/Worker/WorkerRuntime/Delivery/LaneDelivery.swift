internal import EventLoop
internal import Kafka
internal import Logging

/// The parts with which a lane publishes outcomes and commits offsets. `worker.delivery` chooses them once.
struct LaneDelivery {
    let outcomes: any OutcomePublisher
    let offsets: any OffsetCommitter
    /// The same object as `outcomes` for `at-least-once`, where some outcomes wait for a task each; otherwise `nil`.
    let atLeastOnce: AtLeastOnceDelivery?
    /// The same object as both of the above for `exactly-once`. Otherwise `nil`: a late commit moves the offset only
    /// past delivered outcomes, so no other step waits for it.
    let transactions: TransactionalDelivery?

    /// Makes the kind of delivery that `worker.delivery` names.
    /// - Parameters:
    ///   - makeSink: makes a producer like `sink`; `nil` if a failed producer is not replaced.
    ///   - makeSingleSink: makes a producer whose batches hold one record each; `nil`: not used.
    init(
        sink: any OutcomeSink, makeSink: SinkMaker?, makeSingleSink: SinkMaker?, source: any RequestSource,
        partitions: PartitionTable, gate: IntakeGate, configuration: WorkerConfiguration, loop: EventLoop,
        meters: WorkerMeters, log: Logger
    ) {
        let diagnostics = TopicDiagnostics(source: source, loop: loop)
        let backoff = TopicBackoff(
            deadLetters: configuration.topics.deadLetters, diagnostics: diagnostics, gate: gate, loop: loop, log: log)
        let sinks = ReplaceableSink(sink, makeSink: makeSink, loop: loop, meters: meters, log: log)
        switch configuration.delivery {
        case .atLeastOnce:
            let commits = CommitLoop(
                interval: configuration.commitInterval, source: source, partitions: partitions, gate: gate,
                loop: loop, meters: meters, log: log)
            let singles = SingleRecordWriter(makeSingleSink, loop: loop, meters: meters, log: log)
            let outcomes = AtLeastOnceDelivery(
                sinks: sinks, singles: singles, commits: commits, backoff: backoff, diagnostics: diagnostics,
                partitions: partitions, gate: gate, configuration: configuration, loop: loop, meters: meters, log: log)
            (self.outcomes, offsets, atLeastOnce, transactions) = (outcomes, commits, outcomes, nil)
        case .exactlyOnce:
            let delivery = TransactionalDelivery(
                sinks: sinks, source: source, backoff: backoff, partitions: partitions, gate: gate,
                configuration: configuration, loop: loop, meters: meters, log: log)
            (outcomes, offsets, atLeastOnce, transactions) = (delivery, delivery, nil, delivery)
        }
    }
}
