internal import Basics
internal import EventContract
public import Tracing

/// Starts the trace of each request. Off where a lane has none.
public struct RequestTracing: Sendable {
    private let tracer: any Tracer
    private let consumerGroup: String

    /// - Parameter tracer: decides which requests are traced.
    /// - Parameter consumerGroup: the group that the worker is a member of.
    public init(tracer: any Tracer, consumerGroup: String) {
        self.tracer = tracer
        self.consumerGroup = consumerGroup
    }

    /// Begins the trace of a request, as a step of the trace that its record names.
    ///
    /// Kept out of line, because few workers trace and each request passes where this is called.
    /// - Returns: `nil` for a request that is not to be traced.
    @inline(never)
    func begin(_ request: RequestInProgress, envelope: RequestEnvelope, requestID: String) -> RequestTrace? {
        var context = ServiceContext.topLevel
        if let trace = envelope.trace {
            tracer.extract(TraceHeaders(trace), into: &context, using: TraceHeaders.access)
        }
        let source = envelope.source
        let span = tracer.startSpan("process \(source.topic)", context: context, ofKind: .consumer)
        guard span.isRecording else { return nil }

        span.updateAttributes { attributes in
            attributes["messaging.system"] = "kafka"
            attributes["messaging.operation.name"] = "process"
            attributes["messaging.operation.type"] = "process"
            attributes["messaging.destination.name"] = source.topic
            attributes["messaging.destination.partition.id"] = "\(source.partition)"
            attributes["messaging.kafka.offset"] = source.offset
            attributes["messaging.consumer.group.name"] = consumerGroup
            attributes["messaging.message.body.size"] = request.record.value?.count ?? 0
            attributes["locsearch.request.id"] = requestID
        }
        return RequestTrace(
            tracer: tracer, process: span, requestID: requestID, continuesTrace: envelope.trace != nil)
    }
}

/// The headers of a trace, as a tracer reads and writes them.
struct TraceHeaders: Sendable {
    private(set) var parent: String?
    private(set) var state: String?

    init() {}

    init(_ trace: TraceContext) {
        parent = String(decoding: trace.traceparent, as: UTF8.self)
        state = trace.traceState.map { String(decoding: $0, as: UTF8.self) }
    }

    /// The trace that the headers name; `nil` when they name none.
    var trace: TraceContext? {
        parent.flatMap { TraceContext(traceparent: Array($0.utf8), tracestate: state.map { Array($0.utf8) }) }
    }

    /// Reads and writes the headers by name.
    struct Access: Extractor, Injector {
        func extract(key: String, from carrier: TraceHeaders) -> String? {
            switch key {
            case "traceparent": carrier.parent
            case "tracestate": carrier.state
            default: nil
            }
        }

        func inject(_ value: String, forKey key: String, into carrier: inout TraceHeaders) {
            switch key {
            case "traceparent": carrier.parent = value
            case "tracestate": carrier.state = value
            default: break
            }
        }
    }

    static let access = Access()
}
