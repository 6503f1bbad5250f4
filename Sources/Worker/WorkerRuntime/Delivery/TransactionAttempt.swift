internal import EventLoop
internal import Kafka

/// One attempt to commit a batch of outcomes, together with their offsets.
struct TransactionAttempt {
    /// A record that was enqueued and whose delivery report has not been read.
    struct Sent {
        let entry: ReadyOutcomes.Entry
        let topic: String
        let kind: DeliveryStallDetector.Topic
        let receipt: KafkaProducer.Receipt
        let handedOver: Instant
    }

    /// The reason for aborting when a partition was revoked before its offsets were sent.
    static let partitionsWereRevoked = KafkaError(
        .abortable, "partitions of the transaction were revoked before its offsets were sent")
    private static let unconfirmed = KafkaError(.timedOut, "the brokers did not confirm the records in time")

    private let loop: EventLoop
    let batch: [ReadyOutcomes.Entry]
    /// The offset to commit for each partition.
    let nextOffsets: [AssignedPartition: CommittedOffset]
    private(set) var sent: [Sent] = []
    /// The record that was refused before it was sent, so that the refusal concerns no other record.
    private(set) var refusedAtHandOver: (entry: ReadyOutcomes.Entry, topic: String, error: KafkaError)?
    /// The time spent waiting for delivery reports that never came: see `DeliveryStallDetector`. `nil` if all came in
    /// time.
    private(set) var stall: Duration?
    /// `true` from the first call to commit until it is answered. Without an answer, it is unknown whether the
    /// transaction has taken effect.
    private(set) var isCommitting = false
    /// The times at which all records were acknowledged, in unknown order, and the commit was; `nil` until then.
    private var confirmed: Instant?
    private(set) var committed: Instant?

    /// - Parameter batch: empty to commit offsets only.
    init(_ batch: [ReadyOutcomes.Entry], offsets: [AssignedPartition: CommittedOffset], loop: EventLoop) {
        self.batch = batch
        nextOffsets = offsets
        self.loop = loop
    }

    /// Begins the transaction and enqueues all records.
    /// - Parameter timeout: the longest wait for their delivery reports.
    /// - Returns: the reason why not all records are acknowledged; `nil` if they are.
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

    /// Adds the group's offsets to the transaction. Call it when all records are acknowledged.
    /// - Returns: the reason why the brokers do not have the offsets; `nil` if they do.
    func sendOffsets(on sink: any OutcomeSink, as member: GroupMembership) async -> KafkaError? {
        let offsets = nextOffsets.map { (partition: $0.key.id, next: $0.value) }
        do throws(KafkaError) {
            try await sink.sendOffsets(offsets, as: member)
            return nil
        } catch {
            return error
        }
    }

    /// Commits the transaction. Call it when the brokers have the records and offsets; it may be called again while no
    /// answer comes.
    /// - Returns: the reason why the transaction is not committed; `nil` if it is.
    mutating func commit(on sink: any OutcomeSink) async -> KafkaError? {
        isCommitting = true
        do throws(KafkaError) {
            try await sink.commitTransaction()
            isCommitting = false
            committed = loop.now
            for record in sent {
                let position = try await sink.confirm(record.receipt)
                guard let trace = record.entry.request.trace, record.topic == record.entry.request.outcome.event?.topic
                else {
                    continue
                }
                trace.noteConfirmed(at: position)
            }
            return nil
        } catch {
            return error
        }
    }

    /// The time from the first record to the last acknowledgement; `nil` without records.
    var publishingTime: Duration? { confirmed.flatMap { sent.first?.handedOver.duration(to: $0) } }

    /// Counts a committed transaction and its records. All records count as acknowledged at the same time, because
    /// their own times are not known.
    func count(in meters: KafkaMeters) {
        guard let confirmed, let committed else { return }

        meters.countCommit(of: nextOffsets.keys, after: confirmed.duration(to: committed))
        for record in sent {
            meters.countConfirmed(by: record.kind, after: record.handedOver.duration(to: confirmed))
            if record.kind == .deadLetters { meters.countDeadLetter() }
        }
    }

    private mutating func handOver(_ entry: ReadyOutcomes.Entry, to sink: any OutcomeSink) async throws(KafkaError) {
        for (record, kind) in entry.request.outcome.records {
            do throws(KafkaError) {
                let start = loop.now
                let receipt = try await sink.handOver(record)
                sent.append(
                    Sent(entry: entry, topic: record.topic, kind: kind, receipt: receipt, handedOver: start))
            } catch {
                refusedAtHandOver = (entry, record.topic, error)
                throw error
            }
        }
    }
}
