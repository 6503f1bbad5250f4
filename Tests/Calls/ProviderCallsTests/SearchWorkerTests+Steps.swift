import Basics
import QuotaSharing
import Resilience
import TestSupport
import Testing

@testable import LocationSearch
@testable import ProviderCalls

/// The steps in a request's outcome.
extension SearchWorkerTests {
    private func context() -> RequestContext { RequestContext(since: clock.now, keepsSteps: true) }

    private func all(_ context: RequestContext) -> [RequestStep] {
        context.steps.map { ($0.first.map { [$0] } ?? []) + $0.others } ?? []
    }

    @Test func `A context that records no steps has none`() async {
        let context = RequestContext(since: clock.now)
        _ = await ask(worker(), [ScriptedService { _ in .success(Self.found) }], context: context)
        #expect(context.hasCalled)
        #expect(context.steps == nil)
    }

    /// Times count from the receipt of the request.
    @Test func `A call is one step`() async {
        let context = context()
        clock.advance(by: .milliseconds(30))
        let service = ScriptedService { [clock] _ in
            clock.advance(by: .milliseconds(87))
            return .success(Self.found)
        }
        _ = await ask(worker(), [service], context: context)
        #expect(
            all(context) == [RequestStep(.call, .hotpepper, end: .answered, start: 30_000_000, duration: 87_000_000)])
    }

    @Test func `A retry is a call after a pause`() async throws {
        let context = context()
        let service = ScriptedService { $0 < 3 ? .failure(Self.failed) : .success(Self.found) }
        let worker = worker()
        _ = try await driving(clock) { await self.ask(worker, [service], context: context) }

        let steps = all(context)
        #expect(steps.map(\.kind) == [.call, .pause, .call, .pause, .call])
        #expect(steps.first?.end == .failed(.upstreamUnavailable, httpStatus: 500))
        #expect(steps.last?.end == .answered)
        for (step, next) in zip(steps, steps.dropFirst()) {
            #expect(step.start + step.duration == next.start, "nothing lies between two steps")
        }
        #expect(steps.filter { $0.kind == .pause }.allSatisfy { $0.duration > 0 && $0.end == .over })
    }

    @Test func `The next provider follows a failed call at once`() async {
        let broken = ScriptedService(.hotpepper) { _ in .failure(Self.failed) }
        let other = ScriptedService(.googlePlaces) { _ in .success(Self.found) }
        let context = context()
        _ = await ask(worker { $0.retry.maxAttempts = 1 }, [broken, other], context: context)
        #expect(all(context).map(\.provider) == [.hotpepper, .googlePlaces])
        #expect(all(context).map(\.end) == [.failed(.upstreamUnavailable, httpStatus: 500), .answered])
    }

    @Test func `The refusal by an open breaker is a step`() async {
        let broken = ScriptedService(.hotpepper) { _ in .failure(Self.failed) }
        let worker = worker { $0.retry.maxAttempts = 1 }
        for number in 0..<20 { _ = await ask(worker, [broken], request("r\(number)")) }

        let context = context()
        _ = await ask(worker, [broken], context: context)
        #expect(
            all(context)
                == [
                    RequestStep(
                        .refused, .hotpepper, end: .failed(.circuitOpen, httpStatus: nil), start: 0, duration: 0)
                ])
    }

    @Test func `A wait for the rate is a step, and so is its refusal`() async throws {
        let service = ScriptedService { _ in .success(Self.found) }
        let worker = worker {
            $0.rateLimit = RateLimit(perSecond: 1, burst: 1)
            $0.share = .perProcess(loops: 1)
        }
        _ = await ask(worker, [service])

        let (waited, refused) = (context(), context())
        _ = await ask(worker, [service], request("late"), within: .milliseconds(10), context: refused)
        #expect(all(refused).map(\.kind) == [.refused])
        #expect(all(refused).map(\.end) == [.failed(.rateLimited, httpStatus: nil)])

        _ = try await driving(clock) { await self.ask(worker, [service], self.request("waits"), context: waited) }
        #expect(all(waited).map(\.kind) == [.wait, .call])
        #expect((all(waited).first?.duration ?? 0) > 900_000_000)
    }

    @Test func `A request that joins a call has it as a step`() async throws {
        let door = Door()
        let service = ScriptedService { _ in
            await door.pass()
            return .success(Self.found)
        }
        let worker = worker()
        let (own, joined) = (context(), context())
        let first = Task { await self.ask(worker, [service], self.request("one"), context: own) }
        try await eventually("the call is under way") { service.calls == 1 }
        let second = Task { await self.ask(worker, [service], self.request("two"), context: joined) }
        try await eventually("the second joined") { await worker.statuses.first?.shared == 1 }
        clock.advance(by: .milliseconds(40))
        await door.open()
        _ = await (first.value, second.value)

        #expect(all(own).map(\.kind) == [.call])
        #expect(
            all(joined) == [RequestStep(.shared, .hotpepper, end: .answered, start: 0, duration: 40_000_000)])
    }

    @Test func `A parked request has the parked time as a step`() async throws {
        let refused = SearchError(.unauthorized, "key refused", httpStatus: 403)
        let service = ScriptedService { $0 == 1 ? .failure(refused) : .success(Self.found) }
        let worker = worker { $0.whenOpen = .hold }
        _ = await ask(worker, [service])

        let context = context()
        let task = Task { await self.ask(worker, [service], context: context) }
        try await eventually("the request is parked") { await worker.statuses.first?.held == 1 }
        clock.advance(by: .seconds(300))
        _ = await task.value
        #expect(all(context).map(\.kind) == [.refused, .park, .call])
        #expect(all(context).dropFirst().first?.duration == 300_000_000_000)
    }
}
