internal import Basics
internal import EventContract
internal import Kafka
internal import LocationSearch
internal import Logging
internal import ProviderCalls
internal import Resilience

/// One request from its record to its delivered outcome. Confined to its lane; not `Sendable`.
final class RequestInProgress: TakenRequest {
    /// The record, without value and headers after decoding: see `keep`.
    private(set) var record: IncomingRecord
    /// The size of the record's value in bytes.
    let bodySize: Int
    let takenAt: Instant
    /// The time that the record had waited in its topic by `takenAt`; `nil` if its timestamp is unknown.
    let topicWait: Duration?
    let partition: OwnedPartition
    let slot: OffsetTracker.Slot
    /// The request's position in the order of outcomes; `nil` if outcomes have no order.
    let turn: OutcomeSequencer<OrderKey>.Turn?
    /// Records whether a provider was called for the request.
    let context: RequestContext
    /// The class and tenant by which the request waits.
    let flow: Flow
    /// The bytes of memory for which a waiting request counts; 0 once it has begun.
    var waitingBytes = 0
    /// The request's entry in the waiting room; `nil` if it did not wait. Kept until the request has ended, because its
    /// queue is charged for its calls.
    var place: WaitingRoom.Place?
    /// The decoded record; `nil` before decoding, and for an invalid record.
    private(set) var decoded: DecodedRequest?
    /// The time at which the request began, for its outcome.
    var receivedAt = EventTime(milliseconds: 0)
    /// The runner of a request that has begun, and the number of its search there.
    var (runner, search): (RequestRunner?, Int) = (nil, 0)
    /// The candidate providers of a request that waits, chosen when it came; empty otherwise.
    var candidates: [any PlaceService] = []
    /// The error with which the request ends without a provider call; `nil` if it is to be run.
    var refusal: SearchError?
    /// True once the request is registered with its session.
    var hasJoinedSession = false
    /// The spans of the request; `nil` if it is not traced.
    var trace: RequestTrace?
    private(set) var fate = RequestFate.wanted
    /// The permission with which the record was begun.
    var permission = CrashWatch.Permission.runs
    /// True for a record that is not decoded because it has crashed processes.
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

    /// The steps that the outcome names; `nil` if steps are off.
    var steps: RequestSteps? {
        guard var steps = context.steps else { return nil }
        steps.topicWait = topicWait
        return steps
    }

    /// The metadata that identifies the request in log lines.
    var logMetadata: Logger.Metadata {
        var metadata = trace?.logMetadata ?? [:]
        metadata["request"] = "\(partition.id.id)@\(offset)"
        return metadata
    }

    var wasBilled: Bool { isDelivering || context.hasCalled }

    var hasOvertaken: Bool { permission == .runsAlone }

    /// Stores the decoded record, and drops value and headers. Only the dead letter of an invalid record needs those.
    func keep(_ decoded: DecodedRequest) {
        self.decoded = decoded
        (record.value, record.headers) = (nil, [])
    }

    /// Returns the candidates of a request that begins, and drops them.
    func takeCandidates() -> [any PlaceService] {
        defer { candidates = [] }
        return candidates
    }

    /// Also ends the search for the request.
    func end(as fate: RequestFate) {
        guard !isDelivering, self.fate != .abandoned else { return }
        self.fate = fate
        runner?.cancelSearch(for: self)
    }

    func beginDelivery() { isDelivering = true }

    /// Releases the next outcome of the same key or partition. A second call changes nothing.
    func leaveTurn() { turn?.leave() }
}

/// The scope of an order: outcomes with equal keys are published in the order of their requests, separately for each
/// class.
enum OrderKey: Hashable {
    case key(partition: String, number: Int32, key: [UInt8], RequestClass)
    case partition(String, number: Int32, RequestClass)
}
