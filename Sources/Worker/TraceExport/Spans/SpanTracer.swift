import Basics
import Synchronization
package import Tracing

/// The tracer for swift-distributed-tracing: decides which requests are traced, and passes on each span when it ends.
///
/// Every call is synchronous, never waits, and is thread-safe.
package final class SpanTracer: Tracer {
    package typealias Span = RecordedSpan

    private let sampler: Sampler
    private let ignoresParent: Bool
    private let ids: Mutex<SpanIDs>
    private let onEnd: @Sendable (RecordedSpan) -> Void

    /// - Parameter sampleRatio: the sampled fraction of traces without a parent, 0 to 1.
    /// - Parameter ignoresParent: also samples that fraction of the traces with a parent, instead of following it.
    /// - Parameter seed: determines the ids; each tracer needs a different one.
    /// - Parameter onEnd: called with each sampled span as it ends, on the thread that ends it. It must return at once.
    package init(
        sampleRatio: Double, ignoresParent: Bool = false, seed: UInt64,
        onEnd: @escaping @Sendable (RecordedSpan) -> Void
    ) {
        sampler = Sampler(ratio: sampleRatio)
        self.ignoresParent = ignoresParent
        self.onEnd = onEnd
        ids = Mutex(SpanIDs(seed: seed))
    }

    package func startSpan<Instant: TracerInstant>(
        _ operationName: String, context: @autoclosure () -> ServiceContext, ofKind kind: SpanKind,
        at instant: @autoclosure () -> Instant, function: String, file fileID: String, line: UInt
    ) -> RecordedSpan {
        var context = context()
        let parent = context.trace
        let own = child(of: parent)
        context.trace = own

        return RecordedSpan(
            operationName, kind: kind, context: context, trace: own, parent: parent,
            start: own.isSampled ? instant().nanosecondsSinceEpoch : 0, onEnd: onEnd)
    }

    /// Returns a child context of the parent's trace, or the first context of a new trace.
    private func child(of parent: TraceContext?) -> TraceContext {
        ids.withLock { ids in
            if let parent {
                let child = parent.child(parentID: ids.next())
                return ignoresParent ? child.sampled(sampler.samples(traceID: parent.lowTraceID)) : child
            }

            let traceID = (high: ids.next(), low: ids.next())
            return TraceContext(
                traceID: traceID, spanID: ids.next(), isSampled: sampler.samples(traceID: traceID.low))
        }
    }

    // MARK: - W3C Trace Context

    package func extract<Carrier, Extract: Extractor>(
        _ carrier: Carrier, into context: inout ServiceContext, using extractor: Extract
    ) where Extract.Carrier == Carrier {
        guard let parent = extractor.extract(key: "traceparent", from: carrier) else { return }
        let state = extractor.extract(key: "tracestate", from: carrier).map { Array($0.utf8) }
        if let trace = TraceContext(traceparent: Array(parent.utf8), tracestate: state) { context.trace = trace }
    }

    package func inject<Carrier, Inject: Injector>(
        _ context: ServiceContext, into carrier: inout Carrier, using injector: Inject
    ) where Inject.Carrier == Carrier {
        guard let trace = context.trace else { return }
        injector.inject(String(decoding: trace.traceparent, as: UTF8.self), forKey: "traceparent", into: &carrier)
        guard let state = trace.traceState else { return }
        injector.inject(String(decoding: state, as: UTF8.self), forKey: "tracestate", into: &carrier)
    }

    /// Does nothing: spans are exported when their batch is full or its interval has passed, and at the end of the
    /// process.
    package func forceFlush() {}
}
