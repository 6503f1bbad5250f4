import Basics
import QuotaSharing
import Resilience
import TestSupport
import Testing

@testable import LocationSearch
@testable import ProviderCalls

/// Calls whose request is abandoned while they wait.
struct UnwantedCallTests {
    @Test func `A call whose request is abandoned just before its grant is not made`() {
        let time = VirtualTime()
        let service = ScriptedService { _ in .success(ProviderAnswer()) }
        var policy = ProviderPolicy(concurrency: 8)
        policy.rateLimit = RateLimit(perSecond: 1, burst: 1)
        policy.share = .perProcess(loops: 1)
        let worker = SearchActor(time, policies: [.hotpepper: policy])
        // This timer is older than the queue's, so it runs first in the moment that brings the token.
        let searches = Box<[BegunSearch]>([])
        time.schedule(at: time.now + .seconds(1)) { searches.value[1].cancel() }
        searches.value = ["first", "second"].map { name in
            worker.begin(
                SearchRequest(requestID: name, keyword: name), at: [service],
                before: Deadline(time.now + .seconds(60)))
        }
        #expect(service.calls == 1, "the second call waits for a token")

        time.run(for: .seconds(2))
        #expect(searches.value.allSatisfy { $0.report != nil })
        #expect(service.calls == 1)
    }
}
