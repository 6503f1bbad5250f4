import ProviderCalls
import QuotaSharing
import Resilience
import TestSupport
import Testing

@testable import LocationSearch

/// Requests during the pauses of a breaker.
extension SearchWorkerTests {
    @Test func `A provider that fails is not asked for a while`() async throws {
        let service = ScriptedService { $0 <= 20 ? .failure(Self.failed) : .success(Self.found) }
        let worker = worker { $0.retry.maxAttempts = 1 }
        for number in 0..<20 { _ = await ask(worker, [service], request("r\(number)")) }
        let refused = await ask(worker, [service])
        #expect(code(refused) == .circuitOpen)
        guard case .failure(let error) = refused.result else { return }
        #expect(error.retryAfter == .seconds(5))
        #expect(refused.attempts == 0)
        #expect(service.calls == 20)
        clock.advance(by: .seconds(5))
        for number in 0..<3 { #expect(code(await ask(worker, [service], request("p\(number)"))) == nil) }
        #expect(transitions.all.map(\.to) == [.open, .halfOpen, .closed])
    }

    /// After a standstill of the process, all of its calls have timed out. The breaker stays closed.
    @Test(arguments: [(Duration.seconds(5), true), (.milliseconds(5_900), true), (.seconds(15), false)])
    func `Timeouts of a standstill say nothing about the provider`(passed: Duration, opens: Bool) async throws {
        let service = ScriptedService { [clock] number in
            if number > 5 { return .success(Self.found) }
            clock.advance(by: passed)
            return .failure(SearchError(.timeout, "no answer in time"))
        }
        let worker = worker {
            $0.retry.maxAttempts = 1
            $0.breaker.window = .seconds(100)
            $0.breaker.minimumCalls = 5
        }
        for number in 0..<5 { #expect(code(await ask(worker, [service], request("r\(number)"))) == .timeout) }

        #expect(code(await ask(worker, [service])) == (opens ? .circuitOpen : nil))
        #expect(transitions.all.map(\.to) == (opens ? [.open] : []))
    }

    /// A provider's answer counts even if the process stood still before it read it.
    @Test func `A used-up quota is noticed after a standstill`() async throws {
        let service = ScriptedService { [clock] _ in
            clock.advance(by: .seconds(15))
            return .failure(Self.usedUpQuota)
        }
        let worker = worker()

        _ = await ask(worker, [service])
        #expect(code(await ask(worker, [service], request("next"))) == .rateLimited)
        #expect(service.calls == 1)
        #expect(transitions.all.map(\.to) == [.open])
    }

    private static let refusedKey = SearchError(
        .unauthorized, "key refused", httpStatus: 403, providerStatus: "REQUEST_DENIED")
    private static let usedUpQuota = SearchError(
        .rateLimited, "quota", retryAfter: .seconds(7200), httpStatus: 429, allowsAttempt: false)

    /// 401 and 403 open the breaker at once and are reported once. Errors of later requests name the key as the cause, not the
    /// provider, and the time of the next attempt.
    @Test func `Requests after a refused key end unauthorized without a call`() async throws {
        let service = ScriptedService { _ in .failure(Self.refusedKey) }
        let worker = worker()
        #expect(code(await ask(worker, [service])) == .unauthorized)
        for number in 0..<10 {
            let report = await ask(worker, [service], request("\(number)"))
            #expect(code(report) == .unauthorized)
            guard case .failure(let error) = report.result else { return }
            #expect(error.retryAfter == .seconds(300))
            #expect(error.message.contains("API key"))
        }
        #expect(service.calls == 1)
        #expect(transitions.all.map(\.reason) == [.keyRefused])
        #expect(transitions.causes == [Self.refusedKey], "the log names the provider's status")
        #expect(await worker.statuses.first?.breakerReason == .keyRefused)
    }

    @Test func `Requests after a used up quota end rate limited for as long as it says`() async throws {
        let service = ScriptedService { _ in .failure(Self.usedUpQuota) }
        let worker = worker()
        #expect(code(await ask(worker, [service])) == .rateLimited)
        clock.advance(by: .seconds(7100))
        let report = await ask(worker, [service])
        #expect(code(report) == .rateLimited)
        guard case .failure(let error) = report.result else { return }
        #expect(error.retryAfter == .seconds(100))
        #expect(error.message.contains("quota"))
        #expect(service.calls == 1)
        #expect(await worker.statuses.first?.breakerReason == .quotaUsedUp)
    }

    /// The first call is in flight and the others wait for a token or a permit when the provider rejects the key.
    @Test(arguments: [(rate: 1.0, concurrency: 16), (rate: 1_000, concurrency: 1)])
    func `Calls that wait when the breaker opens end at once without a call`(limits: (rate: Double, concurrency: Int))
        async throws
    {
        let door = Door()
        let service = ScriptedService { _ in
            await door.pass()
            return .failure(Self.refusedKey)
        }
        let worker = worker {
            $0.concurrency.maximum = limits.concurrency
            $0.rateLimit = RateLimit(perSecond: limits.rate, burst: 1)
            $0.share = .perProcess(loops: 1)
            $0.sharesIdenticalCalls = false
        }

        let codes = try await withThrowingTaskGroup(of: SearchError.Code?.self) { group in
            for number in 0..<4 {
                group.addTask {
                    self.code(await self.ask(worker, [service], self.request("r\(number)"), within: .seconds(60)))
                }
            }
            try await eventually("one is asked for and three wait") {
                let status = await worker.statuses.first
                let waiting = (status?.rateLimiter.waiting ?? 0) + (status?.concurrency.waiting ?? 0)
                return service.calls == 1 && waiting == 3
            }
            await door.open()
            // No time passes, so the waiting calls end because of the rejection only.
            return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(codes == Array(repeating: .unauthorized, count: 4))
        #expect(service.calls == 1)
    }

    /// The first request that meets the rejection falls back, as later ones do.
    @Test(arguments: [refusedKey, usedUpQuota])
    func `The next provider is used if the first one rejects its key`(error: SearchError) async throws {
        let refused = ScriptedService(.hotpepper) { _ in .failure(error) }
        let other = ScriptedService(.googlePlaces) { _ in .success(Self.found) }
        let worker = worker()
        for number in 0..<5 {
            let report = await ask(worker, [refused, other], request("r\(number)"))
            #expect(report.provider == .googlePlaces)
            #expect(code(report) == nil)
        }
        #expect(refused.calls == 1)
        #expect(other.calls == 5)
    }

    /// `whenOpen=hold` keeps batch requests until the key works again, for either reason of the breaker.
    @Test(arguments: [refusedKey, usedUpQuota])
    func `Parked requests wait for a valid key`(error: SearchError) async throws {
        let service = ScriptedService { $0 == 1 ? .failure(error) : .success(Self.found) }
        let worker = worker { $0.whenOpen = .hold }
        #expect(code(await ask(worker, [service])) == error.code)

        let task = Task { await self.ask(worker, [service], within: .seconds(1)) }
        try await eventually("the request is held") { await worker.statuses.first?.held == 1 }
        clock.advance(by: .seconds(7200))
        #expect(code(await task.value) == nil)
        #expect(service.calls == 2)
    }

    @Test func `A requests own fault never opens it`() async throws {
        let service = ScriptedService { _ in .failure(SearchError(.invalidRequest, "no", httpStatus: 400)) }
        let worker = worker()
        for number in 0..<50 { _ = await ask(worker, [service], request("r\(number)")) }
        #expect(service.calls == 50)
        #expect(transitions.all.isEmpty)
    }

    /// `whenOpen=hold`: the request waits, and its deadline is extended.
    @Test func `Parked requests wait for the provider`() async throws {
        let service = ScriptedService { $0 <= 20 ? .failure(Self.failed) : .success(Self.found) }
        let worker = worker {
            $0.retry.maxAttempts = 1
            $0.whenOpen = .hold
        }
        for number in 0..<20 { _ = await ask(worker, [service], request("r\(number)")) }
        let report = try await driving(clock) { await self.ask(worker, [service], within: .seconds(1)) }
        #expect(code(report) == nil)
        #expect(service.calls == 21)
    }
}
