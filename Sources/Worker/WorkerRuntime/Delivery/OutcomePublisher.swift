internal import Kafka

/// Publishes the outcomes of a lane.
///
/// `deliver` takes over a request. It is later finished in the partition table, which makes room for new requests.
/// Confined to its lane; not `Sendable`.
protocol OutcomePublisher: AnyObject {
    /// `false` while no request may begin, because finished work cannot be published or committed in time. It may
    /// become `false` with time alone; the gate is woken when it becomes `true`.
    var acceptsRequests: Bool { get }

    /// The producer that takes outcomes at present.
    var sink: any OutcomeSink { get }

    /// The state of the delivery, for `/readyz` and `/status`.
    var status: DeliveryStatus { get }

    /// Performs the steps that can fail before the lane joins the group.
    func prepare() async throws(KafkaError)

    /// Publishes a request's outcome, and finishes the request once it is delivered. Returns at once.
    func deliver(_ request: RequestInProgress)

    /// Ends the delivery at once after a fatal failure: no further outcome is published.
    func stop()

    /// Abandons unconfirmed and waiting outcomes, and frees the producer.
    /// - Parameters:
    ///   - bound: the longest wait for delivery reports.
    ///   - hasFailed: `true` after a fatal failure: nothing more is written.
    func close(within bound: Duration, hasFailed: Bool) async
}

/// Commits the offsets of a lane's finished requests. Confined to its lane; not `Sendable`.
protocol OffsetCommitter: AnyObject {
    /// Commits finished work until `finish` is called.
    /// - Throws: an error that ends the worker.
    func run() async throws(KafkaError)

    /// Commits everything that is finished, as far as the brokers accept it.
    func commitFinished() async

    /// Requests an early commit of partitions with crash notes: see `CrashWatch`. `PartitionTable.waitUntilNoted` waits
    /// for it.
    func commitNotes() async

    /// Stores finished offsets in the consumer, which commits them before it leaves the group.
    func storeFinished() async

    /// Commits the rest, as far as the brokers accept it before `end`, and makes `run` return.
    func finish(before end: Instant) async

    /// Commits what was delivered before a fatal failure, and the note that this owner has ended in order, if the
    /// brokers accept it at once. Call it after `OutcomePublisher.stop`.
    func commitAfterFailure() async
}

/// The state of a lane's delivery at one moment.
package struct DeliveryStatus: Sendable, Hashable {
    /// The time for which intake has been paused because finished work cannot be committed; `nil` while it can.
    package var commitOverdue: Duration?
    /// The reason why outcomes cannot be written at present, as one line for an operator; `nil` while they can. Short
    /// interruptions do not count.
    package var problem: String?
    /// The topics that accept or acknowledge no records although the brokers answer.
    package var blockedTopics: [String] = []
}

extension [String] {
    /// Joins the problems to one line; `nil` if there are none.
    var joinedAsProblem: String? { isEmpty ? nil : joined(separator: "; ") }
}
