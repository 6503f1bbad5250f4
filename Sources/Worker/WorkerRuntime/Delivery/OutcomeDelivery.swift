internal import Basics
internal import Kafka

/// Publishes the outcomes of a lane and commits their offsets. `worker.delivery` chooses the implementation once:
/// `AtLeastOnceDelivery` or `TransactionalDelivery`.
///
/// `deliver` takes over a request. The delivery later finishes it in the partition table, which makes room for new
/// requests. Confined to its lane; not `Sendable`.
protocol OutcomeDelivery: AnyObject {
    /// `false` while no request may begin, because finished work cannot be published or committed in time. It may
    /// become `false` with time alone; the gate is woken when it becomes `true`.
    var acceptsRequests: Bool { get }

    /// The producer that takes outcomes at present.
    var sink: any OutcomeSink { get }

    /// The state of the delivery, for `/readyz` and `/status`.
    var status: DeliveryStatus { get }

    /// Performs the steps that can fail before the lane joins the group.
    func prepare() async throws(KafkaError)

    /// Commits finished work until `finish` is called.
    /// - Throws: an error that ends the worker.
    func run() async throws(KafkaError)

    /// Publishes a request's outcome, and finishes the request once it is delivered. Returns at once.
    func deliver(_ outcome: OutgoingOutcome, of request: RequestInProgress)

    /// Called for each outcome that has to wait. The handler starts a task that calls `deliverNext`. Set it before
    /// calling `deliver`.
    var onWaiting: () -> Void { get set }

    /// Delivers the outcome that has waited longest, after waiting for what that outcome needs.
    /// - Throws: an error that ends the worker.
    func deliverNext() async throws(KafkaError)

    /// Commits everything that is finished, as far as the brokers accept it.
    func commitFinished() async

    /// Requests an early commit of the offsets behind records that a former owner had done, although no outcome follows
    /// them.
    func commitPassedOver()

    /// Requests an early commit of partitions with crash notes: see `CrashWatch`. `PartitionTable.waitUntilNoted` waits
    /// for it.
    func commitNotes() async

    /// Stores finished offsets in the consumer, which commits them before it leaves the group.
    func storeFinished() async

    /// Waits until the group's committed offsets of newly assigned partitions are certain, as far as that depends on
    /// this lane. The caller fetches the offsets afterwards.
    func waitUntilCertain(of assigned: [AssignedPartition]) async

    /// Waits while offsets of revoked partitions are in flight to the brokers. The caller acknowledges the revocation
    /// afterwards.
    func waitUntilArrived(of revoked: [AssignedPartition]) async

    /// Drops the waiting outcomes of a revoked partition.
    func forget(_ partition: OwnedPartition)

    /// Begins the shutdown: no call, including one in flight, may last much beyond `end`.
    func limit(to end: Instant) async

    /// Commits the rest, as far as the brokers accept it before `end`, and makes `run` return.
    func finish(before end: Instant) async

    /// Ends everything at once after a fatal failure: nothing more is published.
    func stop()

    /// Commits what was delivered before a fatal failure, and the note that this owner has ended in order, if the
    /// brokers accept it at once. Call it after `stop`.
    func commitAfterFailure() async

    /// Ends the waits for broker calls that are in flight. Call it after `stop`.
    func cutCallsShort() async

    /// Abandons unconfirmed and waiting outcomes, and frees the producer.
    /// - Parameters:
    ///   - bound: the longest wait for delivery reports.
    ///   - hasFailed: `true` after a fatal failure: nothing more is written.
    func close(within bound: Duration, hasFailed: Bool) async
}

/// The state of a lane's delivery at one moment.
struct DeliveryStatus {
    /// The time for which intake has been paused because finished work cannot be committed; `nil` while it can.
    var commitOverdue: Duration?
    /// The reason why outcomes cannot be written at present, as one line for an operator; `nil` while they can.
    var problem: String?
    /// The topics that accept or acknowledge no records although the brokers answer.
    var blockedTopics: [String] = []
}

extension [String] {
    /// Joins the problems to one line; `nil` if there are none.
    var joinedAsProblem: String? { isEmpty ? nil : joined(separator: "; ") }
}
