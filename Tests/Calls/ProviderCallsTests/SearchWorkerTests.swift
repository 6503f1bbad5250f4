import Basics
import EventLoop
import QuotaSharing
import Resilience
import Synchronization
import TestSupport
import Testing

@testable import LocationSearch
@testable import ProviderCalls

/// The limits and policies that a request passes on its way to a provider, and their order.
struct SearchWorkerTests {
    static let failed = SearchError(.upstreamUnavailable, "broken", httpStatus: 500)
    static let found = ProviderAnswer(places: [Place(id: "a", provider: .hotpepper, name: "A")])

    let clock = ManualClock()
    let loop: EventLoop
    let transitions = Transitions()

    final class Transitions: Sendable {
        private let seen = Mutex<[(transition: CircuitBreaker.Transition, cause: SearchError?)]>([])
        func add(_ transition: CircuitBreaker.Transition, cause: SearchError?) {
            seen.withLock { $0.append((transition, cause)) }
        }
        private let seenBudgets = Mutex<[String]>([])
        func add(_ budget: Budget, _ time: Duration?) {
            seenBudgets.withLock { $0.append("\(budget.account) \(time == nil ? "allows calls" : "is used up")") }
        }
        var budgets: [String] { seenBudgets.withLock { $0 } }
        var all: [CircuitBreaker.Transition] { seen.withLock { $0.map(\.transition) } }
        var causes: [SearchError?] { seen.withLock { $0.map(\.cause) } }
    }

    init() throws { loop = try EventLoop() }

    func worker(_ change: (inout ProviderPolicy) -> Void = { _ in }) -> SearchActor {
        var policy = ProviderPolicy(concurrency: 16)
        change(&policy)
        let policies = Dictionary(uniqueKeysWithValues: ProviderID.allCases.map { ($0, policy) })
        return SearchActor(
            executor: loop, policies: policies, clock: clock, taskExecutor: loop, random: SystemRandomNumberGenerator(),
            observer: CallObserver(
                onTransition: { [transitions] _, transition, cause in transitions.add(transition, cause: cause) }))
    }

    func request(_ id: String = "r", keyword: String? = nil) -> SearchRequest {
        SearchRequest(requestID: id, location: Coordinate(latitude: 35, longitude: 139), keyword: keyword)
    }

    func ask(
        _ worker: SearchActor, _ services: [any PlaceService], _ request: SearchRequest? = nil,
        within time: Duration = .seconds(5), lifetime: RequestLifetime? = nil, context: RequestContext? = nil
    ) async -> SearchReport {
        await worker.report(
            on: request ?? self.request(), at: services, before: Deadline(clock.now + time), lifetime: lifetime,
            context: context)
    }

    func code(_ report: SearchReport) -> SearchError.Code? {
        if case .failure(let error) = report.result { error.code } else { nil }
    }

    // MARK: - Retries

    @Test func `A failure is followed by another attempt`() async throws {
        let service = ScriptedService { $0 < 3 ? .failure(Self.failed) : .success(Self.found) }
        let worker = worker()
        let report = try await driving(clock) { await self.ask(worker, [service]) }
        #expect(code(report) == nil)
        #expect(report.attempts == 3)
        #expect(service.calls == 3)
    }

    @Test func `A retry that is not granted leaves the failure that it follows`() async throws {
        let service = ScriptedService { _ in .failure(Self.failed) }
        let worker = worker {
            $0.rateLimit = RateLimit(perSecond: 0.01, burst: 1)
            $0.share = .perProcess(loops: 1)
        }
        let report = try await driving(clock) { await self.ask(worker, [service]) }
        #expect(service.calls == 1)
        guard case .failure(let error) = report.result else { return #expect(Bool(false), "it failed") }
        #expect(error.code == .upstreamUnavailable)
        #expect(error.httpStatus == 500)
        #expect(error.message.hasPrefix("broken (not retried: hotpepper could not be called"))
        #expect(error.message.contains("requestsPerSecond"))
        #expect(error.limit == nil, "the request has been asked for")
        #expect(error.retryAfter.map { $0 > .seconds(60) } == true)
    }

    @Test func `A refusal names the limit that left no call`() async throws {
        let service = ScriptedService { _ in .success(Self.found) }
        let worker = worker {
            $0.rateLimit = RateLimit(perSecond: 0.01, burst: 1)
            $0.share = .perProcess(loops: 1)
        }
        #expect(code(await ask(worker, [service])) == nil)
        guard case .failure(let error) = await ask(worker, [service]).result else {
            return #expect(Bool(false), "it failed")
        }
        #expect(error.code == .rateLimited)
        #expect(error.limit == .rate)
    }

    @Test(arguments: [SearchError.Code.invalidRequest, .notFound, .upstreamRejected])
    func `An error that a retry cannot cure is not retried`(code: SearchError.Code) async throws {
        let service = ScriptedService { _ in .failure(SearchError(code, "no")) }
        let report = await ask(worker(), [service])
        #expect(self.code(report) == code)
        #expect(service.calls == 1)
    }

    /// Retries do not multiply an outage: after the minimum is used up, one request in five allows a retry.
    @Test func `Retries keep to their budget`() async throws {
        let service = ScriptedService { _ in .failure(Self.failed) }
        let worker = worker {
            $0.breaker.isEnabled = false
            $0.budget.minimumPerSecond = 0
        }
        for number in 0..<100 {
            _ = try await driving(clock) { await self.ask(worker, [service], self.request("r\(number)")) }
        }
        #expect(service.calls > 100)
        #expect(service.calls <= 120)
    }

    @Test func `Nothing is sent after the deadline`() async throws {
        let service = ScriptedService { _ in .success(Self.found) }
        let report = await ask(worker(), [service], within: .zero)
        #expect(code(report) == .timeout)
        #expect(service.calls == 0)
    }

    // MARK: - Fallback

    @Test func `An open breaker passes on to the next candidate`() async throws {
        let broken = ScriptedService(.hotpepper) { _ in .failure(Self.failed) }
        let other = ScriptedService(.googlePlaces) { _ in .success(Self.found) }
        let worker = worker { $0.retry.maxAttempts = 1 }
        for number in 0..<25 {
            let report = await ask(worker, [broken, other], request("r\(number)"))
            #expect(report.provider == .googlePlaces)
            #expect(report.triedProviders == [.hotpepper, .googlePlaces])
        }
        #expect(broken.calls == 20)
        #expect(other.calls == 25)
    }

    // MARK: - Rate

    @Test func `A rate is kept and too late is said at once`() async throws {
        let service = ScriptedService { _ in .success(Self.found) }
        let worker = worker {
            $0.rateLimit = RateLimit(perSecond: 10, burst: 2)
            $0.share = .perProcess(loops: 1)
        }
        await worker.assign([0], of: 1)
        for number in 0..<2 { #expect(code(await ask(worker, [service], request("\(number)"))) == nil) }
        let refused = await ask(worker, [service], within: .milliseconds(50))
        #expect(code(refused) == .rateLimited)
        guard case .failure(let error) = refused.result else { return }
        #expect(error.retryAfter == .milliseconds(100))
        clock.advance(by: .milliseconds(100))
        #expect(code(await ask(worker, [service], request("later"))) == nil)
    }

    @Test func `The share follows the partitions`() async throws {
        let service = ScriptedService { _ in .success(Self.found) }
        let worker = worker { $0.rateLimit = RateLimit(perSecond: 100, burst: 1) }
        _ = await ask(worker, [service], within: .milliseconds(1))
        #expect(service.calls == 0)  // no partition assigned yet
        await worker.assign([0, 1, 2], of: 12)
        #expect(await worker.statuses.first?.allowedPerSecond == 25)
    }

    /// `Retry-After` applies to all requests, not only to the one that received it.
    @Test func `A providers pause holds everybody`() async throws {
        let service = ScriptedService {
            $0 == 1
                ? .failure(SearchError(.rateLimited, "slow down", retryAfter: .seconds(3), httpStatus: 429))
                : .success(Self.found)
        }
        let worker = worker { $0.retry.maxAttempts = 1 }
        _ = await ask(worker, [service])
        #expect(code(await ask(worker, [service], request("other"), within: .seconds(1))) == .rateLimited)
        #expect(service.calls == 1)
        clock.advance(by: .seconds(3))
        #expect(code(await ask(worker, [service], request("third"))) == nil)
    }

    // MARK: - Single flight

    @Test func `Identical searches share one call`() async throws {
        let door = Door()
        let service = ScriptedService { _ in
            await door.pass()
            return .success(Self.found)
        }
        let worker = worker()
        let first = Task { await self.ask(worker, [service], self.request("one")) }
        try await eventually("the call is under way") { service.calls == 1 }
        let second = Task { await self.ask(worker, [service], self.request("two")) }
        let different = Task { await self.ask(worker, [service], self.request("three", keyword: "ramen")) }
        try await eventually("the second joined") { await worker.statuses.first?.shared == 1 && service.calls == 2 }
        await door.open()
        #expect(await first.value.attempts == 1)
        #expect(await second.value.attempts == 0)
        #expect(code(await second.value) == nil)
        #expect(await different.value.attempts == 1)
        #expect(service.calls == 2)
    }

    /// The calls count for the request that made them; the others report none, whatever the result.
    @Test func `Requests that share a failed call report no attempts`() async throws {
        let door = Door()
        let service = ScriptedService { _ in
            await door.pass()
            return .failure(Self.failed)
        }
        let worker = worker()
        let tasks = (0..<20).map { number in Task { await self.ask(worker, [service], self.request("\(number)")) } }
        try await eventually("all share one call") { await worker.statuses.first?.shared == 19 }
        await door.open()

        let reports = try await driving(clock) {
            var reports: [SearchReport] = []
            for task in tasks { reports.append(await task.value) }
            return reports
        }
        #expect(reports.allSatisfy { code($0) == .upstreamUnavailable })
        #expect(service.calls == 3)
        #expect(reports.map(\.attempts).sorted() == Array(repeating: 0, count: 19) + [3])
    }

    @Test func `A cancelled request leaves the call to the others`() async throws {
        let door = Door()
        let service = ScriptedService { _ in
            await door.pass()
            return .success(Self.found)
        }
        let worker = worker()
        let first = Task { await self.ask(worker, [service], self.request("one")) }
        try await eventually("the call is under way") { service.calls == 1 }
        let second = Task { await self.ask(worker, [service], self.request("two")) }
        try await eventually("the second joined") { await worker.statuses.first?.shared == 1 }
        first.cancel()
        _ = await first.value
        await door.open()
        #expect(code(await second.value) == nil)
        #expect(service.cancelled == 0)
    }

    // MARK: - Cost

    /// With and without a separate task for the call.
    @Test(arguments: [true, false])
    func `A call is noted for the request that it is made for`(isShared: Bool) async throws {
        let service = ScriptedService { _ in .success(Self.found) }
        let worker = worker {
            $0.sharesIdenticalCalls = isShared
            $0.rateLimit = RateLimit(perSecond: 1, burst: 1)
            $0.share = .perProcess(loops: 1)
        }
        let (paid, refused) = (RequestContext(since: .now), RequestContext(since: .now))
        let first = await ask(worker, [service], context: paid)
        #expect(code(first) == nil)
        #expect(paid.hasCalled)
        let second = await ask(worker, [service], request("other"), within: .milliseconds(10), context: refused)
        #expect(code(second) == .rateLimited)
        #expect(!refused.hasCalled)
    }

    @Test func `Without single flight each makes its own call`() async throws {
        let service = ScriptedService { _ in .success(Self.found) }
        let worker = worker { $0.sharesIdenticalCalls = false }
        for _ in 0..<3 { #expect(await ask(worker, [service]).attempts == 1) }
        #expect(service.calls == 3)
    }
}
