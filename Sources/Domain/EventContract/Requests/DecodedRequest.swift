public import LocationSearch

/// A request, with all that its outcome needs to know about its record. A class, because it passes through many async
/// frames, each of which then copies one pointer.
public final class DecodedRequest: Sendable {
    /// The request. Its members are valid, and those that were missing have the contract's defaults.
    public let request: SearchRequest
    /// The parts of the record that its outcome takes over.
    public let envelope: RequestEnvelope

    /// The class that the request asks for. It counts only where the request's topic lets it choose.
    public let requestedClass: RequestedClass
    /// The CloudEvents attribute `source`, as it was written; `nil` for a request that is no event.
    public let eventSource: [UInt8]?

    init(
        request: SearchRequest, envelope: RequestEnvelope, requestedClass: RequestedClass, eventSource: [UInt8]?
    ) {
        self.request = request
        self.envelope = envelope
        self.requestedClass = requestedClass
        self.eventSource = eventSource
    }
}

/// The parts of a request's record that its outcome takes over.
public struct RequestEnvelope: Sendable, Hashable {
    /// The position of the record.
    public let source: SourcePosition
    /// The key of the record, which its outcome gets too.
    public let key: [UInt8]?
    /// The trace to continue; `nil` when the record had none, or none that is valid.
    public let trace: TraceContext?
    /// The time at which the request was made: the event's `time` if it has a valid one, else the record's timestamp.
    public let time: EventTime?
    /// The time from which on the request is of no use: the event's `expirytime` (CloudEvents' Expiry Time extension).
    public let expiry: EventTime?

    /// An envelope; a member that is left out is `nil`.
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
