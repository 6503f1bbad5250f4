internal import Basics
internal import Kafka

/// Publishes the outcomes of a lane, and has offsets committed behind them. `worker.delivery` chooses one of two for good:
/// `AtLeastOnceDelivery` or `TransactionalDelivery`.
///
/// `deliver` takes a request over: the delivery finishes it at the partition table, which makes room at the intake. Confined to its lane; not `Sendable`.
protocol OutcomeDelivery: AnyObject {
    /// `false` while nothing new may begin, because what is finished cannot be published or committed in time. Time alone
    /// can make it `false`; the gate is woken when it turns `true`.
    var acceptsRequests: Bool { get }

    /// The producer that outcomes are handed to at present.
    var sink: any OutcomeSink { get }

    /// How the delivery fares, for `/readyz` and `/status`.
    var status: DeliveryStatus { get }

    /// Does what can fail before the group is joined.
    func prepare() async throws(KafkaError)

    /// Commits what is finished until `finish` was called.
    /// - Throws: what ends the worker.
    func run() async throws(KafkaError)

    /// Publishes a request's outcome, and finishes the request once it is delivered. Returns at once.
    func deliver(_ outcome: OutgoingOutcome, of request: RequestInProgress)

    /// Called for each outcome that has to wait for something: it has a task call `deliverNext`. Set before `deliver` is
    /// called.
    var onWaiting: () -> Void { get set }

    /// Waits for whatever the outcome needs that has waited longest, and delivers it.
    /// - Throws: what ends the worker.
    func deliverNext() async throws(KafkaError)

    /// Commits all that is finished, as far as the brokers take it.
    func commitFinished() async

    /// Has the offsets behind records that a former owner had done committed soon, although no outcome follows them.
    func commitPassedOver()

    /// Has the notes of partitions committed soon that have some: see `CrashWatch`. `PartitionTable.waitUntilNoted` waits for them.
    func commitNotes() async

    /// Hands what is finished to the consumer, whose own commit before it leaves takes it along.
    func storeFinished() async

    /// Waits until it is certain what the group has committed of partitions that were just assigned, as far as that depends on
    /// this lane. Their offsets are asked for afterwards.
    func waitUntilCertain(of assigned: [AssignedPartition]) async

    /// Waits while offsets of these partitions, which are no longer ours, are on their way to the brokers. The loss is
    /// acknowledged afterwards.
    func waitUntilArrived(of revoked: [AssignedPartition]) async

    /// Drops what it holds of a partition that is no longer ours.
    func forget(_ partition: OwnedPartition)

    /// Begins the end: no call may take time beyond `end` by much, one under way among them.
    func limit(to end: Instant) async

    /// Commits what is left, as far as the brokers take it before `end`, and has `run` return.
    func finish(before end: Instant) async

    /// Ends everything at once after a fatal failure: nothing more is published.
    func stop()

    /// Commits what was delivered before a fatal failure, and that this owner ends in order, where the brokers take it at once.
    /// Follows `stop`.
    func commitAfterFailure() async

    /// Gives the calls to the brokers that are under way no further time. Follows `stop`.
    func cutCallsShort() async

    /// Gives up what is not confirmed and frees the producer. Outcomes that still wait are given up.
    /// - Parameters:
    ///   - bound: what the brokers have yet to confirm is waited for no longer.
    ///   - hasFailed: then nothing more is written.
    func close(within bound: Duration, hasFailed: Bool) async
}

/// How outcomes get to the brokers at a moment.
struct DeliveryStatus {
    /// How long nothing new begins because what is finished cannot be committed; `nil` while it can.
    var commitOverdue: Duration?
    /// Why outcomes cannot be written at present, as one line for a person; `nil` while they can.
    var problem: String?
    /// The topics that take or confirm no records, while brokers answer.
    var blockedTopics: [String] = []
}

extension [String] {
    /// The problems as one line; `nil` where there is none.
    var joinedAsProblem: String? { isEmpty ? nil : joined(separator: "; ") }
}
