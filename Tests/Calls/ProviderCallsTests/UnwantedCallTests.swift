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
    @Test func `A call whose request is abandoned in the job that grants it is not made`() {
        let time = VirtualTime()
        let service = ScriptedService { _ in .success(ProviderAnswer()) }
        var policy = ProviderPolicy(concurrency: 8)
        policy.rateLimit = RateLimit(perSecond: 1, burst: 1)
        policy.share = .perProcess(loops: 1)
        let worker = SearchActor(
            executor: time, policies: [.hotpepper: policy], clock: SystemClock(), timekeeper: time, taskExecutor: time,
            random: SystemRandomNumberGenerator())
        let ended = Mutex<[String]>([])
        let deadline = Deadline(.now + .seconds(60))
        let numbers = worker.assumeIsolated { worker in
            ["first", "second"].map { name in
                worker.begin(SearchRequest(requestID: name, keyword: name), at: [service], before: deadline) { _ in
                    ended.withLock { $0 += [name] }
                }
            }
        }
        time.settle()
        #expect(service.calls == 1, "the second call waits for a token")

        // Called in each job that may grant calls that waited.
        worker.assumeIsolated { actor in
            actor.worker.onShorterLine {
                worker.assumeIsolated { actor in
                    if actor.worker.client(of: .hotpepper).caller.queue.line.isEmpty { actor.cancel(numbers[1]) }
                }
            }
        }
        time.run(for: .seconds(2))
        #expect(ended.withLock { $0 } == ["first", "second"])
        #expect(service.calls == 1)
    }
}
