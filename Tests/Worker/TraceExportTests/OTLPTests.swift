import Basics
import Testing
import Tracing

@testable import TraceExport

/// The wire format, compared with bytes that OpenTelemetry's Python package (opentelemetry-proto 1.45.2) wrote for a message with the
/// same content. `make check-tracing` reads a worker's export with that package.
struct OTLPTests {
    private static let written = """
        0ab5020a1a0a180a0c736572766963652e6e616d6512080a06776f726b65721296020a0a0a0573636f706512013112de
        010a100af7651916cd43dd8448eb211c80319c1208910a2dec89025cc11a03613d312208b7ad6b71692033312a0d4745
        5420686f7470657070657230033915cd853dfe9c97174115ae7b43fe9c97174a140a056172726179120b2a090a030a01
        780a020a004a0b0a05656d70747912020a004a0a0a04666c6167120210004a150a066e756d626572120b18feffffffff
        ffffffff014a120a05726174696f120921000000000000d03f4a130a0474657874120b0a09e5b185e98592e5b18b4a0a
        0a047a65726f120218007a0d12096974206661696c656418028501010000001a2768747470733a2f2f6f70656e74656c
        656d657472792e696f2f736368656d61732f312e34342e30
        """.filter { !$0.isWhitespace }

    private static func hex(_ bytes: [UInt8]) -> String {
        bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }

    private static let request = OTLPRequest(
        resource: [(name: "service.name", value: "worker")], scope: (name: "scope", version: "1"))

    @Test func `A span is written as OpenTelemetry writes it`() throws {
        let box = SpanBox()
        let tracer = box.tracer()
        let context = tracer.context([
            "traceparent": "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01", "tracestate": "a=1",
        ])

        let span = tracer.startSpan(
            "GET hotpepper", context: context, ofKind: .client,
            at: FixedInstant(nanosecondsSinceEpoch: 1_700_000_000_123_456_789))
        span.updateAttributes { attributes in
            attributes["text"] = "居酒屋"
            attributes["empty"] = ""
            attributes["number"] = -2
            attributes["zero"] = 0
            attributes["ratio"] = 0.25
            attributes["flag"] = false
            attributes["array"] = ["x", ""]
        }
        span.setStatus(SpanStatus(code: .error, message: "it failed"))
        span.end(at: FixedInstant(nanosecondsSinceEpoch: 1_700_000_000_223_456_789))

        #expect(Self.hex(Self.request.bytes(of: box.spans)) == Self.written)
    }

    @Test func `Long texts are cut`() {
        let box = SpanBox()
        let span = box.tracer().startSpan("a", context: .topLevel)
        span.attributes["text"] = String(repeating: "居", count: 100_000)
        span.end()
        // 1,024 bytes at most, of which no character is split.
        #expect((1000...1500).contains(Self.request.bytes(of: box.spans).count))
    }

    // MARK: - OpenTelemetry's rules about endpoints and resources

    @Test(arguments: [
        ("http://a:1", false, "http://a:1/v1/traces"), ("http://a:1/v1/traces", false, "http://a:1/v1/traces"),
        ("http://a:1/x", true, "http://a:1/x"), ("http://a:1", true, "http://a:1"),
    ])
    func `The endpoint of traces is used as it stands`(endpoint: String, isWhole: Bool, url: String) {
        var configuration = TraceExportConfiguration(endpoint: endpoint)
        configuration.isTracesURL = isWhole
        #expect(configuration.tracesURL == url)
    }

    @Test func `Spans carry the attributes of their process`() {
        var configuration = TraceExportConfiguration(endpoint: "http://a:1")
        configuration.serviceName = "own"
        configuration.attributes = ["service.name": "other", "host.name": "", "deployment.environment.name": "b c"]
        let resource = configuration.request.resource.map { "\($0.name)=\($0.value)" }
        #expect(
            resource == ["deployment.environment.name=b c", "service.name=own", "telemetry.sdk.language=swift"])
    }
}
