import Basics
import Resilience
import Synchronization
import TestSupport
import Testing

@testable import LocationSearch
@testable import ProviderCalls

/// The part of a request's time that one call may spend.
struct AttemptTimeTests {
    private let time = VirtualTime()
    private let wasted = Wasted()

    final class Wasted: Sendable {
        private let calls = Mutex(0)
        func add(_ more: Int) { calls.withLock { $0 += more } }
        var count: Int { calls.withLock { $0 } }
    }

    private func worker(_ change: (inout ProviderPolicy) -> Void = { _ in }) -> SearchActor {
        var policy = ProviderPolicy(concurrency: 16)
        change(&policy)
        let policies = Dictionary(uniqueKeysWithValues: ProviderID.allCases.map { ($0, policy) })
        return SearchActor(
            time, policies: policies,
            observer: CallObserver(onWasted: { [wasted] in wasted.add($1) }))
    }

    private func service(_ id: ProviderID, _ latency: @escaping @Sendable (Int) -> Duration) -> ScriptedService {
        ScriptedService(id, time: time, latency: latency)
    }

    private func begin(
        _ worker: SearchActor, _ services: [any PlaceService], keyword: String? = nil,
        within timeout: Duration = .seconds(5)
    ) -> BegunSearch {
        let request = SearchRequest(
            requestID: "r", location: Coordinate(latitude: 35, longitude: 139), keyword: keyword)
        return worker.begin(request, at: services, before: Deadline(time.now + timeout))
    }

    private func ask(_ worker: SearchActor, _ services: [any PlaceService]) throws -> SearchReport {
        try begin(worker, services).finish(within: .seconds(5))
    }

    private func isSuccess(_ report: SearchReport) -> Bool {
        if case .success = report.result { true } else { false }
    }

    // MARK: - Hanging

    @Test func `The next provider is asked in time when the first hangs`() throws {
        let hanging = service(.hotpepper) { _ in .seconds(3600) }
        let healthy = service(.googlePlaces) { _ in .milliseconds(500) }
        let worker = worker()
        for _ in 0..<6 {
            let report = try ask(worker, [hanging, healthy])
            #expect(isSuccess(report))
            #expect(report.provider == .googlePlaces)
            #expect(report.triedProviders == [.hotpepper, .googlePlaces])
            #expect((report.attempts, report.givenUp) == (2, 1))
        }
        #expect(healthy.calls == 6)
        #expect(wasted.count == 6, "each call that was given up is counted")
    }

    @Test func `A call that hangs is made again in time at a provider known to be quick`() throws {
        let service = service(.hotpepper) { $0 == 21 ? .seconds(3600) : .milliseconds(100) }
        let worker = worker()
        for _ in 0..<20 { #expect(try isSuccess(ask(worker, [service]))) }
        let report = try ask(worker, [service])
        #expect(isSuccess(report))
        #expect(report.attempts == 2)
        #expect(wasted.count == 1)
    }

    // MARK: - Slow, but healthy

    /// Its calls take most of the time that requests have: shorter attempt timeouts would fail all of them.
    @Test func `A slow provider that answers is not given up on when nobody else can be asked`() throws {
        let slow = service(.hotpepper) { _ in .milliseconds(3500) }
        let worker = worker()
        for _ in 0..<6 {
            let report = try ask(worker, [slow])
            #expect(isSuccess(report))
            #expect(report.attempts == 1)
        }
        #expect(wasted.count == 0)
    }

    /// The first calls may time out, until the latency is known.
    @Test func `A slow provider that answers keeps its requests once it is known`() throws {
        let slow = service(.hotpepper) { _ in .milliseconds(3000) }
        let other = service(.googlePlaces) { _ in .milliseconds(500) }
        let worker = worker()
        for _ in 0..<6 { #expect(try isSuccess(ask(worker, [slow, other]))) }
        #expect(other.calls <= 2)
    }

    /// The latency grows twentyfold between two calls: all requests are answered, and soon no call times out.
    @Test func `A provider that becomes slow goes on serving`() throws {
        let service = service(.hotpepper) { $0 <= 30 ? .milliseconds(100) : .seconds(2) }
        let worker = worker()
        for _ in 0..<30 { #expect(try isSuccess(ask(worker, [service]))) }
        for _ in 0..<15 { #expect(try isSuccess(ask(worker, [service]))) }
        #expect(wasted.count <= 5)
    }

    // MARK: - Short deadlines

    /// Clients with a deadline of one second ask a provider that needs longer. Their timeouts must not open the breaker, because
    /// other requests show that it answers.
    @Test func `Clients with little time do not shut the provider for the others`() throws {
        let service = service(.hotpepper) { _ in .milliseconds(1200) }
        let worker = worker {
            $0.retry.maxAttempts = 1
            $0.concurrency = ConcurrencyLimit.Configuration(maximum: 64)
        }
        #expect(try isSuccess(ask(worker, [service])))
        let searches = (0..<60).map { begin(worker, [service], keyword: "\($0)", within: .seconds(1)) }
        let hasty = try searches.map { try $0.finish(within: .seconds(1)) }
        #expect(!hasty.contains(where: isSuccess))
        #expect(service.calls >= 20, "so many calls could open the breaker")
        #expect(try isSuccess(ask(worker, [service])))
    }
}
