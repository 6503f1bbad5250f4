import Basics
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

    var time = VirtualTime()
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

    func worker(_ change: (inout ProviderPolicy) -> Void = { _ in }) -> SearchActor {
        var policy = ProviderPolicy(concurrency: 16)
        change(&policy)
        let policies = Dictionary(uniqueKeysWithValues: ProviderID.allCases.map { ($0, policy) })
        return SearchActor(
            time, policies: policies,
            observer: CallObserver(
                onTransition: { [transitions] _, transition, cause in transitions.add(transition, cause: cause) }))
    }

    func request(_ id: String = "r", keyword: String? = nil) -> SearchRequest {
        SearchRequest(requestID: id, location: Coordinate(latitude: 35, longitude: 139), keyword: keyword)
    }

    /// Begins a search.
    func begin(
        _ worker: SearchActor, _ services: [any PlaceService], _ request: SearchRequest? = nil,
        within timeout: Duration = .seconds(5), lastCall: Instant? = nil, expiry: Instant? = nil,
        context: RequestContext? = nil
    ) -> BegunSearch {
        worker.begin(
            request ?? self.request(), at: services, before: Deadline(time.now + timeout), lastCall: lastCall,
            expiry: expiry, context: context)
    }

    /// Makes a search that ends without a wait.
    @discardableResult
    func ask(
        _ worker: SearchActor, _ services: [any PlaceService], _ request: SearchRequest? = nil,
        within timeout: Duration = .seconds(5), lastCall: Instant? = nil, expiry: Instant? = nil,
        context: RequestContext? = nil
    ) throws -> SearchReport {
        try begin(worker, services, request, within: timeout, lastCall: lastCall, expiry: expiry, context: context)
            .finish(within: .zero)
    }

    /// A service whose calls take a second.
    func slowService(_ result: Result<ProviderAnswer, SearchError>) -> ScriptedService {
        ScriptedService { [time] _ in
            await time.sleep(for: .seconds(1))
            return result
        }
    }

    func code(_ report: SearchReport) -> SearchError.Code? {
        if case .failure(let error) = report.result { error.code } else { nil }
    }

    // MARK: - Retries

    @Test func `A failure is followed by another attempt`() throws {
        let service = ScriptedService { $0 < 3 ? .failure(Self.failed) : .success(Self.found) }
        let worker = worker()
        let report = try begin(worker, [service]).finish()
        #expect(code(report) == nil)
        #expect(report.attempts == 3)
        #expect(service.calls == 3)
    }

    @Test func `A retry that is not granted leaves the failure that it follows`() throws {
        let service = ScriptedService { _ in .failure(Self.failed) }
        let worker = worker {
            $0.rateLimit = RateLimit(perSecond: 0.01, burst: 1)
            $0.share = .perProcess(loops: 1)
        }
        let report = try begin(worker, [service]).finish()
        #expect(service.calls == 1)
        guard case .failure(let error) = report.result else { return #expect(Bool(false), "it failed") }
        #expect(error.code == .upstreamUnavailable)
        #expect(error.httpStatus == 500)
        #expect(error.message.hasPrefix("broken (not retried: hotpepper could not be called"))
        #expect(error.message.contains("requestsPerSecond"))
        #expect(error.limit == nil, "the request has been asked for")
        #expect(error.retryAfter.map { $0 > .seconds(60) } == true)
    }

    @Test func `A refusal names the limit that left no call`() throws {
        let service = ScriptedService { _ in .success(Self.found) }
        let worker = worker {
            $0.rateLimit = RateLimit(perSecond: 0.01, burst: 1)
            $0.share = .perProcess(loops: 1)
        }
        #expect(try code(ask(worker, [service])) == nil)
        guard case .failure(let error) = try ask(worker, [service]).result else {
            return #expect(Bool(false), "it failed")
        }
        #expect(error.code == .rateLimited)
        #expect(error.limit == .rate)
    }

    @Test(arguments: [SearchError.Code.invalidRequest, .notFound, .upstreamRejected])
    func `An error that a retry cannot cure is not retried`(code: SearchError.Code) throws {
        let service = ScriptedService { _ in .failure(SearchError(code, "no")) }
        let report = try ask(worker(), [service])
        #expect(self.code(report) == code)
        #expect(service.calls == 1)
    }

    /// Retries do not multiply an outage: after the minimum is used up, one request in five allows a retry.
    @Test func `Retries keep to their budget`() throws {
        let service = ScriptedService { _ in .failure(Self.failed) }
        let worker = worker {
            $0.breaker.isEnabled = false
            $0.budget.minimumPerSecond = 0
        }
        for number in 0..<100 {
            try begin(worker, [service], request("r\(number)")).finish()
        }
        #expect(service.calls > 100)
        #expect(service.calls <= 120)
    }

    @Test func `Nothing is sent after the deadline`() throws {
        let service = ScriptedService { _ in .success(Self.found) }
        let report = try ask(worker(), [service], within: .zero)
        #expect(code(report) == .timeout)
        #expect(service.calls == 0)
    }

    // MARK: - Fallback

    @Test func `An open breaker passes on to the next candidate`() throws {
        let broken = ScriptedService(.hotpepper) { _ in .failure(Self.failed) }
        let other = ScriptedService(.googlePlaces) { _ in .success(Self.found) }
        let worker = worker { $0.retry.maxAttempts = 1 }
        for number in 0..<25 {
            let report = try ask(worker, [broken, other], request("r\(number)"))
            #expect(report.provider == .googlePlaces)
            #expect(report.triedProviders == [.hotpepper, .googlePlaces])
        }
        #expect(broken.calls == 20)
        #expect(other.calls == 25)
    }

    // MARK: - Rate

    @Test func `A rate is kept and too late is said at once`() throws {
        let service = ScriptedService { _ in .success(Self.found) }
        let worker = worker {
            $0.rateLimit = RateLimit(perSecond: 10, burst: 2)
            $0.share = .perProcess(loops: 1)
        }
        worker.enter { $0.assign([0], of: 1) }
        for number in 0..<2 { #expect(try code(ask(worker, [service], request("\(number)"))) == nil) }
        let refused = try ask(worker, [service], within: .milliseconds(50))
        #expect(code(refused) == .rateLimited)
        guard case .failure(let error) = refused.result else { return }
        #expect(error.retryAfter == .milliseconds(100))
        time.run(for: .milliseconds(100))
        #expect(try code(ask(worker, [service], request("later"))) == nil)
    }

    @Test func `The share follows the partitions`() throws {
        let service = ScriptedService { _ in .success(Self.found) }
        let worker = worker { $0.rateLimit = RateLimit(perSecond: 100, burst: 1) }
        try ask(worker, [service], within: .milliseconds(1))
        #expect(service.calls == 0)  // no partition assigned yet
        worker.enter { $0.assign([0, 1, 2], of: 12) }
        #expect(worker.statuses.first?.allowedPerSecond == 25)
    }

    /// `Retry-After` applies to all requests, not only to the one that received it.
    @Test func `A providers pause holds everybody`() throws {
        let service = ScriptedService {
            $0 == 1
                ? .failure(SearchError(.rateLimited, "slow down", retryAfter: .seconds(3), httpStatus: 429))
                : .success(Self.found)
        }
        let worker = worker { $0.retry.maxAttempts = 1 }
        try ask(worker, [service])
        #expect(try code(ask(worker, [service], request("other"), within: .seconds(1))) == .rateLimited)
        #expect(service.calls == 1)
        time.run(for: .seconds(3))
        #expect(try code(ask(worker, [service], request("third"))) == nil)
    }

    // MARK: - Single flight

    @Test func `Identical searches share one call`() throws {
        let service = slowService(.success(Self.found))
        let worker = worker()
        let first = begin(worker, [service], request("one"))
        let second = begin(worker, [service], request("two"))
        let different = begin(worker, [service], request("three", keyword: "ramen"))
        #expect(worker.statuses.first?.shared == 1)
        #expect(service.calls == 2)

        #expect(try first.finish(within: .seconds(1)).attempts == 1)
        #expect(try second.finish(within: .zero).attempts == 0)
        #expect(try code(second.finish(within: .zero)) == nil)
        #expect(try different.finish(within: .zero).attempts == 1)
        #expect(service.calls == 2)
    }

    /// The calls count for the request that made them; the others report none, whatever the result.
    @Test func `Requests that share a failed call report no attempts`() throws {
        let service = slowService(.failure(Self.failed))
        let worker = worker()
        let searches = (0..<20).map { begin(worker, [service], request("\($0)"), within: .seconds(30)) }
        #expect(worker.statuses.first?.shared == 19)

        let reports = try searches.map { try $0.finish(within: .seconds(30)) }
        #expect(reports.allSatisfy { code($0) == .upstreamUnavailable })
        #expect(service.calls == 3)
        #expect(reports.map(\.attempts).sorted() == Array(repeating: 0, count: 19) + [3])
    }

    @Test func `A cancelled request leaves the call to the others`() throws {
        let service = slowService(.success(Self.found))
        let worker = worker()
        let first = begin(worker, [service], request("one"))
        let second = begin(worker, [service], request("two"))
        #expect(worker.statuses.first?.shared == 1)

        first.cancel()
        try first.finish(within: .zero)
        #expect(try code(second.finish(within: .seconds(1))) == nil)
        #expect(service.calls == 1)
        #expect(service.cancelled == 0)
    }

    // MARK: - Cost

    /// With and without a separate task for the call.
    @Test(arguments: [true, false])
    func `A call is noted for the request that it is made for`(isShared: Bool) throws {
        let service = ScriptedService { _ in .success(Self.found) }
        let worker = worker {
            $0.sharesIdenticalCalls = isShared
            $0.rateLimit = RateLimit(perSecond: 1, burst: 1)
            $0.share = .perProcess(loops: 1)
        }
        let (paid, refused) = (RequestContext(since: .now), RequestContext(since: .now))
        let first = try ask(worker, [service], context: paid)
        #expect(code(first) == nil)
        #expect(paid.hasCalled)
        let second = try ask(worker, [service], request("other"), within: .milliseconds(10), context: refused)
        #expect(code(second) == .rateLimited)
        #expect(!refused.hasCalled)
    }

    @Test func `Without single flight each makes its own call`() throws {
        let service = ScriptedService { _ in .success(Self.found) }
        let worker = worker { $0.sharesIdenticalCalls = false }
        for _ in 0..<3 { #expect(try ask(worker, [service]).attempts == 1) }
        #expect(service.calls == 3)
    }
}
