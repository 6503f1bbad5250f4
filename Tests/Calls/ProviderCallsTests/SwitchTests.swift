import Basics
import Resilience
import Synchronization
import TestSupport
import Testing
import TraceExport
import Tracing

@testable import LocationSearch
@testable import ProviderCalls

/// The `await`s of a call must not go through the executor's queue: each hop costs more than most of what is awaited.
struct SwitchTests {
    private struct Ready: PlaceService {
        let id = ProviderID.hotpepper

        func refusal(of request: SearchRequest) -> SearchError? { nil }

        func priceClass(of request: SearchRequest, followUp: FollowUpCall?) -> PriceClass { .hotpepper }

        func call(
            for request: SearchRequest, followUp: FollowUpCall?, before deadline: Deadline
        ) async throws(SearchError) -> ProviderReply {
            .answer(ProviderAnswer(places: []))
        }
    }

    private static let traced: RequestContext = {
        let tracer = SpanTracer(sampleRatio: 1, seed: 1) { _ in }
        let context = RequestContext(since: .now)
        context.follow(SearchTrace(tracer: tracer, context: tracer.startSpan("search", context: .topLevel).context))
        return context
    }()

    @Test(arguments: [nil, traced]) func `A request that waits for nothing makes few jobs`(context: RequestContext?) {
        let executor = VirtualTime()
        let worker = SearchActor(
            executor: executor, clock: SystemClock(), taskExecutor: executor, random: SystemRandomNumberGenerator())
        let isAnswered = Mutex(false)
        let request = SearchRequest(requestID: "r", location: Coordinate(latitude: 35, longitude: 139))
        worker.assumeIsolated { worker in
            _ = worker.begin(request, at: [Ready()], before: Deadline(.now + .seconds(60)), context: context) {
                report in
                if case .success = report.result { isAnswered.withLock { $0 = true } }
            }
        }
        executor.settle()
        #expect(isAnswered.withLock { $0 })
        // The call's task begins.
        #expect(executor.jobCount <= 1)
    }
}
