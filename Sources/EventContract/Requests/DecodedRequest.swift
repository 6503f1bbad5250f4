public import LocationSearch

/// A request with all that its outcome needs to know of its record. An object: it is kept from one end of the way to the
/// other.
public final class DecodedRequest: Sendable {
    /// Validated, defaults filled in.
    public let request: SearchRequest
    public let envelope: RequestEnvelope

    init(request: SearchRequest, envelope: RequestEnvelope) {
        self.request = request
        self.envelope = envelope
    }
}

/// What an outcome takes over from the record of its request.
public struct RequestEnvelope: Sendable, Hashable {
    public let source: SourcePosition
    /// The record's, copied to its outcome.
    public let key: [UInt8]?
    /// The trace to continue; `nil` when the record had none, or none that is valid.
    public let trace: TraceContext?
    /// When the request was made: the event's `time` if it has a valid one, else the record's timestamp.
    public let time: EventTime?
    /// When the request is of no use any more: the event's `expirytime` (CloudEvents' Expiry Time extension).
    public let expiry: EventTime?

    public init(
        source: SourcePosition, key: [UInt8]? = nil, trace: TraceContext? = nil, time: EventTime? = nil,
        expiry: EventTime? = nil
    ) {
        self.expiry = expiry
        self.source = source
        self.key = key
        self.trace = trace
        self.time = time
    }
}
