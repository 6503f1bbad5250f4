public import Basics
public import Kafka

/// The producer as a lane needs it. `KafkaProducer` is the real one; unit tests drive a lane with a sink of their own.
///
/// Every call but `handOverAtOnce` is safe from any task.
public protocol OutcomeSink: AnyObject, Sendable {
    /// Begins to serve what the brokers report, before the first record is handed over.
    func start() async

    /// Puts a record into the local queue where there is room at once. For callers on the sink's loop.
    /// - Parameter report: called once with what became of the record, on the loop and outside any task.
    /// - Returns: `false` where the record cannot be put there now. `report` is then never called, and `handOver` says why,
    ///   or waits.
    func handOverAtOnce(_ record: ProducerRecord, report: @escaping (KafkaProducer.Report) -> Void) -> Bool

    /// Puts a record into the local queue, in the order of the calls. Waits while the queue is full.
    /// - Returns: a receipt, good for one `confirm`. Each must be confirmed.
    /// - Throws: `KafkaError` that says why the record cannot be written.
    func handOver(_ record: ProducerRecord) async throws(KafkaError) -> KafkaProducer.Receipt

    /// Returns once the brokers have confirmed the record.
    /// - Throws: `KafkaError` that says why it is not, or may not be, written.
    func confirm(_ receipt: KafkaProducer.Receipt) async throws(KafkaError) -> RecordPosition

    /// The number of records handed over and not yet confirmed.
    var undelivered: Int { get async }

    /// The size of their values.
    var undeliveredBytes: Int { get async }

    /// The client's figures at the end of its last statistics interval; `nil` before that, or without one.
    var statistics: ClientStatistics? { get }

    /// Waits until no record is unconfirmed. With transactions, it never waits longer than half of the transaction's timeout.
    /// - Returns: `false` when `bound` passed first.
    func flush(within bound: Duration) async -> Bool

    /// Frees the client. Records that are not confirmed by then end as `closed`.
    func close() async

    func initTransactions() async throws(KafkaError)
    func beginTransaction() async throws(KafkaError)
    func sendOffsets(
        _ offsets: [(partition: TopicPartition, next: CommittedOffset)], as member: GroupMembership
    ) async throws(KafkaError)
    func commitTransaction() async throws(KafkaError)
    func abortTransaction() async throws(KafkaError)

    /// Gives no call about a transaction time beyond `instant`, one under way among them.
    func endTransactions(by instant: Instant) async
}

extension KafkaProducer: OutcomeSink {}
