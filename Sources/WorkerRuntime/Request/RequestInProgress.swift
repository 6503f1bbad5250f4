internal import Basics
internal import EventContract
internal import Kafka
internal import Logging
internal import ProviderCalls

/// One request from its record to its delivered outcome. Confined to its lane; not `Sendable`.
final class RequestInProgress {
    /// What is to become of a request.
    enum Fate {
        /// Its outcome will be published.
        case wanted
        /// A newer request of its session came: its outcome says `superseded`.
        case superseded
        /// Its partition is no longer ours, or the worker gave up waiting: it has no outcome, and its offset stays
        /// uncommitted.
        case abandoned
    }

    let record: IncomingRecord
    /// When the record was taken.
    let takenAt: Instant
    /// How long the record had waited in its topic by then; `nil` where its timestamp is not known.
    let topicWait: Duration?
    let partition: OwnedPartition
    let slot: OffsetTracker.Slot
    /// The request's turn to have its outcome handed over; `nil` where outcomes leave in any order.
    let turn: OutcomeSequencer<OrderKey>.Turn?
    /// Notes whether a provider was called for the request.
    let context: RequestContext
    /// The spans of the request; `nil` where it is not traced.
    var trace: RequestTrace?
    var task: Task<Void, Never>?
    private(set) var fate = Fate.wanted
    /// From here on its outcome will be published, whatever happens to the request.
    private(set) var isDelivering = false
    /// `true` while `SingleRecordWriter` has the outcome.
    var isWrittenSingly = false

    init(
        record: IncomingRecord, partition: OwnedPartition, slot: OffsetTracker.Slot,
        turn: OutcomeSequencer<OrderKey>.Turn? = nil, arrival: RecordArrival
    ) {
        self.record = record
        takenAt = arrival.instant
        topicWait = arrival.wait(of: record)
        context = RequestContext(since: arrival.instant)
        self.partition = partition
        self.slot = slot
        self.turn = turn
    }

    var offset: Int64 { record.source.offset }

    /// What says in a log line which request it is about.
    var logMetadata: Logger.Metadata {
        var metadata = trace?.logMetadata ?? [:]
        metadata["request"] = "\(partition.id.id)@\(offset)"
        return metadata
    }

    /// `true` when another worker that ran the request anew would pay for it, or publish it, a second time.
    var hasCost: Bool { isDelivering || context.hasCalled }

    /// Ends the work on the request, and aborts its transfer. Does nothing once its outcome is being delivered.
    func end(as fate: Fate) {
        guard !isDelivering, self.fate != .abandoned else { return }
        self.fate = fate
        task?.cancel()
    }

    func beginDelivery() { isDelivering = true }

    /// Lets the next outcome of the same key or partition go. A second call changes nothing.
    func leaveTurn() { turn?.leave() }
}

/// What shares an order: outcomes with equal keys leave in the order of their requests.
enum OrderKey: Hashable {
    case key(partition: String, number: Int32, key: [UInt8])
    case partition(String, number: Int32)
}
