import Resilience
import Synchronization
import Testing

@testable import LocationSearch

/// What a request awaits on its way must not go by the executor's queue: each time costs more than most of what is awaited.
struct SwitchTests {
    /// Runs jobs on the test's own thread, and counts them.
    private final class CountedJobs: SerialExecutor, TaskExecutor {
        private let waiting = Mutex<[UnownedJob]>([])
        private let total = Mutex(0)

        var count: Int { total.withLock { $0 } }

        func enqueue(_ job: consuming ExecutorJob) {
            let job = UnownedJob(job)
            total.withLock { $0 += 1 }
            waiting.withLock { $0.append(job) }
        }
        func checkIsolated() {}
        func isIsolatingCurrentContext() -> Bool? { true }

        /// Until nothing waits any more.
        func run() {
            let (serial, task) = unsafe (asUnownedSerialExecutor(), asUnownedTaskExecutor())
            while true {
                let ready = waiting.withLock { waiting in
                    defer { waiting.removeAll() }
                    return waiting
                }
                if ready.isEmpty { return }
                for job in ready { unsafe job.runSynchronously(isolatedTo: serial, taskExecutor: task) }
            }
        }
    }

    private struct Ready: PlaceService {
        let id = ProviderID.hotpepper

        func refusal(of request: SearchRequest) -> SearchError? { nil }

        func answer(_ request: SearchRequest, before deadline: Deadline) async throws(SearchError) -> ProviderAnswer {
            ProviderAnswer(places: [])
        }
    }

    @Test func aRequestThatWaitsForNothingMakesFewJobs() {
        let executor = CountedJobs()
        let worker = SearchWorker(executor: executor, taskExecutor: executor)
        let isAnswered = Mutex(false)
        Task.detached(executorPreference: executor) {
            let report = await worker.report(
                on: SearchRequest(requestID: "r", location: Coordinate(latitude: 35, longitude: 139)),
                from: [Ready()], before: Deadline(.now + .seconds(60)), note: nil)
            if case .success = report.result { isAnswered.withLock { $0 = true } }
        }
        executor.run()
        #expect(isAnswered.withLock { $0 })
        // The request's task begins, the call's task begins, the request's goes on; the test's own closure takes two.
        #expect(executor.count <= 5)
    }
}
