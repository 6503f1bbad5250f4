internal import EventLoop
internal import Kafka
internal import Logging

/// The parts with which a lane publishes outcomes and commits offsets. `worker.delivery` chooses them once.
struct LaneDelivery {
    let outcomes: any OutcomePublisher
    let offsets: any OffsetCommitter
    /// The same object as `outcomes` for `at-least-once`, where some outcomes wait for a task each; otherwise `nil`.
    let atLeastOnce: AtLeastOnceDelivery?
    /// The same object as both of the above for `exactly-once`. Otherwise `nil`: a commit that is late moves the offset
    /// only past delivered outcomes, so nobody has to wait for it.
    let transactions: TransactionalDelivery?
}

/// The parts from which a lane's delivery is assembled.
struct DeliveryParts {
    let sink: any OutcomeSink
    /// Makes a producer like `sink`; `nil` if a failed producer is not replaced.
    let makeSink: SinkMaker?
    /// Makes a producer whose batches hold one record each; `nil`: not used.
    let makeSingleSink: SinkMaker?
    let source: any RequestSource
    let partitions: PartitionTable
    let gate: IntakeGate
    let configuration: WorkerConfiguration
    let loop: EventLoop
    let meters: WorkerMeters
    let log: Logger

    /// Makes the kind of delivery that `worker.delivery` names.
    func makeDelivery() -> LaneDelivery {
        let diagnostics = TopicDiagnostics(source: source, loop: loop)
        let backoff = TopicBackoff(
            deadLetters: configuration.topics.deadLetters, diagnostics: diagnostics, gate: gate, loop: loop, log: log)
        let sinks = ReplaceableSink(sink, makeSink: makeSink, loop: loop, meters: meters, log: log)
        switch configuration.delivery {
        case .atLeastOnce:
            let commits = CommitLoop(
                interval: configuration.commitInterval, source: source, partitions: partitions, gate: gate,
                loop: loop, meters: meters, log: log)
            let outcomes = AtLeastOnceDelivery(
                sinks: sinks, singles: makeSingles(), commits: commits, backoff: backoff, diagnostics: diagnostics,
                partitions: partitions, gate: gate, configuration: configuration, loop: loop, meters: meters, log: log)
            return LaneDelivery(outcomes: outcomes, offsets: commits, atLeastOnce: outcomes, transactions: nil)
        case .exactlyOnce:
            let transactions = TransactionalDelivery(
                sinks: sinks, source: source, backoff: backoff, partitions: partitions, gate: gate,
                configuration: configuration, loop: loop, meters: meters, log: log)
            return LaneDelivery(
                outcomes: transactions, offsets: transactions, atLeastOnce: nil, transactions: transactions)
        }
    }

    private func makeSingles() -> SingleRecordWriter {
        guard let makeSingleSink else { return SingleRecordWriter(nil, log: log) }

        let (loop, meters, log) = (loop, meters, log)
        return SingleRecordWriter(
            { () throws(KafkaError) in
                ReplaceableSink(
                    try makeSingleSink(), makeSink: makeSingleSink, loop: loop, meters: meters, log: log)
            }, log: log)
    }
}
