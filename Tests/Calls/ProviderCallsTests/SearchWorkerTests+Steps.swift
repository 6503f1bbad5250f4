import Basics
import QuotaSharing
import Resilience
import TestSupport
import Testing

@testable import LocationSearch
@testable import ProviderCalls

/// The steps in a request's outcome.
extension SearchWorkerTests {
    private func context() -> RequestContext { RequestContext(since: time.now, keepsSteps: true) }

    private func all(_ context: RequestContext) -> [RequestStep] {
        context.steps.map { ($0.first.map { [$0] } ?? []) + $0.others } ?? []
    }

    @Test func `A context that records no steps has none`() throws {
        let context = RequestContext(since: time.now)
        try ask(worker(), [ScriptedService { _ in .success(Self.found) }], context: context)
        #expect(context.hasCalled)
        #expect(context.steps == nil)
    }

    /// Times count from the receipt of the request.
    @Test func `A call is one step`() throws {
        let context = context()
        time.run(for: .milliseconds(30))
        let service = ScriptedService { [time] _ in
            time.freeze(for: .milliseconds(87))
            return .success(Self.found)
        }
        try ask(worker(), [service], context: context)
        #expect(
            all(context) == [RequestStep(.call, .hotpepper, end: .answered, start: 30_000_000, duration: 87_000_000)])
    }

    @Test func `A retry is a call after a pause`() throws {
        let context = context()
        let service = ScriptedService { $0 < 3 ? .failure(Self.failed) : .success(Self.found) }
        let worker = worker()
        try begin(worker, [service], context: context).finish()

        let steps = all(context)
        #expect(steps.map(\.kind) == [.call, .pause, .call, .pause, .call])
        #expect(steps.first?.end == .failed(.upstreamUnavailable, httpStatus: 500))
        #expect(steps.last?.end == .answered)
        for (step, next) in zip(steps, steps.dropFirst()) {
            #expect(step.start + step.duration == next.start, "nothing lies between two steps")
        }
        #expect(steps.filter { $0.kind == .pause }.allSatisfy { $0.duration > 0 && $0.end == .over })
    }

    @Test func `The next provider follows a failed call at once`() throws {
        let broken = ScriptedService(.hotpepper) { _ in .failure(Self.failed) }
        let other = ScriptedService(.googlePlaces) { _ in .success(Self.found) }
        let context = context()
        try ask(worker { $0.retry.maxAttempts = 1 }, [broken, other], context: context)
        #expect(all(context).map(\.provider) == [.hotpepper, .googlePlaces])
        #expect(all(context).map(\.end) == [.failed(.upstreamUnavailable, httpStatus: 500), .answered])
    }

    @Test func `The refusal by an open breaker is a step`() throws {
        let broken = ScriptedService(.hotpepper) { _ in .failure(Self.failed) }
        let worker = worker { $0.retry.maxAttempts = 1 }
        for number in 0..<20 { try ask(worker, [broken], request("r\(number)")) }

        let context = context()
        try ask(worker, [broken], context: context)
        #expect(
            all(context)
                == [
                    RequestStep(
                        .refused, .hotpepper, end: .failed(.circuitOpen, httpStatus: nil), start: 0, duration: 0)
                ])
    }

    @Test func `A wait for the rate is a step, and so is its refusal`() throws {
        let service = ScriptedService { _ in .success(Self.found) }
        let worker = worker {
            $0.rateLimit = RateLimit(perSecond: 1, burst: 1)
            $0.share = .perProcess(loops: 1)
        }
        try ask(worker, [service])

        let (waited, refused) = (context(), context())
        try ask(worker, [service], request("late"), within: .milliseconds(10), context: refused)
        #expect(all(refused).map(\.kind) == [.refused])
        #expect(all(refused).map(\.end) == [.failed(.rateLimited, httpStatus: nil)])

        try begin(worker, [service], request("waits"), context: waited).finish()
        #expect(all(waited).map(\.kind) == [.wait, .call])
        #expect((all(waited).first?.duration ?? 0) > 900_000_000)
    }

    @Test func `A request that joins a call has it as a step`() throws {
        let service = slowService(.success(Self.found))
        let worker = worker()
        let own = context()
        let first = begin(worker, [service], request("one"), context: own)
        time.run(for: .milliseconds(960))
        let joined = context()
        let second = begin(worker, [service], request("two"), context: joined)
        #expect(worker.statuses.first?.shared == 1)
        try first.finish(within: .seconds(1))
        try second.finish(within: .zero)

        #expect(all(own).map(\.kind) == [.call])
        #expect(
            all(joined) == [RequestStep(.shared, .hotpepper, end: .answered, start: 0, duration: 40_000_000)])
    }

    @Test func `A parked request has the parked time as a step`() throws {
        let refused = SearchError(.unauthorized, "key refused", httpStatus: 403)
        let service = ScriptedService { $0 == 1 ? .failure(refused) : .success(Self.found) }
        let worker = worker { $0.whenOpen = .hold }
        try ask(worker, [service])

        let context = context()
        let search = begin(worker, [service], context: context)
        #expect(worker.statuses.first?.held == 1)
        time.run(for: .seconds(300))
        _ = try search.finish(within: .zero)
        #expect(all(context).map(\.kind) == [.refused, .park, .call])
        #expect(all(context).dropFirst().first?.duration == 300_000_000_000)
    }
}
