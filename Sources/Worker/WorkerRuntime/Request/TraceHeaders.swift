internal import Basics
internal import Tracing

/// The headers of a trace, for a tracer to read and write.
struct TraceHeaders: Sendable {
    private(set) var parent: String?
    private(set) var state: String?

    init() {}

    init(_ trace: TraceContext) {
        parent = String(decoding: trace.traceparent, as: UTF8.self)
        state = trace.traceState.map { String(decoding: $0, as: UTF8.self) }
    }

    /// The trace that the headers name; `nil` if they name none.
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
