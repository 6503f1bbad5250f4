import Basics
import Metrics
import Tracing
import Testing

@testable import Observability
@testable import TraceExport

struct SpanTracerTests {
    private static let traceID = "0af7651916cd43dd8448eb211c80319c"
    private static let parentID = "b7ad6b7169203331"
    private static let sampled = ["traceparent": "00-\(traceID)-\(parentID)-01", "tracestate": "a=1"]
    private static let unsampled = ["traceparent": "00-\(traceID)-\(parentID)-00"]

    @Test func `A child of a sampled parent is recorded at any ratio`() throws {
        let box = SpanBox()
        let tracer = box.tracer(sampleRatio: 0)

        let span = tracer.startSpan("outer", context: tracer.context(Self.sampled))
        let inner = tracer.startSpan("inner", context: span.context)
        inner.end()
        span.end()

        #expect(box.spans.map { $0.content.name } == ["inner", "outer"])
        #expect(box.spans.map { $0.trace.traceID } == [Self.traceID, Self.traceID])
        #expect(box.spans.map { $0.parent?.spanID } == [span.trace.spanID, Self.parentID])
        #expect(
            tracer.headers(span.context)
                == ["traceparent": "00-\(Self.traceID)-\(span.trace.spanID)-01", "tracestate": "a=1"])
    }

    @Test func `Ended spans are the exemplars of their histograms`() {
        let registry = MetricsRegistry()
        let process = ["messaging_system", "messaging_operation_name", "messaging_destination_name"].map { ($0, "x") }
        let group = [("messaging_consumer_group_name", "x")]
        _ = registry.makeTimer(label: "messaging_process_duration_seconds", dimensions: process + group)
        _ = registry.makeTimer(label: "locsearch_request_end_to_end_seconds", dimensions: [])
        let labels = [("provider", "hotpepper"), ("code", "timeout")]
        registry.makeTimer(label: "locsearch_provider_call_duration_seconds", dimensions: labels).recordNanoseconds(1)

        let tracer = SpanTracer(sampleRatio: 1, seed: 1) { registry.keepExemplars(of: $0) }
        let request = tracer.startSpan("process x", context: tracer.context(Self.sampled), ofKind: .consumer)
        for (name, _) in process + group { request.attributes[name.replacing("_", with: ".")] = "x" }
        request.attributes["locsearch.topic.wait"] = 1000.0
        let call = tracer.startSpan("GET", context: request.context, ofKind: .client)
        call.attributes["locsearch.provider"] = "hotpepper"
        call.attributes["error.type"] = "timeout"
        call.end()
        request.end()
        // A request without an outcome is in no histogram.
        let other = tracer.startSpan("process x", context: .topLevel, ofKind: .consumer)
        other.attributes = request.attributes
        other.attributes["error.type"] = "abandoned"
        other.end()

        let lines = registry.text(withExemplars: true).split(separator: "\n").filter { $0.contains("trace_id") }
        #expect(lines.count == 3 && lines.allSatisfy { $0.contains("# {trace_id=\"\(Self.traceID)\"}") }, "\(lines)")
        // The request waited in its topic for longer than the largest bound but one.
        let whole = "locsearch_request_end_to_end_seconds_bucket"
        #expect(lines.contains { $0.hasPrefix(whole) && $0.contains("} 1000.") })
    }

    @Test(arguments: [(0.0, sampled, 0), (1, unsampled, 2)])
    func `A tracer that ignores the parent samples by the ratio`(
        ratio: Double, headers: [String: String], spans: Int
    ) {
        let box = SpanBox()
        let tracer = SpanTracer(sampleRatio: ratio, ignoresParent: true, seed: 1) { box.add($0) }
        let span = tracer.startSpan("outer", context: tracer.context(headers))
        tracer.startSpan("inner", context: span.context).end()
        span.end()
        #expect(box.spans.count == spans && span.trace.traceID == Self.traceID)
        #expect(tracer.headers(span.context)["traceparent"]?.hasSuffix(spans == 0 ? "-00" : "-01") == true)
    }

    @Test func `A child of an unsampled parent is recorded at no ratio`() {
        let box = SpanBox()
        let tracer = box.tracer(sampleRatio: 1)

        let span = tracer.startSpan("outer", context: tracer.context(Self.unsampled))
        #expect(!span.isRecording)
        span.attributes["a"] = 1
        span.end()

        #expect(box.spans.isEmpty)
        #expect(span.content.attributes.isEmpty)
        #expect(tracer.headers(span.context) == ["traceparent": "00-\(Self.traceID)-\(span.trace.spanID)-00"])
    }

    @Test func `Headers without a trace begin one`() {
        let box = SpanBox()
        let tracer = box.tracer()
        for headers in [[:], ["traceparent": "00-zz"], ["tracestate": "a=1"]] {
            tracer.startSpan("first", context: tracer.context(headers)).end()
        }

        #expect(box.spans.allSatisfy { $0.parent == nil && $0.trace.isSampled && $0.trace.traceState == nil })
        #expect(Set(box.spans.map { $0.trace.traceID }).count == 3)
    }

    @Test func `A span ends once and changes no more`() throws {
        let box = SpanBox()
        let span = box.tracer().startSpan("first", context: .topLevel, at: FixedInstant(nanosecondsSinceEpoch: 50))
        // The clock was set back meanwhile.
        span.end(at: FixedInstant(nanosecondsSinceEpoch: 7))
        span.end(at: FixedInstant(nanosecondsSinceEpoch: 99))
        span.setStatus(SpanStatus(code: .error))

        let content = try #require(box.spans.first).content
        #expect(box.spans.count == 1)
        #expect(content.end == 50)
        #expect(content.status == nil)
    }

    @Test func `A span has a bounded number of attributes`() throws {
        let box = SpanBox()
        let span = box.tracer().startSpan("first", context: .topLevel)
        for number in 0..<1000 {
            span.updateAttributes { $0["a\(number)"] = number }
        }
        span.end()

        let content = try #require(box.spans.first).content
        #expect(content.attributes.count == 64)
    }

    // MARK: - Sampling

    @Test(arguments: [(0.0, 0), (0.25, 250), (1.0, 1000)])
    func `The sampled fraction of evenly spread ids is the ratio`(ratio: Double, expected: Int) {
        let sampler = Sampler(ratio: ratio)
        let step = (UInt64.max >> 1) / 1000
        let sampled = (0..<1000).count { sampler.samples(traceID: UInt64($0) * step) }
        #expect(abs(sampled - expected) <= 1)
    }

    @Test func `The upper bit of an id does not count`() {
        let sampler = Sampler(ratio: 0.5)
        #expect(sampler.samples(traceID: 1 << 63) == sampler.samples(traceID: 0))
    }
}
