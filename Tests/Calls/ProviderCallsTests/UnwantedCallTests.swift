import Basics
import QuotaSharing
import Resilience
import Synchronization
import TestSupport
import Testing

@testable import LocationSearch
@testable import ProviderCalls

/// Calls whose request is abandoned after they were granted and before they begin.
struct UnwantedCallTests {
    private static func request(_ keyword: String, to service: ScriptedService) -> AddressedRequest {
        AddressedRequest(SearchRequest(requestID: keyword, keyword: keyword), to: [service])
    }

    @Test func `A call whose request is abandoned in the job that grants it is not made`() {
        let time = VirtualTime()
        let service = ScriptedService { _ in .success(ProviderAnswer()) }
        var policy = ProviderPolicy(concurrency: 8)
        policy.rateLimit = RateLimit(perSecond: 1, burst: 1)
        policy.share = .perProcess(loops: 1)
        let worker = SearchWorker(
            executor: time, policies: [.hotpepper: policy], clock: SystemClock(), timekeeper: time, taskExecutor: time,
            random: SystemRandomNumberGenerator())
        let ended = Mutex<[String]>([])
        let deadline = Deadline(.now + .seconds(60))
        _ = worker.begin(Self.request("first", to: service), before: deadline) { _ in ended.withLock { $0 += ["first"] }
        }
        let second = worker.begin(Self.request("second", to: service), before: deadline) { _ in
            ended.withLock { $0 += ["second"] }
        }
        time.settle()
        #expect(service.calls == 1, "the second call waits for a token")

        // Called in each job that may grant calls that waited.
        worker.onShorterLine {
            worker.assumeIsolated { worker in
                if worker.client(of: .hotpepper).caller.queue.line.isEmpty { worker.cancel(second) }
            }
        }
        time.run(for: .seconds(2))
        #expect(ended.withLock { $0 } == ["first", "second"])
        #expect(service.calls == 1)
    }
}
