package import Basics
internal import Observability
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
        (self.kind, self.parent, self.start, self.onEnd, self.trace) = (kind, parent, start, onEnd, trace)
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

extension MetricsRegistry {
    /// Keeps an ended span as an exemplar of each histogram that has counted its duration.
    func keepExemplars(of span: RecordedSpan) {
        let (content, start) = (span.content, span.start)
        let attributes = content.attributes
        func text(_ name: String) -> String? {
            if case .string(let text) = attributes.get(name) { text } else { nil }
        }
        func keep(after wait: Duration = .zero, of label: String, _ dimensions: [(String, String)] = []) {
            // Cannot be negative: `end` keeps a span from ending before its start.
            let duration = wait + .nanoseconds(Int64(clamping: content.end - start))
            let exemplar = Exemplar(duration, traceID: span.trace.traceID, time: content.end)
            self.keep(exemplar, of: label, dimensions: dimensions)
        }

        switch span.kind {
        case .client:
            let labels = [("provider", text("locsearch.provider") ?? ""), ("code", text("error.type") ?? "ok")]
            keep(of: "locsearch_provider_call_duration_seconds", labels)
        case .consumer where text("error.type") != "abandoned":
            let names = ["system", "operation.name", "destination.name", "consumer.group.name"]
            let labels = names.map { name in
                ("messaging_\(name.replacing(".", with: "_"))", text("messaging.\(name)") ?? "")
            }
            keep(of: "messaging_process_duration_seconds", labels)
            guard case .double(let wait) = attributes.get("locsearch.topic.wait") else { return }
            keep(after: .seconds(saturating: wait), of: "locsearch_request_end_to_end_seconds")
        default: break
        }
    }
}
