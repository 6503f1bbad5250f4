internal import Basics
internal import EventLoop
internal import Kafka

/// One try to commit a batch of outcomes, together with the offsets behind them.
struct TransactionAttempt {
    /// A record that was handed over, and whose report is still to be read.
    struct Sent {
        let entry: ReadyOutcomes.Entry
        let topic: String
        let kind: DeliveryStallDetector.Topic
        let receipt: KafkaProducer.Receipt
        let handedOver: Instant
    }

    /// The instants at which the brokers had each step, for the metrics.
    struct Times {
        /// All records were confirmed, in no order that could be told.
        var confirmed: Instant
        var committed: Instant
    }

    /// Why it is aborted when the group has taken a partition of it away before its offsets were sent.
    static let partitionsAreGone = KafkaError(
        .abortable, "the group took partitions of the transaction away before its offsets were sent")
    private static let unconfirmed = KafkaError(.timedOut, "no broker confirmed the records in time")

    private let loop: EventLoop
    let batch: [ReadyOutcomes.Entry]
    /// Where the group continues in each partition once the transaction is committed.
    let nextOffsets: [AssignedPartition: CommittedOffset]
    private(set) var sent: [Sent] = []
    /// The record that was refused before it left, so that no other has a part in it.
    private(set) var refusedAtHandOver: (entry: ReadyOutcomes.Entry, topic: String, error: KafkaError)?
    /// How long the records were waited for in vain, and no report says why: see `DeliveryStallDetector`. `nil` where all had a
    /// report in time.
    private(set) var stall: Duration?
    /// `true` from the first call to commit on until it is answered: without an answer, nobody here knows whether the
    /// transaction has taken effect.
    private(set) var isCommitting = false
    /// `nil` until the transaction is committed.
    private(set) var times: Times?
    private var confirmed: Instant?

    /// - Parameter batch: may be empty where only offsets are to be committed.
    init(_ batch: [ReadyOutcomes.Entry], offsets: [AssignedPartition: CommittedOffset], loop: EventLoop) {
        self.batch = batch
        nextOffsets = offsets
        self.loop = loop
    }

    /// Begins the transaction, and hands all records over.
    /// - Parameter timeout: how long they may take to be confirmed.
    /// - Returns: why they are not all confirmed; `nil` when they are.
    mutating func publish(on sink: any OutcomeSink, within timeout: Duration) async -> KafkaError? {
        do throws(KafkaError) {
            try await sink.beginTransaction()
            for entry in batch { try await handOver(entry, to: sink) }
            let start = loop.now
            guard await sink.flush(within: timeout) else {
                stall = start.duration(to: loop.now)
                return Self.unconfirmed
            }

            confirmed = loop.now
            return nil
        } catch {
            return error
        }
    }

    /// Adds the group's offsets to the transaction, whose records are all confirmed.
    /// - Returns: why the brokers do not have them; `nil` when they do.
    func sendOffsets(on sink: any OutcomeSink, as member: GroupMembership) async -> KafkaError? {
        let offsets = nextOffsets.map { (partition: $0.key.id, next: $0.value) }
        do throws(KafkaError) {
            try await sink.sendOffsets(offsets, as: member)
            return nil
        } catch {
            return error
        }
    }

    /// Commits the transaction, whose records and offsets the brokers have. May be called again while no answer came.
    /// - Returns: why it is not committed; `nil` when it is.
    mutating func commit(on sink: any OutcomeSink) async -> KafkaError? {
        isCommitting = true
        do throws(KafkaError) {
            try await sink.commitTransaction()
            isCommitting = false
            times = Times(confirmed: confirmed ?? loop.now, committed: loop.now)
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

    private mutating func handOver(_ entry: ReadyOutcomes.Entry, to sink: any OutcomeSink) async throws(KafkaError) {
        let outcome = entry.outcome
        for (record, kind) in outcome.records {
            do throws(KafkaError) {
                let start = loop.now
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
