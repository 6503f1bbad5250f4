import ProviderCalls
import QuotaSharing
import Resilience
import TestSupport
import Testing

@testable import LocationSearch

/// Requests during a pause that a provider asked for (`Retry-After`).
extension SearchWorkerTests {
    private static let tooOften = SearchError(
        .rateLimited, "too often", retryAfter: .seconds(90), httpStatus: 429)
    private static let unavailable = SearchError(
        .upstreamUnavailable, "not available", retryAfter: .seconds(90), httpStatus: 503)

    private static let pauses: [(SearchError, CircuitBreaker.Reason, SearchError.Code)] = [
        (tooOften, .providerRateLimit, .rateLimited), (unavailable, .providerUnavailable, .circuitOpen),
    ]

    @Test(arguments: pauses)
    func `Requests after a long pause was asked for say so`(
        error: SearchError, reason: CircuitBreaker.Reason, code: SearchError.Code
    ) throws {
        let service = ScriptedService { $0 == 1 ? .failure(error) : .success(Self.found) }
        let worker = worker { $0.retry.maxAttempts = 1 }
        #expect(try self.code(ask(worker, [service])) == error.code)

        time.run(for: .seconds(20))
        let report = try ask(worker, [service])
        #expect(self.code(report) == code)
        guard case .failure(let refusal) = report.result else { return }
        #expect(refusal.retryAfter == .seconds(70))
        #expect(refusal.message.contains("requested a pause"))
        #expect(!refusal.message.contains("rate and concurrency that are allowed"), "our settings are not to blame")

        let status = try #require(worker.statuses.first)
        #expect(status.breaker == .paused)
        #expect(status.breakerReason == reason)
        #expect(status.pausedFor == .seconds(70))
        #expect(status.openFor == nil)
        #expect(!status.isAskable)

        time.run(for: .seconds(70))
        #expect(worker.statuses.first?.breaker == .closed)
        #expect(worker.statuses.first?.breakerReason == nil)
        #expect(try self.code(ask(worker, [service])) == nil)
        #expect(transitions.all.map(\.to) == [.paused, .closed])
        #expect(transitions.all.map(\.reason) == [reason, nil])
        #expect(transitions.all.first?.openFor == .seconds(90))
        #expect(transitions.causes == [error, nil], "the log names the provider's status")
    }

    /// A provider may ask for a second with every other answer.
    @Test func `A short pause is shown in the status but not logged`() throws {
        let short = SearchError(.rateLimited, "too often", retryAfter: .seconds(2), httpStatus: 429)
        let service = ScriptedService { $0 == 1 ? .failure(short) : .success(Self.found) }
        let worker = worker { $0.retry.maxAttempts = 1 }
        try ask(worker, [service])
        #expect(worker.statuses.first?.breaker == .paused)

        let report = try begin(worker, [service]).finish()
        #expect(code(report) == nil, "it waits for the end of the pause")
        #expect(transitions.all.isEmpty)
    }

    @Test func `Parked requests wait for the end of a pause`() throws {
        let service = ScriptedService { $0 == 1 ? .failure(Self.tooOften) : .success(Self.found) }
        let worker = worker {
            $0.retry.maxAttempts = 1
            $0.whenOpen = .hold
        }
        try ask(worker, [service])

        let search = begin(worker, [service], within: .seconds(1))
        #expect(worker.statuses.first?.held == 1)
        time.run(for: .seconds(90))
        #expect(try code(search.finish(within: .zero)) == nil)
        #expect(service.calls == 2)
    }

    /// Two good probes of three close the breaker, so the third one's end admits the calls that wait.
    @Test func `No call is made after the last probe requested a pause`() throws {
        let service = ScriptedService { [time] number in
            if number <= 4 { return .failure(Self.failed) }
            await time.sleep(for: .milliseconds(600))
            return number == 7 ? .failure(Self.unavailable) : .success(Self.found)
        }
        let worker = worker {
            $0.retry.maxAttempts = 1
            $0.breaker.minimumCalls = 4
            $0.breaker.probes = 3
            $0.rateLimit = RateLimit(perSecond: 2, burst: 1)
            $0.share = .perProcess(loops: 1)
        }
        for number in 0..<4 { try begin(worker, [service], request("r\(number)")).finish() }
        time.run(for: try #require(worker.statuses.first?.openFor))

        let searches = (0..<4).map { begin(worker, [service], request("p\($0)", keyword: "\($0)")) }
        let codes = try searches.map { try code($0.finish()) }
        #expect(codes == [nil, nil, .upstreamUnavailable, .circuitOpen])
        #expect(service.calls == 7)
    }

    @Test func `The next provider is used if the first one requested a pause`() throws {
        let paused = ScriptedService(.hotpepper) { _ in .failure(Self.unavailable) }
        let other = ScriptedService(.googlePlaces) { _ in .success(Self.found) }
        let worker = worker { $0.retry.maxAttempts = 1 }
        for number in 0..<3 {
            let report = try ask(worker, [paused, other], request("r\(number)"))
            #expect(report.provider == .googlePlaces)
        }
        #expect(paused.calls == 1)
    }

    /// A used-up quota is handled by the breaker. If the breaker is disabled, every call is let through.
    @Test func `A used-up quota is not a pause`() throws {
        let used = SearchError(
            .rateLimited, "quota", retryAfter: .seconds(3600), httpStatus: 200, allowsAttempt: false)
        let service = ScriptedService { $0 == 1 ? .failure(used) : .success(Self.found) }
        let worker = worker { $0.breaker.isEnabled = false }
        #expect(try code(ask(worker, [service])) == .rateLimited)
        #expect(try code(ask(worker, [service])) == nil)
        #expect(worker.statuses.first?.breaker == .closed)
    }
}
