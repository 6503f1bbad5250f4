import Basics
import Resilience
import Synchronization
import TestSupport
import Testing
import TraceExport
import Tracing

@testable import LocationSearch
@testable import ProviderCalls

/// The spans of a search's calls.
struct SearchTraceTests {
    private static let failed = SearchError(.upstreamUnavailable, "closed for today", providerStatus: "CLOSED")
    private let time = VirtualTime()

    private final class Spans: Sendable {
        private let ended = Mutex<[RecordedSpan]>([])
        var all: [RecordedSpan] { ended.withLock { $0 } }

        /// Returns a context with a trace whose spans are recorded here.
        func context() -> (context: RequestContext, parent: RecordedSpan) {
            let tracer = SpanTracer(sampleRatio: 1, seed: 1) { span in self.ended.withLock { $0.append(span) } }
            let parent = tracer.startSpan("search", context: .topLevel)
            let context = RequestContext(since: .now)
            context.follow(SearchTrace(tracer: tracer, context: parent.context))
            return (context, parent)
        }
    }

    private func begin(_ service: any PlaceService, _ context: RequestContext) -> BegunSearch {
        let request = SearchRequest(requestID: "r", location: Coordinate(latitude: 35, longitude: 139))
        return SearchActor(time).begin(
            request, at: [service], before: Deadline(time.now + .seconds(30)), context: context)
    }

    @Test func `Each attempt is a span that says how it ended`() throws {
        let spans = Spans()
        let (context, parent) = spans.context()
        let service = ScriptedService { $0 < 2 ? .failure(Self.failed) : .success(ProviderAnswer()) }

        #expect(try begin(service, context).finish(within: .seconds(30)).attempts == 2)

        let contents = spans.all.map(\.content)
        #expect(spans.all.allSatisfy { $0.kind == .client && $0.parent?.spanID == parent.trace.spanID })
        #expect(contents.map { $0.attributes.get("locsearch.call.number") } == [.int64(1), .int64(2)])
        #expect(contents.map { $0.attributes.get("error.type") } == [.string("upstream-unavailable"), nil])
        #expect(contents.first?.attributes.get("locsearch.provider.status") == .string("CLOSED"))
        #expect(contents.map(\.status?.message) == ["closed for today", nil])
    }

    @Test func `Only the service finds the span of its call`() throws {
        let spans = Spans()
        let service = ScriptedService { _ in
            CallSpan.current?.attributes["seen"] = true
            return .success(ProviderAnswer())
        }

        try begin(service, spans.context().context).finish(within: .zero)
        #expect(spans.all.map { $0.content.attributes.get("seen") } == [.bool(true)])
        #expect(CallSpan.current == nil)
    }

    @Test func `A call without waiting requests ends as cancelled`() throws {
        let spans = Spans()
        let context = spans.context().context
        let service = ScriptedService { [time] _ in
            try? await time.sleep(until: time.now + .seconds(20), tolerance: nil)
            return .failure(Self.failed)
        }

        let search = begin(service, context)
        #expect(service.calls == 1)
        search.cancel()
        time.run(for: .zero)
        #expect(spans.all.count == 1)
        #expect(spans.all.first?.content.attributes.get("error.type") == .string("cancelled"))
    }
}
