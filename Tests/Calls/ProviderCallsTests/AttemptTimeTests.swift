import Basics
import EventLoop
import Resilience
import Synchronization
import TestSupport
import Testing

@testable import LocationSearch
@testable import ProviderCalls

/// A provider with scripted latencies. A call fails if its deadline comes first.
final class SlowService: PlaceService {
    let id: ProviderID
    private let clock: ManualClock
    private let latency: @Sendable (Int) -> Duration
    private let count = Mutex(0)

    /// - Parameter latency: the latency of each call; the first call has number 1.
    init(_ id: ProviderID, clock: ManualClock, latency: @escaping @Sendable (Int) -> Duration) {
        self.id = id
        self.clock = clock
        self.latency = latency
    }

    var calls: Int { count.withLock { $0 } }

    func refusal(of request: SearchRequest) -> SearchError? { nil }

    func priceClass(of request: SearchRequest, followUp: FollowUpCall?) -> PriceClass { .hotpepper }

    func call(
        for request: SearchRequest, followUp: FollowUpCall?, before deadline: Deadline
    ) async throws(SearchError) -> ProviderReply {
        let number = count.withLock { count in
            count += 1
            return count
        }
        let end = clock.now + latency(number)
        try? await clock.sleep(until: min(end, deadline.instant), tolerance: nil)
        if end > deadline.instant { throw .timedOut }
        return .answer(ProviderAnswer(places: [Place(id: "\(number)", provider: id, name: "A")]))
    }
}

/// The part of a request's time that one call may spend.
struct AttemptTimeTests {
    private let clock = ManualClock()
    private let loop: EventLoop
    private let wasted = Wasted()

    final class Wasted: Sendable {
        private let calls = Mutex(0)
        func add(_ more: Int) { calls.withLock { $0 += more } }
        var count: Int { calls.withLock { $0 } }
    }

    init() throws { loop = try EventLoop() }

    private func worker(_ change: (inout ProviderPolicy) -> Void = { _ in }) -> SearchActor {
        var policy = ProviderPolicy(concurrency: 16)
        change(&policy)
        let policies = Dictionary(uniqueKeysWithValues: ProviderID.allCases.map { ($0, policy) })
        return SearchActor(
            executor: loop, policies: policies, clock: clock, taskExecutor: loop, random: SystemRandomNumberGenerator(),
            observer: CallObserver(onWasted: { [wasted] in wasted.add($1) }))
    }

    private func service(_ id: ProviderID, _ latency: @escaping @Sendable (Int) -> Duration) -> SlowService {
        SlowService(id, clock: clock, latency: latency)
    }

    private func ask(
        _ worker: SearchActor, _ services: [any PlaceService], within time: Duration = .seconds(5)
    ) async throws -> SearchReport {
        let deadline = Deadline(clock.now + time)
        return try await driving(clock) { [self] in
            await worker.report(on: request(), at: services, before: deadline)
        }
    }

    private func request(keyword: String? = nil) -> SearchRequest {
        SearchRequest(requestID: "r", location: Coordinate(latitude: 35, longitude: 139), keyword: keyword)
    }

    private func isSuccess(_ report: SearchReport) -> Bool {
        if case .success = report.result { true } else { false }
    }

    // MARK: - Hanging

    @Test func `The next provider is asked in time when the first hangs`() async throws {
        let hanging = service(.hotpepper) { _ in .seconds(3600) }
        let healthy = service(.googlePlaces) { _ in .milliseconds(500) }
        let worker = worker()
        for _ in 0..<6 {
            let report = try await ask(worker, [hanging, healthy])
            #expect(isSuccess(report))
            #expect(report.provider == .googlePlaces)
            #expect(report.triedProviders == [.hotpepper, .googlePlaces])
        }
        #expect(healthy.calls == 6)
        #expect(wasted.count == 6, "each call that was given up is counted")
    }

    @Test func `A call that hangs is made again in time at a provider known to be quick`() async throws {
        let service = service(.hotpepper) { $0 == 21 ? .seconds(3600) : .milliseconds(100) }
        let worker = worker()
        for _ in 0..<20 { #expect(isSuccess(try await ask(worker, [service]))) }
        let report = try await ask(worker, [service])
        #expect(isSuccess(report))
        #expect(report.attempts == 2)
        #expect(wasted.count == 1)
    }

    // MARK: - Slow, but healthy

    /// Its calls take most of the time that requests have: shorter attempt timeouts would fail all of them.
    @Test func `A slow provider that answers is not given up on when nobody else can be asked`() async throws {
        let slow = service(.hotpepper) { _ in .milliseconds(3500) }
        let worker = worker()
        for _ in 0..<6 {
            let report = try await ask(worker, [slow])
            #expect(isSuccess(report))
            #expect(report.attempts == 1)
        }
        #expect(wasted.count == 0)
    }

    /// The first calls may time out, until the latency is known.
    @Test func `A slow provider that answers keeps its requests once it is known`() async throws {
        let slow = service(.hotpepper) { _ in .milliseconds(3000) }
        let other = service(.googlePlaces) { _ in .milliseconds(500) }
        let worker = worker()
        for _ in 0..<6 { #expect(isSuccess(try await ask(worker, [slow, other]))) }
        #expect(other.calls <= 2)
    }

    /// The latency grows twentyfold between two calls: all requests are answered, and soon no call times out.
    @Test func `A provider that becomes slow goes on serving`() async throws {
        let service = service(.hotpepper) { $0 <= 30 ? .milliseconds(100) : .seconds(2) }
        let worker = worker()
        for _ in 0..<30 { #expect(isSuccess(try await ask(worker, [service]))) }
        for _ in 0..<15 { #expect(isSuccess(try await ask(worker, [service]))) }
        #expect(wasted.count <= 5)
    }

    // MARK: - Short deadlines

    /// Clients with a deadline of one second ask a provider that needs longer. Their timeouts must not open the breaker, because
    /// other requests show that it answers.
    @Test func `Clients with little time do not shut the provider for the others`() async throws {
        let service = service(.hotpepper) { _ in .milliseconds(1200) }
        let worker = worker {
            $0.retry.maxAttempts = 1
            $0.concurrency = ConcurrencyLimit.Configuration(maximum: 64)
        }
        #expect(isSuccess(try await ask(worker, [service])))
        let hasty = try await driving(clock) { [self] in
            await withTaskGroup(of: SearchReport.self) { group in
                for number in 0..<60 {
                    let deadline = Deadline(clock.now + .seconds(1))
                    group.addTask {
                        await worker.report(
                            on: request(keyword: "\(number)"), at: [service], before: deadline)
                    }
                }
                return await group.reduce(into: []) { $0.append($1) }
            }
        }
        #expect(hasty.count == 60 && !hasty.contains(where: isSuccess))
        #expect(service.calls >= 20, "so many calls could open the breaker")
        #expect(isSuccess(try await ask(worker, [service])))
    }
}
