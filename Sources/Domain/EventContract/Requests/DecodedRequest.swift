public import LocationSearch

/// A request, with everything from its record that its outcome needs. A class, because it passes through many functions,
/// each of which then copies one pointer.
public final class DecodedRequest: Sendable {
    /// The request. Its members are valid, and missing members have the contract's defaults.
    public let request: SearchRequest
    /// The parts of the record that are copied to its outcome.
    public let envelope: RequestEnvelope

    /// The class in the request's `priority`. Used only if the request's topic allows requests to choose their class.
    public let requestedClass: RequestedClass
    /// The CloudEvents attribute `source`, unchanged; `nil` for a request that is not an event.
    public let eventSource: [UInt8]?

    init(request: SearchRequest, envelope: RequestEnvelope, requestedClass: RequestedClass, eventSource: [UInt8]?) {
        self.request = request
        (self.envelope, self.requestedClass, self.eventSource) = (envelope, requestedClass, eventSource)
    }
}

/// The parts of a request's record that are copied to its outcome.
public struct RequestEnvelope: Sendable, Hashable {
    public let source: SourcePosition
    /// The key of the record, which its outcome also gets.
    public var key: [UInt8]?
    /// The trace to continue; `nil` if the record has no valid one.
    public var trace: TraceContext?
    /// The time at which the request was made: the event's `time` if it has a valid one, otherwise the record's timestamp.
    public var time: WallTime?
    /// The time from which the request is useless: the event's `expirytime` (CloudEvents' Expiry Time extension).
    public var expiry: WallTime?
}
