import Basics
import TestSupport
import Testing
import TraceExport
import Tracing

@testable import LocationSearch
@testable import ProviderCalls

/// The steps of a call must not go through the executor's queue: each hop costs more than most steps.
struct SwitchTests {
    private struct Ready: PlaceService {
        let id = ProviderID.hotpepper

        func refusal(of request: SearchRequest) -> SearchError? { nil }

        func priceClass(of request: SearchRequest, followUp: FollowUpCall?) -> PriceClass { .hotpepper }

        func begin(
            _ request: SearchRequest, followUp: FollowUpCall?, before deadline: Deadline,
            then end: @escaping ProviderCompletion
        ) -> (any Cancellable)? {
            end(.success(.answer(ProviderAnswer(places: []))))
            return nil
        }
    }

    private static let traced: RequestContext = {
        let tracer = SpanTracer(sampleRatio: 1, seed: 1) { _ in }
        let context = RequestContext(since: .now)
        context.follow(SearchTrace(tracer: tracer, context: tracer.startSpan("search", context: .topLevel).context))
        return context
    }()

    @Test(arguments: [nil, traced]) func `A request that waits for nothing makes no job`(context: RequestContext?) {
        let time = VirtualTime()
        let request = SearchRequest(requestID: "r", location: Coordinate(latitude: 35, longitude: 139))
        let search = SearchActor(time).begin(
            request, at: [Ready()], before: Deadline(time.now + .seconds(60)), context: context)
        guard case .success = search.report?.result else { return #expect(Bool(false), "it was not answered") }
        #expect(time.jobCount == 0)
    }
}
