import Basics
import QuotaSharing
import Resilience
import Synchronization
import TestSupport
import Testing

@testable import LocationSearch
@testable import ProviderCalls

/// The expiry of requests: no call is made for an expired one, even after a wait.
extension SearchWorkerTests {
    private static let refusedKey = SearchError(.unauthorized, "key refused", httpStatus: 403)

    /// Returns a worker that parks requests, and whose provider has just rejected its key for five minutes.
    private func shutWorker(_ service: ScriptedService) async -> SearchActor {
        let worker = worker { $0.whenOpen = .hold }
        _ = await ask(worker, [service])
        return worker
    }

    private func error(_ report: SearchReport) throws -> SearchError {
        guard case .failure(let error) = report.result else { throw NotInTime(description: "it was answered") }
        return error
    }

    @Test func `A parked request ends as expired`() async throws {
        let service = ScriptedService { $0 == 1 ? .failure(Self.refusedKey) : .success(Self.found) }
        let worker = await shutWorker(service)
        let start = clock.now

        let report = try await driving(clock) {
            await self.ask(worker, [service], lifetime: RequestLifetime(lastCall: start + .seconds(4)))
        }
        #expect(code(report) == .expired)
        #expect(report.attempts == 0)
        #expect(start.duration(to: clock.now) < .seconds(5))
        #expect(service.calls == 1)
        #expect(try error(report).message.contains("while calls to hotpepper were paused"))
        #expect(await worker.statuses.first?.held == 0)
    }

    @Test func `A parked request is served before its expiry`() async throws {
        let service = ScriptedService { $0 == 1 ? .failure(Self.refusedKey) : .success(Self.found) }
        let worker = await shutWorker(service)

        let lifetime = RequestLifetime(lastCall: clock.now + .seconds(400))
        let task = Task { await self.ask(worker, [service], lifetime: lifetime) }
        try await eventually("the request is held") { await worker.statuses.first?.held == 1 }
        clock.advance(by: .seconds(300))
        #expect(code(await task.value) == nil)
        #expect(service.calls == 2)
    }

    /// Parking a request extends its deadline, but never its expiry.
    @Test func `The call of a parked request ends at its expiry`() async throws {
        let begin = clock.now
        let expiry = begin + .seconds(302)
        let service = DeadlineService { $0 == 1 ? .failure(Self.refusedKey) : .success(Self.found) }
        let worker = worker { $0.whenOpen = .hold }
        _ = await ask(worker, [service])

        let lifetime = RequestLifetime(lastCall: expiry, expiry: expiry)
        let task = Task { await self.ask(worker, [service], lifetime: lifetime) }
        try await eventually("the request is held") { await worker.statuses.first?.held == 1 }
        clock.advance(by: .seconds(300))
        #expect(code(await task.value) == nil)
        #expect(service.deadlines.last?.instant == expiry)
    }

    @Test func `A waiting request is not called after its lifetime`() async throws {
        let service = ScriptedService { _ in .success(Self.found) }
        let worker = worker {
            $0.rateLimit = RateLimit(perSecond: 0.5, burst: 1)
            $0.share = .perProcess(loops: 1)
        }
        #expect(code(await ask(worker, [service], request("first"))) == nil)

        // The token comes after two seconds: before the deadline, and too late for the lifetime.
        let lifetime = RequestLifetime(lastCall: clock.now + .seconds(1))
        let report = try await driving(clock) {
            await self.ask(worker, [service], self.request("second"), lifetime: lifetime)
        }
        #expect(code(report) == .rateLimited)
        #expect(service.calls == 1)
    }

    @Test func `A failed call is not retried after the lifetime`() async throws {
        let service = ScriptedService { [clock] _ in
            clock.advance(by: .seconds(1))
            return .failure(Self.failed)
        }
        let lifetime = RequestLifetime(lastCall: clock.now + .milliseconds(500))
        let worker = worker()
        let report = try await driving(clock) { await self.ask(worker, [service], lifetime: lifetime) }
        #expect(code(report) == .upstreamUnavailable)
        #expect(service.calls == 1)
    }

    /// After a candidate's failure the request goes to the next one, unless it has expired by then.
    @Test func `An expired request is not passed to the next provider`() async throws {
        let failing = ScriptedService(.hotpepper) { [clock] _ in
            clock.advance(by: .seconds(1))
            return .failure(Self.failed)
        }
        let other = ScriptedService(.googlePlaces) { _ in .success(Self.found) }
        let lifetime = RequestLifetime(lastCall: clock.now + .milliseconds(500))
        let report = await ask(worker { $0.retry.maxAttempts = 1 }, [failing, other], lifetime: lifetime)
        #expect(code(report) == .expired)
        #expect(report.attempts == 1)
        #expect(other.calls == 0)
    }
}

/// A provider that records the deadline of each call.
private final class DeadlineService: PlaceService {
    let id = ProviderID.hotpepper
    private let script: @Sendable (Int) -> Result<ProviderAnswer, SearchError>
    private let seen = Mutex<[Deadline]>([])

    init(_ script: @escaping @Sendable (Int) -> Result<ProviderAnswer, SearchError>) { self.script = script }

    var deadlines: [Deadline] { seen.withLock { $0 } }

    func refusal(of request: SearchRequest) -> SearchError? { nil }

    func priceClass(of request: SearchRequest, followUp: FollowUpCall?) -> PriceClass { .hotpepper }

    func call(
        for request: SearchRequest, followUp: FollowUpCall?, before deadline: Deadline
    ) async throws(SearchError) -> ProviderReply {
        let number = seen.withLock { seen in
            seen.append(deadline)
            return seen.count
        }
        return .answer(try script(number).get())
    }
}
