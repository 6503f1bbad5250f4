import Basics
package import Logging
import Tracing

/// Logs the steps of a request, one line as each ends, so that a request can be followed without a collector.
package struct SpanLog: Sendable {
    private let log: Logger

    package init(_ log: Logger) { self.log = log }

    func write(_ span: RecordedSpan) {
        guard log.logLevel <= .debug else { return }

        let content = span.content
        var metadata: Logger.Metadata = [
            "trace_id": "\(span.trace.traceID)", "span_id": "\(span.trace.spanID)", "step": "\(content.name)",
            "ms": "\(Double((content.end - span.start) / 1000) / 1000)",
        ]
        if let parent = span.parent { metadata["parent_span_id"] = "\(parent.spanID)" }
        content.attributes.forEach { name, value in metadata[name] = Self.text(of: value) }
        if let message = content.status?.message { metadata["error"] = "\(message)" }
        log.debug("a step of a request ended", metadata: metadata)
    }

    private static func text(of value: SpanAttribute) -> Logger.MetadataValue {
        switch value {
        case .string(let text): "\(text)"
        case .int64(let number): "\(number)"
        case .int32(let number): "\(number)"
        case .double(let number): "\(number)"
        case .bool(let flag): "\(flag)"
        case .stringArray(let texts): .array(texts.map { "\($0)" })
        case .stringConvertible(let value): "\(value)"
        default: "\(value)"
        }
    }
}
