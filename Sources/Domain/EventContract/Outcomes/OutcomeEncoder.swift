import JSON
public import LocationSearch

/// Writes outcomes as events: CloudEvents 1.0 in binary mode. It reuses its memory for the next outcome and has one owner
/// at a time, so use one per event loop.
///
/// `ce_id` is the position of the request, and `ce_source` is the same for all workers. After a crash, a consumer may read
/// a request's outcome twice. Both copies have the same id and source, so that it can drop the second.
public struct OutcomeEncoder: ~Copyable {
    /// The `ce_source` of every outcome, a URI reference.
    public static let source = "/location-search-worker"

    private var json = JSONWriter()
    private var parentIDs: SpanIDs
    private let results: String
    private let errors: String

    /// - Parameters:
    ///   - seed: the seed of the parent ids of continued traces; each encoder needs a different one.
    ///   - results: the topic of outcomes that are results.
    ///   - errors: the topic of all other outcomes.
    public init(
        seed: UInt64 = .random(in: .min ... .max), results: String = "location-search.results",
        errors: String = "location-search.errors"
    ) {
        parentIDs = SpanIDs(seed: seed)
        (self.results, self.errors) = (results, errors)
    }

    /// Writes the outcome of a request.
    /// - Parameter steps: the steps for the header `request-steps`; `nil`: the outcome has no such header.
    /// - Parameter trace: the trace context for the outcome; `nil`: a new step of the request's trace, if it has one.
    public mutating func encode(
        _ outcome: SearchOutcome, for envelope: RequestEnvelope, receivedAt: WallTime, completedAt: WallTime,
        steps: RequestSteps? = nil, trace: TraceContext? = nil
    ) -> ProducerRecord {
        let completed = completedAt.bytes
        json.beginObject()
        json.member("requestId", outcome.requestID)
        json.member("operation", outcome.operation.rawValue)
        json.member("provider", outcome.provider?.rawValue)
        if outcome.triedProviders.count > 1 { json.member("triedProviders", outcome.triedProviders.map(\.rawValue)) }
        json.member("sessionId", outcome.sessionID)

        outcome.readResult {
            json.members(of: $0, operation: outcome.operation)
        } orFailure: {
            json.key("error")
            json.value($0, at: completedAt)
        }

        json.timing(receivedAt, completed, upstream: outcome.upstream, attempts: outcome.attempts)
        json.endObject()
        return record(
            isResult: outcome.failure == nil, requestID: outcome.requestID, envelope: envelope, time: completed,
            steps: steps, trace: trace)
    }

    /// Writes the error event of a record that is not a request.
    /// - Parameter steps: the steps for the header `request-steps`; `nil`: the event has no such header.
    /// - Parameter trace: the trace context for the event; `nil`: a new step of the record's trace, if it has one.
    public mutating func encode(
        _ rejected: RejectedRecord, receivedAt: WallTime, completedAt: WallTime, steps: RequestSteps? = nil,
        trace: TraceContext? = nil
    ) -> ProducerRecord {
        let completed = completedAt.bytes
        json.beginObject()
        json.member("requestId", rejected.requestID)
        json.member("operation", rejected.operation?.rawValue)
        json.member("provider", rejected.provider?.rawValue)
        json.member("sessionId", rejected.sessionID)
        json.key("error")
        json.value(rejected.error, at: completedAt)
        json.timing(receivedAt, completed, upstream: .zero, attempts: 0)
        json.endObject()
        return record(
            isResult: false, requestID: rejected.requestID, envelope: rejected.envelope, time: completed, steps: steps,
            trace: trace, answersOutcome: rejected.outcome != nil)
    }

    // MARK: The record around it

    private mutating func record(
        isResult: Bool, requestID: String, envelope: RequestEnvelope, time: [UInt8],
        steps: RequestSteps?, trace: TraceContext?, answersOutcome: Bool = false
    ) -> ProducerRecord {
        let position = PositionText(envelope.source)
        var headers: [RecordHeader] = []
        headers.reserveCapacity(12)
        headers.append(Self.specVersion)
        headers.append(RecordHeader("ce_id", position.id))
        headers.append(Self.sourceHeader)
        headers.append(isResult ? Self.completed : Self.failed)
        headers.append(RecordHeader("ce_time", time))
        headers.append(Self.contentType)
        position.append(to: &headers)
        if let steps, !steps.isEmpty { headers.append(RecordHeader(HeaderName.steps, steps.text)) }

        if let trace = trace ?? envelope.trace?.child(parentID: parentIDs.next()) {
            headers.append(RecordHeader("traceparent", trace.traceparent))
            if let state = trace.traceState { headers.append(RecordHeader("tracestate", state)) }
        }
        if answersOutcome { headers.append(Self.answersOutcome) }
        return ProducerRecord(
            topic: isResult ? results : errors, key: envelope.key ?? Array(requestID.utf8), value: json.finish(),
            headers: headers)
    }

    // These headers are the same in every event. They are made once, so that events share their bytes.
    static let specVersion = RecordHeader("ce_specversion", text: CloudEvents.specVersion)
    static let contentType = RecordHeader("content-type", text: CloudEvents.json)
    private static let answersOutcome = RecordHeader(HeaderName.answersOutcome.description, text: "true")
    private static let sourceHeader = RecordHeader("ce_source", text: source)
    private static let completed = RecordHeader("ce_type", text: EventType.completed.rawValue)
    private static let failed = RecordHeader("ce_type", text: EventType.failed.rawValue)
}
