package import Basics
import Synchronization
package import Tracing

/// One step of a request. Thread-safe; every call returns at once.
///
/// Changes after `end` are ignored, as are all changes of a span whose trace is not sampled. The worker records no
/// events and links, and so they are not kept.
package final class RecordedSpan: Tracing.Span {
    /// The most attributes of one span, so that no caller can make a batch too large for its collector.
    private static let mostAttributes = 64

    /// The data of a span at one moment.
    package struct Content: Sendable {
        package var name: String
        package var attributes: SpanAttributes = [:]
        package var status: SpanStatus?
        /// Nanoseconds since 1970; 0 until the span has ended.
        package var end: UInt64 = 0
    }

    package let context: ServiceContext
    package let kind: SpanKind
    package let trace: TraceContext
    /// The trace context of the parent span; `nil` for the first span of a trace.
    package let parent: TraceContext?
    /// Nanoseconds since 1970.
    package let start: UInt64
    private let state: Mutex<Content>
    private let onEnd: @Sendable (RecordedSpan) -> Void

    init(
        _ name: String, kind: SpanKind, context: ServiceContext, trace: TraceContext, parent: TraceContext?,
        start: UInt64,
        onEnd: @escaping @Sendable (RecordedSpan) -> Void
    ) {
        self.context = context
        self.kind = kind
        self.parent = parent
        self.start = start
        self.onEnd = onEnd
        self.trace = trace
        state = Mutex(Content(name: name))
    }

    package var isRecording: Bool { trace.isSampled }

    package var content: Content { state.withLock { $0 } }

    package var operationName: String {
        get { state.withLock { $0.name } }
        set { change { $0.name = newValue } }
    }

    package var attributes: SpanAttributes {
        get { state.withLock { $0.attributes } }
        set { change { if newValue.count <= Self.mostAttributes { $0.attributes = newValue } } }
    }

    package func setStatus(_ status: SpanStatus) { change { $0.status = status } }

    package func addEvent(_ event: SpanEvent) {}

    package func addLink(_ link: SpanLink) {}

    package func recordError<Instant: TracerInstant>(
        _ error: any Error, attributes: SpanAttributes, at instant: @autoclosure () -> Instant
    ) {}

    package func end<Instant: TracerInstant>(at instant: @autoclosure () -> Instant) {
        guard isRecording else { return }
        let now = instant().nanosecondsSinceEpoch
        let isFirst = state.withLock { content in
            guard content.end == 0 else { return false }
            // The system clock may have been set back meanwhile.
            content.end = max(now, start, 1)
            return true
        }
        if isFirst { onEnd(self) }
    }

    private func change(_ body: (inout Content) -> Void) {
        guard isRecording else { return }
        state.withLock { content in
            if content.end == 0 { body(&content) }
        }
    }
}
