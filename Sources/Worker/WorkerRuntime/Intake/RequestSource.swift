public import Kafka

/// The consumer as a lane needs it: records to read, partitions that come and go, and offsets to commit.
///
/// `KafkaConsumer` is the real one; unit tests drive a lane with a source of their own. Every call is safe from any task.
public protocol RequestSource: Sendable {
    /// Joins the group. Called once, before anything is read.
    /// - Throws: `KafkaError` when the topics or the group cannot be subscribed to.
    func subscribe(to topics: [String], listener: any RebalanceListener) async throws(KafkaError)

    /// Waits until at least one record can be read, and returns at most `max` of them.
    /// - Returns: an empty array once `stopReading` was called.
    /// - Throws: `KafkaError` when nothing more can be read (`fatal`, `fenced`).
    func records(max: Int) async throws(KafkaError) -> [ConsumerRecord]

    /// The error that ends all reading (`fatal`, `fenced`), which `records` throws; `nil` while records may come.
    var failure: KafkaError? { get async }

    /// Ends reading for good. Membership and partitions stay.
    func stopReading() async

    /// Leaves a partition's records with the brokers until `resume`.
    func hold(_ partition: AssignedPartition) async
    func resume(_ partition: AssignedPartition) async

    /// Notes where to continue, for the next `commit`. Partitions whose assignment is over are left out.
    func store(_ offsets: [(partition: AssignedPartition, next: CommittedOffset)]) async

    /// Commits what is stored, and waits at most `bound` for the broker's answer.
    /// - Throws: `KafkaError` that says why something of it is not committed; the next call tries again.
    @discardableResult
    func commit(within bound: Duration) async throws(KafkaError) -> [AssignedPartition: Int64]

    /// Why the brokers refuse to commit offsets of single partitions. They are tried again with each commit.
    var refusedCommits: [AssignedPartition: KafkaError] { get async }

    /// Has an offset committed if the process crashes from now on by a fault of its own, while it runs on this lane's loop. Nothing else
    /// of the partition may be about to be committed then.
    /// - Parameter commit: `nil`: none any more.
    func commitOnCrash(_ commit: (partition: AssignedPartition, next: CommittedOffset)?) async

    /// Notes offsets that a transaction has committed, so that `positions` shows them.
    func noteCommitted(_ offsets: [(partition: AssignedPartition, next: Int64)]) async

    /// Asks which offsets the group has committed, and waits for those that an open transaction is about to commit.
    /// - Returns: no offset for a partition of which nothing was ever committed.
    /// - Throws: `KafkaError` that says why the brokers did not answer within `bound`; asking again is safe.
    func committedOffsets(
        of assigned: [AssignedPartition], within bound: Duration
    ) async throws(KafkaError) -> [AssignedPartition: CommittedOffset]

    /// The member's identity in the group's present generation; `nil` without an assignment, and when it is lost. A caller
    /// that commits partitions in its name must still own them after this call.
    var membership: GroupMembership? { get async }
    var positions: [KafkaConsumer.Position] { get async }
    var brokersAreDown: Bool { get async }
    /// Why the group does not take this member in, as one line for a person; `nil` where it has not refused to.
    var groupRefusal: String? { get async }

    /// The client's figures at the end of its last statistics interval; `nil` before that, or without one.
    var statistics: ClientStatistics? { get }

    /// The number of partitions that a topic has; `nil` while no broker says.
    func partitionCount(of topic: String) async -> Int?

    /// Asks the brokers what is wrong with a topic, within 2 s.
    func diagnosis(of topic: String) async -> TopicDiagnosis

    /// Leaves the group and frees the client, waiting at most `bound` for the brokers.
    func close(within bound: Duration) async
}

extension KafkaConsumer: RequestSource {}
