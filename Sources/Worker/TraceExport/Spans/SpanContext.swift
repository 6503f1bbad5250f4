package import Basics
package import Tracing

/// The key of the trace context that a span passes to its child spans.
enum SpanContextKey: ServiceContextKey {
    typealias Value = TraceContext
}

extension ServiceContext {
    /// The trace context of this context's span; `nil` outside any trace.
    package internal(set) var trace: TraceContext? {
        get { self[SpanContextKey.self] }
        set { self[SpanContextKey.self] = newValue }
    }
}

/// Decides which traces are recorded: those whose parent is sampled, and a fixed fraction of the traces that begin
/// here.
struct Sampler: Sendable {
    /// Ids below this bound are sampled, as in OpenTelemetry's `TraceIdRatioBased`: all workers with the same ratio
    /// agree.
    private let bound: UInt64

    /// - Parameter ratio: the sampled fraction of traces without a parent, 0 to 1.
    init(ratio: Double) {
        let range = Double(UInt64(1) << 63)
        bound = UInt64(min(max(ratio, 0), 1) * range)
    }

    /// Returns whether a trace that begins here is sampled.
    /// - Parameter traceID: the lower half of its id, of which 63 bits are used.
    func samples(traceID: UInt64) -> Bool { traceID & (.max >> 1) < bound }
}
