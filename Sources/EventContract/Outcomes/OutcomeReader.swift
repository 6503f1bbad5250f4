import JSON

/// Reads outcome events back, for the commands and the console. Lenient: what is missing is `nil`. Called concurrently.
public struct OutcomeReader: Sendable {
    /// A record that is no outcome event; the text says why.
    public struct Unreadable: Error, Sendable, Hashable {
        public let message: String
    }

    public init() {}

    public func read(value: [UInt8]?, headers: [EventHeader]) throws(Unreadable) -> OutcomeEvent {
        guard let value else { throw Unreadable(message: "the record has no value") }
        var body = OutcomeBody()
        let isObject: Bool
        do throws(JSONError) {
            var reader = JSONReader(value.span)
            isObject = try body.read(from: &reader)
            try reader.finish()
        } catch {
            throw Unreadable(message: "the value is no JSON: \(error)")
        }
        guard isObject else { throw Unreadable(message: "the value is no JSON object") }
        guard let requestID = body.requestID else { throw Unreadable(message: "requestId is missing") }
        let outcome = try body.outcome(type: headers.last(named: "ce_type")?.text)
        return OutcomeEvent(
            requestID: requestID, operation: body.operation, provider: body.provider,
            triedProviders: body.triedProviders, sessionID: body.sessionID, body: outcome,
            unreadablePlaces: body.unreadablePlaces, receivedAt: body.receivedAt, completedAt: body.completedAt,
            upstream: body.upstreamMilliseconds.map { .milliseconds($0) }, attempts: body.attempts,
            id: headers.last(named: "ce_id")?.text, source: SourcePosition(headers: headers),
            traceID: headers.last(named: "traceparent")?.value.flatMap { TraceContext(traceparent: $0)?.traceID })
    }
}
