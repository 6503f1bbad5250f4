import Basics
import Tracing

/// Encodes spans as an `ExportTraceServiceRequest` of OTLP 1, the body of one export.
///
/// The numbers are the field numbers of opentelemetry-proto (trace/v1/trace.proto, common/v1/common.proto). They are
/// stable: fields are added and never renumbered. `make check-tracing` decodes the result with OpenTelemetry's package.
struct OTLPRequest {
    /// The version of the semantic conventions that define the attribute names.
    static let schemaURL = "https://opentelemetry.io/schemas/1.44.0"
    /// The most bytes of a text; longer ones are truncated.
    private static let longestText = 1024

    /// The resource attributes, which describe this process.
    let resource: [(name: String, value: String)]
    /// The name and version of the instrumentation scope.
    let scope: (name: String, version: String)

    func bytes(of spans: [RecordedSpan]) -> [UInt8] {
        var request = ProtobufWriter(capacity: 512 + spans.count * 768)
        request.message(1) { resourceSpans in
            resourceSpans.message(1) { message in
                for (name, value) in resource { Self.attribute(name, value: .string(value), field: 1, to: &message) }
            }

            resourceSpans.message(2) { scopeSpans in
                scopeSpans.message(1) { message in
                    message.text(1, scope.name)
                    message.text(2, scope.version)
                }
                for span in spans { scopeSpans.message(2) { Self.write(span, to: &$0) } }
                scopeSpans.text(3, Self.schemaURL)
            }
        }
        return request.bytes
    }

    private static func write(_ span: RecordedSpan, to message: inout ProtobufWriter) {
        let content = span.content
        message.data(1, span.trace.traceIDBytes)
        message.data(2, span.trace.spanIDBytes)
        if let state = span.trace.traceState { message.data(3, state) }
        if let parent = span.parent { message.data(4, parent.spanIDBytes) }
        message.text(5, cut(content.name))
        message.varint(6, number(of: span.kind))
        message.fixed64(7, span.start)
        message.fixed64(8, content.end)
        attributes(content.attributes, field: 9, to: &message)

        if let status = content.status {
            message.message(15) { message in
                message.text(2, cut(status.message ?? ""))
                message.varint(3, status.code == .error ? 2 : 1)
            }
        }
        message.fixed32(16, UInt32(truncatingIfNeeded: span.trace.flags))
    }

    private static func number(of kind: SpanKind) -> UInt64 {
        switch kind {
        case .internal: 1
        case .server: 2
        case .client: 3
        case .producer: 4
        case .consumer: 5
        }
    }

    // MARK: - Attributes

    /// Writes attributes sorted by name, so that equal spans have equal bytes.
    private static func attributes(_ attributes: SpanAttributes, field: UInt64, to message: inout ProtobufWriter) {
        var all: [(name: String, value: SpanAttribute)] = []
        attributes.forEach { all.append(($0, $1)) }
        for (name, value) in all.sorted(by: { $0.name < $1.name }) {
            attribute(name, value: value, field: field, to: &message)
        }
    }

    private static func attribute(
        _ name: String, value: SpanAttribute, field: UInt64, to message: inout ProtobufWriter
    ) {
        message.message(field) { message in
            message.text(1, name)
            message.message(2) { write(value, to: &$0) }
        }
    }

    /// Writes a value of one of the types that the worker uses.
    private static func write(_ value: SpanAttribute, to message: inout ProtobufWriter) {
        switch value {
        case .string(let text): message.presentText(1, cut(text))
        case .bool(let flag): message.presentVarint(2, flag ? 1 : 0)
        case .int32(let number): message.presentVarint(3, UInt64(bitPattern: Int64(number)))
        case .int64(let number): message.presentVarint(3, UInt64(bitPattern: number))
        case .double(let number): message.presentFixed64(4, number.bitPattern)
        case .stringConvertible(let value): message.presentText(1, cut("\(value)"))
        case .stringArray(let values): array(values, to: &message)
        default: break
        }
    }

    private static func array(_ texts: [String], to message: inout ProtobufWriter) {
        message.message(5) { message in
            for text in texts { message.message(1) { $0.presentText(1, cut(text)) } }
        }
    }

    private static func cut(_ text: String) -> String {
        guard text.utf8.count > longestText else { return text }
        var bytes = text.utf8.prefix(longestText)
        while String(bytes) == nil { bytes.removeLast() }
        return String(bytes) ?? ""
    }
}
