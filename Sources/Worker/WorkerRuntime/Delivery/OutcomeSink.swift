package import Kafka

/// The producer interface that a lane uses. `KafkaProducer` implements it; unit tests use a fake.
///
/// Every call except `handOverAtOnce` is safe from any task.
package protocol OutcomeSink: AnyObject, Sendable {
    /// Begins to serve broker events, before the first record is enqueued.
    func start() async

    /// Enqueues a record locally if there is room at once. Call it on the sink's loop.
    /// - Parameter report: called once with the delivery report, on the loop and outside any task.
    /// - Returns: `false` if the record cannot be enqueued now. `report` is then never called; `handOver` throws the
    ///   reason or waits.
    func handOverAtOnce(_ record: ProducerRecord, report: @escaping (KafkaProducer.Report) -> Void) -> Bool

    /// Enqueues a record locally, in the order of the calls. Waits while the queue is full.
    /// - Returns: a receipt for exactly one `confirm`. Every receipt must be confirmed.
    /// - Throws: the reason why the record cannot be written.
    func handOver(_ record: ProducerRecord) async throws(KafkaError) -> KafkaProducer.Receipt

    /// Returns once the brokers have acknowledged the record.
    /// - Throws: the reason why the record is not written, or may not be.
    func confirm(_ receipt: KafkaProducer.Receipt) async throws(KafkaError) -> RecordPosition

    /// The number of unconfirmed records.
    var undelivered: Int { get async }

    /// The client's statistics of the last complete interval; `nil` before that, or without statistics.
    var statistics: ClientStatistics? { get }

    /// Waits until no record is unconfirmed. With transactions, it waits for at most half of the transaction timeout.
    /// - Returns: `false` if `bound` passed first.
    func flush(within bound: Duration) async -> Bool

    /// Frees the client. Records that are unconfirmed by then fail with `closed`.
    func close() async

    func initTransactions() async throws(KafkaError)
    func beginTransaction() async throws(KafkaError)
    func sendOffsets(
        _ offsets: [(partition: TopicPartition, next: CommittedOffset)], as member: GroupMembership
    ) async throws(KafkaError)
    func commitTransaction() async throws(KafkaError)
    func abortTransaction() async throws(KafkaError)

    /// Sets a deadline for all transactional calls, including one in flight.
    func endTransactions(by instant: Instant) async
}

/// Makes a producer on a lane's loop.
package typealias SinkMaker = @Sendable () throws(KafkaError) -> any OutcomeSink

extension KafkaProducer: OutcomeSink {}
