import JSON

/// Reads outcome events, for clients that follow their requests. It is lenient: missing members are `nil`. Safe to use from any thread.
public struct OutcomeReader: Sendable {
    /// Makes a reader, which has no state.
    public init() {}

    /// Reads one record of the results or errors topic.
    /// - Throws: the reason if the record is not an outcome event.
    public func read(value: [UInt8]?, headers: [EventHeader]) throws(UnreadableOutcome) -> OutcomeEvent {
        guard let value else { throw UnreadableOutcome(message: "the record has no value") }

        var body = OutcomeBody()
        let isObject: Bool
        do throws(JSONError) {
            var reader = JSONReader(value.span)
            isObject = try body.read(from: &reader)
            try reader.finish()
        } catch {
            throw UnreadableOutcome(message: "the value is not JSON: \(error)")
        }

        guard isObject else { throw UnreadableOutcome(message: "the value is not a JSON object") }
        guard let requestID = body.requestID else { throw UnreadableOutcome(message: "requestId is missing") }

        let outcome = try body.outcome(type: headers.last(named: "ce_type")?.text)
        return OutcomeEvent(
            requestID: requestID, operation: body.operation, provider: body.provider,
            triedProviders: body.triedProviders, sessionID: body.sessionID, body: outcome,
            unreadablePlaces: body.unreadablePlaces, receivedAt: body.receivedAt, completedAt: body.completedAt,
            upstream: body.upstreamMilliseconds.map { .milliseconds($0) }, attempts: body.attempts,
            id: headers.last(named: "ce_id")?.text, source: SourcePosition(headers: headers),
            traceID: headers.last(named: "traceparent")?.value.flatMap { TraceContext(traceparent: $0)?.traceID },
            steps: headers.last(named: OutcomeEncoder.stepsName)?.value.map { OutcomeEvent.Steps(text: $0) })
    }
}
