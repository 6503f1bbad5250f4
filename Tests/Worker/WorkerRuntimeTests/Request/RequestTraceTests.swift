import Kafka
import Synchronization
import TestSupport
import Testing
import TraceExport
import Tracing

@testable import WorkerRuntime

/// The spans of requests on a whole lane, with a source and a sink without brokers.
struct RequestTraceTests {
    private static let traceID = "0af7651916cd43dd8448eb211c80319c"
    private static let parentID = "b7ad6b7169203331"
    private static let sampled = [RecordHeader("traceparent", text: "00-\(traceID)-\(parentID)-01")]
    private static let unsampled = [RecordHeader("traceparent", text: "00-\(traceID)-\(parentID)-00")]

    /// The ended spans, and the tracer that made them. The tracer starts no sampled traces.
    private final class Traces: Sendable {
        private let ended = Mutex<[RecordedSpan]>([])

        var spans: [RecordedSpan] { ended.withLock { $0 } }

        func tracing(sampleRatio: Double = 0) -> RequestTracing {
            let tracer = SpanTracer(sampleRatio: sampleRatio, seed: 1) { span in
                self.ended.withLock { $0.append(span) }
            }
            return RequestTracing(tracer: tracer, consumerGroup: "group")
        }

        /// Returns the only ended span whose name has this prefix.
        func span(_ name: String) throws -> RecordedSpan {
            let found = spans.filter { $0.content.name.hasPrefix(name) }
            try #require(found.count == 1, "\(spans.map { $0.content.name })")
            return found[0]
        }
    }

    private static func traceparent(of record: ProducerRecord) -> String? {
        record.headers.last(named: "traceparent")?.text
    }

    @Test(arguments: WorkerConfiguration.Delivery.allCases)
    func `An outcome names the span that sent it`(delivery: WorkerConfiguration.Delivery) async throws {
        let traces = Traces()
        try await LaneFixture.run(delivery: delivery, tracing: traces.tracing()) { fixture in
            await fixture.source.append([LaneFixture.request("a")], headers: Self.sampled)
            try await eventually("its spans have ended") { traces.spans.count == 3 }

            let (process, send) = (try traces.span("process requests"), try traces.span("send results"))
            #expect(process.parent?.spanID == Self.parentID)
            #expect(try traces.span("search").parent?.spanID == process.trace.spanID)
            #expect(send.parent?.spanID == process.trace.spanID)
            #expect(send.content.attributes.get("messaging.kafka.offset") == .int64(0))
            #expect(process.content.status == nil)

            let record = try #require(await fixture.sink.written.first)
            #expect(Self.traceparent(of: record) == "00-\(Self.traceID)-\(send.trace.spanID)-01")
        }
    }

    @Test func `An unsampled request has no spans and its trace goes on`() async throws {
        let traces = Traces()
        try await LaneFixture.run(tracing: traces.tracing(sampleRatio: 1)) { fixture in
            await fixture.source.append([LaneFixture.request("a")], headers: Self.unsampled)
            try await fixture.outcomesAreWritten(["a"])

            let parent = try #require(Self.traceparent(of: await fixture.sink.written[0]))
            #expect(parent.hasPrefix("00-\(Self.traceID)-") && parent.hasSuffix("-00"))
            #expect(!parent.contains(Self.parentID))
        }
        #expect(traces.spans.isEmpty)
    }

    @Test func `An invalid record has a span with the reason`() async throws {
        let traces = Traces()
        try await LaneFixture.run(tracing: traces.tracing()) { fixture in
            await fixture.source.append(["{}"], headers: Self.sampled)
            try await eventually("its spans have ended") { traces.spans.count == 2 }
        }

        let process = try traces.span("process requests")
        #expect(process.content.attributes.get("error.type") == .string("invalid-request"))
        #expect(process.content.status?.code == .error)
        #expect(try traces.span("send errors").parent?.spanID == process.trace.spanID)
    }

    @Test func `A request of a lost partition is abandoned and sends nothing`() async throws {
        let traces = Traces()
        try await LaneFixture.run(tracing: traces.tracing()) { fixture in
            await fixture.provider.hold()
            await fixture.source.append([LaneFixture.request("a")], headers: Self.sampled)
            try await eventually("it is asked for") { await fixture.provider.asked == ["a"] }

            await fixture.source.lose([0])
            await fixture.provider.releaseAll()
            try await eventually("its spans have ended") { traces.spans.count == 2 }
        }

        let process = try traces.span("process requests")
        #expect(process.content.attributes.get("error.type") == .string("abandoned"))
        #expect(!traces.spans.contains { $0.content.name.hasPrefix("send") })
    }
}
