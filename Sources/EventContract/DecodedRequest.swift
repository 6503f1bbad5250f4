package import LocationSearch

/// A request with all that its outcome needs to know of its record.
package struct DecodedRequest: Sendable, Hashable {
    /// Validated, defaults filled in.
    package let request: SearchRequest
    package let envelope: RequestEnvelope
}

/// What an outcome takes over from the record of its request.
package struct RequestEnvelope: Sendable, Hashable {
    package let source: SourcePosition
    /// The record's, copied to its outcome.
    package let key: [UInt8]?
    /// The trace to continue; `nil` when the record had none, or none that is valid.
    package let trace: TraceContext?
    /// When the request was made: the event's `time` if it has a valid one, else the record's timestamp.
    package let time: EventTime?

    package init(source: SourcePosition, key: [UInt8]? = nil, trace: TraceContext? = nil, time: EventTime? = nil) {
        self.source = source
        self.key = key
        self.trace = trace
        self.time = time
    }
}
