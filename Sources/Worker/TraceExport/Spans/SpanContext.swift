package import Basics
package import Tracing

/// The context that a span passes to its child spans.
package struct SpanContext: Sendable, Hashable {
    /// The trace context of the span.
    package let trace: TraceContext
    /// False if the spans of this trace are neither exported nor logged here, and therefore not stored.
    let isRecorded: Bool

    enum Key: ServiceContextKey {
        typealias Value = SpanContext
    }
}

extension ServiceContext {
    /// The span of this context; `nil` outside any trace.
    package var spanContext: SpanContext? { self[SpanContext.Key.self] }
}
