internal import EventContract
package import Kafka

/// The consumer interface that a lane uses: records to read, rebalances, and offsets to commit.
///
/// `KafkaConsumer` implements it; unit tests use a fake. Every call is safe from any task.
package protocol RequestSource: Sendable {
    /// Joins the group. Called once, before any read.
    /// - Throws: an error if the topics or the group cannot be subscribed to.
    func subscribe(to topics: [String], listener: any RebalanceListener) async throws(KafkaError)

    /// Waits until at least one record can be read, and returns at most `max` of them.
    /// - Returns: an empty array after `stopReading`.
    /// - Throws: an error after which nothing more can be read (`fatal`, `fenced`).
    func records(max: Int) async throws(KafkaError) -> [ConsumerRecord]

    /// The error that ends all reading (`fatal`, `fenced`), which `records` throws; `nil` if there is none.
    var failure: KafkaError? { get async }

    /// Stops reading permanently. The member keeps its partitions.
    func stopReading() async

    /// Pauses fetching from a partition until `resume`.
    func hold(_ partition: AssignedPartition) async
    func resume(_ partition: AssignedPartition) async

    /// Stores offsets for the next `commit`. Ignores partitions whose assignment has ended.
    func store(_ offsets: [(partition: AssignedPartition, next: CommittedOffset)]) async

    /// Commits the stored offsets, and waits at most `bound` for the broker's answer.
    /// - Throws: the reason why some of them are not committed; the next call retries.
    @discardableResult
    func commit(within bound: Duration) async throws(KafkaError) -> [AssignedPartition: Int64]

    /// The reasons why the brokers refuse the offsets of single partitions. Each commit retries them.
    var refusedCommits: [AssignedPartition: KafkaError] { get async }

    /// Registers an offset that is committed if a fault of the process crashes it while it runs on this lane's loop. No
    /// other commit of the partition may be pending then.
    /// - Parameter commit: `nil` removes the registration.
    func commitOnCrash(_ commit: (partition: AssignedPartition, next: CommittedOffset)?) async

    /// Records offsets that a transaction has committed, for `positions`.
    func noteCommitted(_ offsets: [(partition: AssignedPartition, next: Int64)]) async

    /// Fetches the group's committed offsets. Waits for offsets that an open transaction is about to commit.
    /// - Returns: the offsets by partition, without partitions for which nothing was ever committed.
    /// - Throws: the reason why the brokers did not answer within `bound`; a retry is safe.
    func committedOffsets(
        of assigned: [AssignedPartition], within bound: Duration
    ) async throws(KafkaError) -> [AssignedPartition: CommittedOffset]

    /// The member's identity in the group's current generation; `nil` without an assignment in it, and when the
    /// assignment is lost. A caller that commits offsets with it must check after this call that it still owns their
    /// partitions.
    var membership: GroupMembership? { get async }
    var positions: [KafkaConsumer.Position] { get async }
    var brokersAreDown: Bool { get async }
    /// The reason why the group refuses this member, as one line for an operator; `nil` if it has not refused it.
    var groupRefusal: String? { get async }

    /// The client's statistics of the last complete interval; `nil` before that, or without statistics.
    var statistics: ClientStatistics? { get }

    /// Returns the number of partitions of a topic; `nil` until a broker has reported it.
    func partitionCount(of topic: String) async -> Int?

    /// Returns the names of all topics that the worker may describe; `nil` if no broker answers within 2 s.
    func existingTopics() async -> Set<String>?

    /// Asks the brokers for the state of a topic. Takes at most 2 s.
    func diagnosis(of topic: String) async -> TopicDiagnosis

    /// Leaves the group and frees the client. Waits at most `bound` for the brokers.
    func close(within bound: Duration) async
}

extension KafkaConsumer: RequestSource {}

/// The time at which records were taken from the consumer. Read once for all records of one read.
struct RecordArrival {
    /// By the loop's clock, for measuring durations.
    let instant: Instant
    /// By the wall clock, for comparing with the timestamps of records.
    let time: WallTime

    /// Returns the time that a record has waited in its topic, by its timestamp. Zero if the timestamp is in the
    /// future, `nil` if there is none.
    func wait(of record: ConsumerRecord) -> Duration? {
        record.time.map { max(.zero, time.duration(since: $0)) }
    }
}
