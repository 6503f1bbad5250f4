import Basics
import QuotaSharing
import Resilience
import TestSupport
import Testing

@testable import LocationSearch
@testable import ProviderCalls

/// Calls whose request is abandoned after they were granted and before they begin.
struct UnwantedCallTests {
    @Test func `A call whose request is abandoned in the job that grants it is not made`() {
        let time = VirtualTime()
        let service = ScriptedService { _ in .success(ProviderAnswer()) }
        var policy = ProviderPolicy(concurrency: 8)
        policy.rateLimit = RateLimit(perSecond: 1, burst: 1)
        policy.share = .perProcess(loops: 1)
        let worker = SearchActor(time, policies: [.hotpepper: policy])
        let searches = ["first", "second"].map { name in
            worker.begin(
                SearchRequest(requestID: name, keyword: name), at: [service],
                before: Deadline(time.now + .seconds(60)))
        }
        #expect(service.calls == 1, "the second call waits for a token")

        // Called in each job that may grant calls that waited.
        worker.enter {
            $0.onShorterLine {
                let isGranted = worker.enter { $0.client(of: .hotpepper).caller.queue.line.isEmpty }
                if isGranted { searches[1].cancel() }
            }
        }
        time.run(for: .seconds(2))
        #expect(searches.allSatisfy { $0.report != nil })
        #expect(service.calls == 1)
    }
}
