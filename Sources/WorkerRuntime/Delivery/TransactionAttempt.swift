internal import Kafka

/// One try to commit a batch of outcomes, together with the offsets behind them.
struct TransactionAttempt {
    /// A record that was handed over, and whose report is still to be read.
    struct Sent {
        let entry: ReadyOutcomes.Entry
        let topic: String
        let kind: ConfirmationWatch.Topic
        let receipt: KafkaProducer.Receipt
        let handedOver: ContinuousClock.Instant
    }

    /// When the brokers had what, for the metrics.
    struct Times {
        /// All records were confirmed, in no order that could be told.
        var confirmed: ContinuousClock.Instant
        var committed: ContinuousClock.Instant
    }

    private static let unconfirmed = KafkaError(
        .timedOut, "no confirmation in time: check that the topic exists and that this user may write to it")

    let batch: [ReadyOutcomes.Entry]
    private(set) var sent: [Sent] = []
    /// The record that was refused before it left, so that no other has a part in it.
    private(set) var refusedAtHandOver: (entry: ReadyOutcomes.Entry, topic: String, error: KafkaError)?
    /// `true` when some records were not confirmed in time, and no report says why: see `ConfirmationWatch`.
    private(set) var isStalled = false
    /// `nil` until the transaction is committed.
    private(set) var times: Times?

    init(_ batch: [ReadyOutcomes.Entry]) { self.batch = batch }

    /// Runs the transaction.
    /// - Parameter member: asked for before the batch was chosen, so that the brokers refuse offsets of partitions that have
    ///   gone to others meanwhile.
    /// - Returns: why it is not committed; `nil` when it is.
    mutating func run(on sink: any OutcomeSink, as member: GroupMembership) async -> KafkaError? {
        do throws(KafkaError) {
            try await sink.beginTransaction()
            for entry in batch { try await handOver(entry, to: sink) }
            guard await sink.flush(within: ConfirmationWatch.patience) else {
                isStalled = true
                return Self.unconfirmed
            }

            let confirmed = ContinuousClock.now
            let offsets = nextOffsets.map { (partition: $0.key.id, next: $0.value) }
            try await sink.sendOffsets(offsets, as: member)
            try await sink.commitTransaction()
            times = Times(confirmed: confirmed, committed: .now)
            for record in sent {
                let position = try await sink.confirm(record.receipt)
                guard let trace = record.entry.request.trace, record.topic == record.entry.outcome.event?.topic else {
                    continue
                }
                trace.noteConfirmed(at: position)
            }
            return nil
        } catch {
            return error
        }
    }

    /// The offset to continue from in each partition, once the transaction is committed.
    var nextOffsets: [AssignedPartition: Int64] {
        var next: [AssignedPartition: Int64] = [:]
        for entry in batch { next[entry.request.partition.id] = entry.request.offset + 1 }
        return next
    }

    private mutating func handOver(_ entry: ReadyOutcomes.Entry, to sink: any OutcomeSink) async throws(KafkaError) {
        let outcome = entry.outcome
        for (record, kind) in outcome.records {
            do throws(KafkaError) {
                let start = ContinuousClock.now
                let receipt = try await sink.handOver(record)
                sent.append(
                    Sent(
                        entry: entry, topic: record.topic, kind: kind, receipt: receipt, handedOver: start))
            } catch {
                refusedAtHandOver = (entry, record.topic, error)
                throw error
            }
        }
    }
}
