import Basics
import ProviderCalls
import QuotaSharing
import Resilience
import TestSupport
import Testing

@testable import LocationSearch

/// Requests during the pauses of a breaker.
extension SearchWorkerTests {
    @Test func `A provider that fails is not asked for a while`() throws {
        let service = ScriptedService { $0 <= 20 ? .failure(Self.failed) : .success(Self.found) }
        let worker = worker { $0.retry.maxAttempts = 1 }
        for number in 0..<20 { try ask(worker, [service], request("r\(number)")) }
        let refused = try ask(worker, [service])
        #expect(code(refused) == .circuitOpen)
        guard case .failure(let error) = refused.result else { return }
        #expect(error.retryAfter == .seconds(5))
        #expect(refused.attempts == 0)
        #expect(service.calls == 20)
        time.run(for: .seconds(5))
        for number in 0..<3 { #expect(try code(ask(worker, [service], request("p\(number)"))) == nil) }
        #expect(transitions.all.map(\.to) == [.open, .halfOpen, .closed])
    }

    /// After a standstill of the process, all of its calls have timed out. The breaker stays closed.
    @Test(arguments: [(Duration.seconds(5), true), (.milliseconds(5_900), true), (.seconds(15), false)])
    func `Timeouts of a standstill say nothing about the provider`(passed: Duration, opens: Bool) throws {
        let service = ScriptedService { [time] number in
            if number > 5 { return .success(Self.found) }
            time.freeze(for: passed)
            return .failure(SearchError(.timeout, "no answer in time"))
        }
        let worker = worker {
            $0.retry.maxAttempts = 1
            $0.breaker.window = .seconds(100)
            $0.breaker.minimumCalls = 5
        }
        for number in 0..<5 { #expect(try code(ask(worker, [service], request("r\(number)"))) == .timeout) }

        #expect(try code(ask(worker, [service])) == (opens ? .circuitOpen : nil))
        #expect(transitions.all.map(\.to) == (opens ? [.open] : []))
    }

    /// A provider's answer counts even if the process stood still before it read it.
    @Test func `A used-up quota is noticed after a standstill`() throws {
        let service = ScriptedService { [time] _ in
            time.freeze(for: .seconds(15))
            return .failure(Self.usedUpQuota)
        }
        let worker = worker()

        try ask(worker, [service])
        #expect(try code(ask(worker, [service], request("next"))) == .rateLimited)
        #expect(service.calls == 1)
        #expect(transitions.all.map(\.to) == [.open])
    }

    private static let refusedKey = SearchError(
        .unauthorized, "key refused", httpStatus: 403, providerStatus: "REQUEST_DENIED")
    private static let usedUpQuota = SearchError(
        .rateLimited, "quota", retryAfter: .seconds(7200), httpStatus: 429, allowsAttempt: false)

    /// 401 and 403 open the breaker at once and are reported once. Errors of later requests name the key as the cause, not the
    /// provider, and the time of the next attempt.
    @Test func `Requests after a refused key end unauthorized without a call`() throws {
        let service = ScriptedService { _ in .failure(Self.refusedKey) }
        let worker = worker()
        #expect(try code(ask(worker, [service])) == .unauthorized)
        for number in 0..<10 {
            let report = try ask(worker, [service], request("\(number)"))
            #expect(code(report) == .unauthorized)
            guard case .failure(let error) = report.result else { return }
            #expect(error.retryAfter == .seconds(300))
            #expect(error.message.contains("API key"))
        }
        #expect(service.calls == 1)
        #expect(transitions.all.map(\.reason) == [.keyRefused])
        #expect(transitions.causes == [Self.refusedKey], "the log names the provider's status")
        #expect(worker.statuses.first?.breakerReason == .keyRefused)
    }

    @Test func `Requests after a used up quota end rate limited for as long as it says`() throws {
        let service = ScriptedService { _ in .failure(Self.usedUpQuota) }
        let worker = worker()
        #expect(try code(ask(worker, [service])) == .rateLimited)
        time.run(for: .seconds(7100))
        let report = try ask(worker, [service])
        #expect(code(report) == .rateLimited)
        guard case .failure(let error) = report.result else { return }
        #expect(error.retryAfter == .seconds(100))
        #expect(error.message.contains("quota"))
        #expect(service.calls == 1)
        #expect(worker.statuses.first?.breakerReason == .quotaUsedUp)
    }

    /// The first call is in flight and the others wait for a token or a permit when the provider rejects the key.
    @Test(arguments: [(rate: 1.0, concurrency: 16), (rate: 1_000, concurrency: 1)])
    func `Calls that wait when the breaker opens end at once without a call`(limits: (rate: Double, concurrency: Int))
        throws
    {
        let service = slowService(.failure(Self.refusedKey))
        let worker = worker {
            $0.concurrency.maximum = limits.concurrency
            $0.rateLimit = RateLimit(perSecond: limits.rate, burst: 1)
            $0.share = .perProcess(loops: 1)
            $0.sharesIdenticalCalls = false
        }

        let searches = (0..<4).map { begin(worker, [service], request("r\($0)"), within: .seconds(60)) }
        #expect(service.calls == 1)
        let status = worker.statuses.first
        #expect((status?.rateLimiter.waiting ?? 0) + (status?.concurrency.waiting ?? 0) == 3)

        let first = time.now + .seconds(1)
        let codes = try searches.map { code(try $0.finish()) }
        #expect(time.now == first, "the waiting calls end with the first one")
        #expect(codes == Array(repeating: .unauthorized, count: 4))
        #expect(service.calls == 1)
    }

    /// The first request that meets the rejection falls back, as later ones do.
    @Test(arguments: [refusedKey, usedUpQuota])
    func `The next provider is used if the first one rejects its key`(error: SearchError) throws {
        let refused = ScriptedService(.hotpepper) { _ in .failure(error) }
        let other = ScriptedService(.googlePlaces) { _ in .success(Self.found) }
        let worker = worker()
        for number in 0..<5 {
            let report = try ask(worker, [refused, other], request("r\(number)"))
            #expect(report.provider == .googlePlaces)
            #expect(code(report) == nil)
        }
        #expect(refused.calls == 1)
        #expect(other.calls == 5)
    }

    /// `whenOpen=hold` keeps batch requests until the key works again, for either reason of the breaker.
    @Test(arguments: [refusedKey, usedUpQuota])
    func `Parked requests wait for a valid key`(error: SearchError) throws {
        let service = ScriptedService { $0 == 1 ? .failure(error) : .success(Self.found) }
        let worker = worker { $0.whenOpen = .hold }
        #expect(try code(ask(worker, [service])) == error.code)

        let search = begin(worker, [service], within: .seconds(1))
        #expect(worker.statuses.first?.held == 1)
        time.run(for: .seconds(7200))
        #expect(try code(search.finish(within: .zero)) == nil)
        #expect(service.calls == 2)
    }

    @Test func `A requests own fault never opens it`() throws {
        let service = ScriptedService { _ in .failure(SearchError(.invalidRequest, "no", httpStatus: 400)) }
        let worker = worker()
        for number in 0..<50 { try ask(worker, [service], request("r\(number)")) }
        #expect(service.calls == 50)
        #expect(transitions.all.isEmpty)
    }

    /// `whenOpen=hold`: the request waits, and its deadline is extended.
    @Test func `Parked requests wait for the provider`() throws {
        let service = ScriptedService { $0 <= 20 ? .failure(Self.failed) : .success(Self.found) }
        let worker = worker {
            $0.retry.maxAttempts = 1
            $0.whenOpen = .hold
        }
        for number in 0..<20 { try ask(worker, [service], request("r\(number)")) }
        let report = try begin(worker, [service], within: .seconds(1)).finish()
        #expect(code(report) == nil)
        #expect(service.calls == 21)
    }

    @Test func `A parked request is not begun again and again while probes are in flight`() throws {
        var tests = self
        tests.time = VirtualTime(timePerReading: .microseconds(1))
        let service = ScriptedService { [time = tests.time] number in
            if number <= 20 { return .failure(Self.failed) }
            await time.sleep(for: .milliseconds(500))
            return .success(Self.found)
        }
        let worker = tests.worker {
            $0.retry.maxAttempts = 1
            $0.whenOpen = .hold
        }
        for number in 0..<20 {
            #expect(try code(tests.begin(worker, [service], request("r\(number)")).finish()) != nil)
        }
        tests.time.run(for: try #require(worker.statuses.first?.openFor))

        let searches = (0..<10).map { number in
            tests.begin(worker, [service], request("p\(number)", keyword: "\(number)"), within: .seconds(2))
        }
        let timersRun = tests.time.timersRun
        tests.time.run(for: .milliseconds(400))
        #expect(service.calls == 23)
        #expect(worker.statuses.first?.held == 7)
        #expect(tests.time.timersRun - timersRun < 20)
        for search in searches { #expect(try code(search.finish()) == nil) }
    }
}
