internal import EventContract
internal import Kafka
internal import LocationSearch
internal import Logging
internal import ProviderCalls
internal import Resilience

/// One request from its record to its delivered outcome. Confined to its lane; not `Sendable`.
final class RequestInProgress {
    /// The record, without value and headers after decoding: see `keep`.
    private(set) var record: ConsumerRecord
    let taken: Taken
    let partition: OwnedPartition
    /// The request's entry in the partition's `OffsetTracker`.
    let slot: OffsetTracker.Slot
    /// The request's index in the partition's list; `nil` once the request has ended.
    var index: Int?
    /// The request's position in the order of outcomes; `nil` if outcomes have no order.
    let orderPosition: OutcomeSequencer<OrderKey>.Position?
    /// Records whether a provider was called for the request.
    let context: RequestContext
    var wait = Wait()
    /// The decoded record; `nil` before decoding, and for an invalid record.
    private(set) var decoded: DecodedRequest?
    var search = Search()
    /// The spans of the request; `nil` if it is not traced.
    var trace: RequestTrace?
    private(set) var fate = RequestFate.wanted
    /// The permission with which the record was begun.
    var permission = CrashWatch.Permission.runs
    /// True for a record that is not decoded because it has crashed processes.
    var isSetAside: Bool { permission == .isSetAside }
    /// The records to publish for the request; empty before its end.
    var outcome = Outcome()
    /// The size of the outcome in bytes, set when the delivery receives it; `nil` until then. The intake counts it until
    /// the outcome is confirmed.
    private(set) var unconfirmedBytes: Int?

    /// The facts about a request that are known once its record is taken.
    struct Taken {
        let at: Instant
        /// The class and tenant by which the request waits. Unlike those of its calls, they never change.
        let flow: Flow
        /// The time that the record had waited in its topic by then; `nil` if its timestamp is unknown.
        let topicWait: Duration?
        /// The size of the record's value in bytes.
        let bodySize: Int
    }

    /// The wait of a request in `WaitingRoom`, before it begins.
    struct Wait {
        /// `nil` if the request did not wait. Kept until the request has ended, because its queue is charged for its
        /// calls.
        var place: WaitingPlace<RequestInProgress>?
        /// The candidate providers, chosen when the request came; empty if it does not wait.
        var candidates: [any PlaceService] = []
        /// The error with which the request ends without a provider call; `nil` if it is to be run.
        var refusal: SearchError?

        /// Returns the candidates of a request that begins, and drops them.
        mutating func takeCandidates() -> [any PlaceService] {
            defer { candidates = [] }
            return candidates
        }
    }

    /// The search of a request that has begun.
    struct Search {
        /// The time at which the request began, for its outcome.
        var receivedAt = WallTime(milliseconds: 0)
        /// True once the request is registered with its session. A waiting request joins before it begins.
        var hasJoinedSession = false
        /// Cancels the search; `nil` before it has begun.
        var running: ProviderSearch?
    }

    init(
        record: ConsumerRecord, partition: OwnedPartition, slot: OffsetTracker.Slot,
        orderPosition: OutcomeSequencer<OrderKey>.Position? = nil, arrival: RecordArrival, flow: Flow = .standard,
        keepsSteps: Bool = false
    ) {
        self.record = record
        taken = Taken(
            at: arrival.instant, flow: flow, topicWait: arrival.wait(of: record), bodySize: record.value?.count ?? 0)
        context = RequestContext(since: arrival.instant, flow: flow, keepsSteps: keepsSteps)
        (self.partition, self.slot, self.orderPosition) = (partition, slot, orderPosition)
    }

    var offset: Int64 { record.offset }

    /// True once the delivery has the outcome.
    var isDelivering: Bool { unconfirmedBytes != nil }

    var flow: Flow { taken.flow }

    /// The steps that the outcome names; `nil` if steps are off.
    var steps: RequestSteps? {
        guard var steps = context.steps else { return nil }
        steps.topicWait = taken.topicWait
        return steps
    }

    /// The metadata that identifies the request in log lines.
    var logMetadata: Logger.Metadata {
        var metadata = trace?.logMetadata ?? [:]
        metadata["request"] = "\(partition.id.id)@\(offset)"
        return metadata
    }

    /// True if another worker that ran the request again would be billed for it, or publish it, a second time.
    var wasBilled: Bool { isDelivering || context.hasCalled }

    /// True if the request may have begun before earlier ones: it ran in isolation, or its record is invalid.
    var hasOvertaken: Bool { permission == .runsAlone || decoded == nil }

    /// Stores the decoded record, and drops value and headers. Only the dead letter of an invalid record needs those.
    func keep(_ decoded: DecodedRequest) {
        self.decoded = decoded
        (record.value, record.headers) = (nil, [])
    }

    /// Sets the fate, and cancels the search. Has no effect once the delivery has the outcome, or the request was abandoned.
    func end(as fate: RequestFate) {
        guard !isDelivering, self.fate != .abandoned else { return }
        self.fate = fate
        search.running?.cancel()
    }

    /// Records that the delivery has the outcome.
    /// - Returns: the size of the outcome in bytes.
    @discardableResult
    func beginDelivery() -> Int {
        let bytes = outcome.bytes
        unconfirmedBytes = bytes
        return bytes
    }

    /// Releases the next outcome of the same key or partition. A second call changes nothing.
    func leaveOrder() { orderPosition?.leave() }
}

/// The decision about a request's outcome.
enum RequestFate {
    /// The request's outcome will be published.
    case wanted
    /// A newer request of its session arrived: its outcome is the error `superseded`.
    case superseded
    /// The partition was revoked, or the worker stopped waiting: there is no outcome, and the offset stays uncommitted.
    case abandoned
}
