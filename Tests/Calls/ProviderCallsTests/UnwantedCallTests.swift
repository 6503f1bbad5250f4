import Basics
import QuotaSharing
import Resilience
import TestSupport
import Testing

@testable import LocationSearch
@testable import ProviderCalls

/// Calls whose request is abandoned while they wait.
struct UnwantedCallTests {
    private let time = VirtualTime()

    /// A worker with one call a second.
    private func limited() -> SearchActor {
        var policy = ProviderPolicy(concurrency: 8)
        policy.rateLimit = RateLimit(perSecond: 1, burst: 1)
        policy.share = .perProcess(loops: 1)
        return SearchActor(time, policies: [.hotpepper: policy])
    }

    private func begin(
        _ keyword: String, at service: ScriptedService, by worker: SearchActor, in context: RequestContext? = nil
    ) -> BegunSearch {
        worker.begin(
            SearchRequest(requestID: "r", keyword: keyword), at: [service], before: Deadline(time.now + .seconds(60)),
            context: context)
    }

    /// Otherwise a rebalance would leave the request to the next owner, who would pay again.
    @Test func `A call is recorded with the request that has inherited it`() {
        let (service, worker) = (ScriptedService { _ in .success(ProviderAnswer()) }, limited())
        let context = RequestContext(since: time.now)
        _ = begin("first", at: service, by: worker)
        let older = begin("second", at: service, by: worker)
        _ = begin("second", at: service, by: worker, in: context)
        older.cancel()
        time.settle()
        #expect(service.calls == 1 && !context.hasCalled, "the second call waits for a token")

        time.run(for: .seconds(2))
        #expect(service.calls == 2 && context.hasCalled)
    }

    @Test func `A call whose request is abandoned just before its grant is not made`() {
        let (service, worker) = (ScriptedService { _ in .success(ProviderAnswer()) }, limited())
        // This timer is older than the queue's, so it runs first in the moment that brings the token.
        let searches = Box<[BegunSearch]>([])
        time.schedule(at: time.now + .seconds(1)) { searches.value[1].cancel() }
        searches.value = ["first", "second"].map { begin($0, at: service, by: worker) }
        #expect(service.calls == 1, "the second call waits for a token")

        time.run(for: .seconds(2))
        #expect(searches.value.allSatisfy { $0.report != nil })
        #expect(service.calls == 1)
    }
}
