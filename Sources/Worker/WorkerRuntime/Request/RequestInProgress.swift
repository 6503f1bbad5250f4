internal import Basics
internal import EventContract
internal import Kafka
internal import LocationSearch
internal import Logging
internal import ProviderCalls
internal import Resilience

/// One request from its record to its delivered outcome. Confined to its lane; not `Sendable`.
final class RequestInProgress: TakenRequest {
    /// The record, without value and headers once it is decoded: see `keep`.
    private(set) var record: IncomingRecord
    /// The size of the record's value, in bytes.
    let bodySize: Int
    let takenAt: Instant
    /// How long the record had waited in its topic by then; `nil` where its timestamp is not known.
    let topicWait: Duration?
    let partition: OwnedPartition
    let slot: OffsetTracker.Slot
    /// The request's turn to have its outcome handed over; `nil` where outcomes leave in any order.
    let turn: OutcomeSequencer<OrderKey>.Turn?
    /// Notes whether a provider was called for the request.
    let context: RequestContext
    /// The line in which the request waits.
    let flow: Flow
    /// The memory for which it counts while it waits to begin, in bytes; 0 once it has begun.
    var waitingBytes = 0
    /// The request's place among those that waited to begin; `nil` for one that did not wait. Kept until the request has ended,
    /// because its line is charged for its calls.
    var place: WaitingRoom.Place?
    /// The decoded record; `nil` before that, and for a record that is no request.
    private(set) var decoded: DecodedRequest?
    /// When the request began, which its outcome names.
    var receivedAt = EventTime(milliseconds: 0)
    /// Who runs it, once it has begun, and the number of the search for it there.
    var (runner, search): (RequestRunner?, Int) = (nil, 0)
    /// Why no provider is to be asked for it; `nil` for a request that is to be run.
    var refusal: SearchError?
    /// True once it has its part in its session.
    var hasJoinedSession = false
    /// The spans of the request; `nil` where it is not traced.
    var trace: RequestTrace?
    private(set) var fate = RequestFate.wanted
    /// How the record was begun.
    var permission = CrashWatch.Permission.runs
    /// True for a record that is not decoded, because processes have crashed with it.
    var isSetAside: Bool { permission == .isSetAside }
    /// True once the outcome will be published, whatever happens to the request.
    private(set) var isDelivering = false
    /// `true` while `SingleRecordWriter` has the outcome.
    var isWrittenSingly = false

    init(
        record: IncomingRecord, partition: OwnedPartition, slot: OffsetTracker.Slot,
        turn: OutcomeSequencer<OrderKey>.Turn? = nil, arrival: RecordArrival, flow: Flow = .standard,
        keepsSteps: Bool = false
    ) {
        self.flow = flow
        self.record = record
        bodySize = record.value?.count ?? 0
        takenAt = arrival.instant
        topicWait = arrival.wait(of: record)
        context = RequestContext(since: arrival.instant, flow: flow, keepsSteps: keepsSteps)
        self.partition = partition
        self.slot = slot
        self.turn = turn
    }

    var offset: Int64 { record.source.offset }

    /// The steps that the outcome names; `nil` where it names none.
    var steps: RequestSteps? {
        guard var steps = context.steps else { return nil }
        steps.topicWait = topicWait
        return steps
    }

    /// The metadata that says in a log line which request it is about.
    var logMetadata: Logger.Metadata {
        var metadata = trace?.logMetadata ?? [:]
        metadata["request"] = "\(partition.id.id)@\(offset)"
        return metadata
    }

    var hasCost: Bool { isDelivering || context.hasCalled }

    var hasOvertaken: Bool { permission == .runsAlone }

    /// Keeps the decoded record, in place of the value and the headers: only the dead letter of a record that is no request has these.
    func keep(_ decoded: DecodedRequest) {
        self.decoded = decoded
        (record.value, record.headers) = (nil, [])
    }

    /// Ends the search for the request too.
    func end(as fate: RequestFate) {
        guard !isDelivering, self.fate != .abandoned else { return }
        self.fate = fate
        runner?.cancelSearch(for: self)
    }

    func beginDelivery() { isDelivering = true }

    /// Lets the next outcome of the same key or partition go. A second call changes nothing.
    func leaveTurn() { turn?.leave() }
}

/// The scope of an order: outcomes with equal keys leave in the order of their requests. An order binds within a class.
enum OrderKey: Hashable {
    case key(partition: String, number: Int32, key: [UInt8], RequestClass)
    case partition(String, number: Int32, RequestClass)
}
