import LocationSearch
import Resilience
import TestSupport
import Testing

@testable import ProviderCalls

/// Requests whose kept-alive connection is closed before the answer.
extension SearchWorkerTests {
    private static var stale: SearchError {
        var error = SearchError(.unreachable, "closed")
        error.isStale = true
        return error
    }

    @Test(arguments: [1, 3])
    func `A stale connection is followed at once by another counted call`(maxAttempts: Int) throws {
        let service = ScriptedService { $0 == 1 ? .failure(Self.stale) : .success(Self.found) }
        let worker = worker { $0.retry.maxAttempts = maxAttempts }
        // No time passes, so there is no pause before the second call.
        let report = try ask(worker, [service])
        #expect(code(report) == nil)
        #expect(report.attempts == 2)
        #expect(service.calls == 2)
        #expect(worker.statuses.first { $0.provider == .hotpepper }?.calls == 2)
    }

    @Test func `The second stale connection of a request is an ordinary failure`() throws {
        let service = ScriptedService { _ in .failure(Self.stale) }
        let report = try ask(worker { $0.retry.maxAttempts = 1 }, [service])
        #expect(code(report) == .unreachable)
        #expect(service.calls == 2)
    }

    @Test func `Stale connections do not open the breaker`() throws {
        let service = ScriptedService { $0.isMultiple(of: 2) ? .success(Self.found) : .failure(Self.stale) }
        let worker = worker {
            $0.retry.maxAttempts = 1
            $0.budget.ratio = 1
            $0.breaker.minimumCalls = 4
        }
        for number in 0..<10 { #expect(try code(ask(worker, [service], request("r\(number)"))) == nil) }
        #expect(transitions.all.isEmpty)
    }

    /// A provider that closes each kept-alive connection must not double the bill.
    @Test func `Calls after stale connections spend the retry budget`() throws {
        let service = ScriptedService { _ in .failure(Self.stale) }
        let worker = worker {
            $0.retry.maxAttempts = 1
            $0.budget.ratio = 0.2
            $0.budget.minimumPerSecond = 0
            $0.breaker.isEnabled = false
        }
        for number in 0..<50 { try ask(worker, [service], request("r\(number)")) }
        #expect(service.calls == 60)
    }
}
