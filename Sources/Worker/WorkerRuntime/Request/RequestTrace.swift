internal import EventContract
internal import Kafka
internal import LocationSearch
internal import Logging
internal import ProviderCalls
internal import Tracing

/// The spans of one traced request: the whole request, and within it the search and the sending of its outcome. Calls
/// to providers are spans of the search.
///
/// Confined to its lane; not `Sendable`.
final class RequestTrace {
    private let tracer: any Tracer
    private let process: any Span
    private var search: (any Span)?
    private var send: (any Span)?
    private let requestID: String
    /// True if the record named a trace. Its outcome then names the trace too, even if the trace is not sampled.
    private let continuesTrace: Bool

    init(tracer: any Tracer, process: any Span, requestID: String, continuesTrace: Bool) {
        self.tracer = tracer
        (self.process, self.requestID, self.continuesTrace) = (process, requestID, continuesTrace)
    }

    // MARK: - Search

    /// Begins the search span.
    /// - Parameter context: propagates the trace to the calls that are made for the request.
    @inline(never)
    func beginSearch(for request: SearchRequest, in context: RequestContext) {
        let span = tracer.startSpan("search", context: process.context)
        span.updateAttributes { attributes in
            attributes["locsearch.request.id"] = requestID
            attributes["locsearch.operation"] = request.operation.rawValue
        }
        context.follow(SearchTrace(tracer: tracer, context: span.context))
        search = span
    }

    @inline(never)
    func endSearch(with outcome: SearchOutcome) {
        guard let search else { return }
        search.updateAttributes { attributes in
            attributes["locsearch.provider"] = outcome.provider?.rawValue
            if outcome.triedProviders.count > 1 {
                attributes["locsearch.providers.tried"] = outcome.triedProviders.map(\.rawValue)
            }
            attributes["locsearch.calls"] = outcome.attempts
        }
        switch outcome.result {
        case .success(let result): search.updateAttributes { $0["locsearch.places"] = result.places.count }
        case .failure(let error):
            search.note(error)
            fail(with: error)
        }
        search.end()
    }

    func fail(with error: SearchError) { process.note(error) }

    // MARK: - Outcome

    /// Begins the span for sending the outcome. A second call changes its topic.
    /// - Returns: the trace context for the outcome's headers; `nil` if they name no trace.
    @inline(never)
    func beginSending(to topic: String) -> TraceContext? {
        let span = send ?? tracer.startSpan("send \(topic)", context: process.context, ofKind: .producer)
        send = span
        span.operationName = "send \(topic)"
        span.updateAttributes { attributes in
            attributes["messaging.system"] = "kafka"
            attributes["messaging.operation.name"] = "send"
            attributes["messaging.operation.type"] = "send"
            attributes["messaging.destination.name"] = topic
            attributes["locsearch.request.id"] = requestID
        }

        var headers = TraceHeaders()
        tracer.inject(span.context, into: &headers, using: TraceHeaders.access)
        guard let trace = headers.trace, trace.isSampled || continuesTrace else { return nil }
        return trace
    }

    /// Records the position of the outcome in its topic.
    @inline(never)
    func noteConfirmed(at position: RecordPosition) {
        send?.updateAttributes { attributes in
            attributes["messaging.destination.partition.id"] = "\(position.partition)"
            attributes["messaging.kafka.offset"] = position.offset
        }
    }

    // MARK: - End

    /// Ends the spans of the request.
    /// - Parameter wasHandedOver: whether its outcome was being delivered.
    @inline(never)
    func finish(isDelivered: Bool, wasHandedOver: Bool) {
        if !isDelivered {
            for span in [process] + (send.map { [$0] } ?? []) {
                span.updateAttributes { $0["error.type"] = "abandoned" }
                span.setStatus(
                    SpanStatus(
                        code: .error,
                        message: "abandoned without a confirmed outcome; the partition's next owner processes it again")
                )
            }
        }
        if wasHandedOver { send?.end() }
        process.end()
    }

    // MARK: - Log

    /// The ids by which log lines of the request are found.
    var logMetadata: Logger.Metadata {
        var headers = TraceHeaders()
        tracer.inject(process.context, into: &headers, using: TraceHeaders.access)
        guard let trace = headers.trace else { return [:] }
        return ["request_id": "\(requestID)", "trace_id": "\(trace.traceID)", "span_id": "\(trace.spanID)"]
    }
}
