package import Basics
package import Tracing

/// The context that a span hands on to those that begin within it.
package struct SpanContext: Sendable, Hashable {
    /// The step of the trace that the span is.
    package let trace: TraceContext
    /// False when nobody looks at the spans of this trace here: then none is kept.
    let isRecorded: Bool

    enum Key: ServiceContextKey {
        typealias Value = SpanContext
    }
}

extension ServiceContext {
    /// The step of the trace that this context belongs to; `nil` outside any trace.
    package var spanContext: SpanContext? { self[SpanContext.Key.self] }
}
