import LocationSearch
import ProviderCalls
import QuotaSharing
import Resilience
import TestSupport
import Testing

/// The effects of operators' controls on the calls to a provider.
extension SearchWorkerTests {
    private static func controls(_ change: (inout LaneControls.Provider) -> Void) -> LaneControls {
        var controls = LaneControls()
        var provider = LaneControls.Provider()
        change(&provider)
        controls.providers[.hotpepper] = provider
        return controls
    }

    @Test func `A provider that is paused before its first request is not called`() async {
        let service = ScriptedService { _ in .success(Self.found) }
        let worker = worker()
        await worker.apply(Self.controls { $0.isPaused = true })
        #expect(code(await ask(worker, [service])) == .circuitOpen)
        #expect(await worker.statuses.first?.breakerReason == .pausedByOrder)

        await worker.apply(LaneControls())
        #expect(code(await ask(worker, [service])) == nil)
    }

    @Test func `A waiting call is not made once the provider is paused`() async throws {
        let service = ScriptedService { _ in .success(Self.found) }
        let worker = worker {
            $0.rateLimit = RateLimit(perSecond: 1, burst: 1)
            $0.share = .perProcess(loops: 1)
            $0.sharesIdenticalCalls = false
        }
        #expect(code(await ask(worker, [service])) == nil)
        async let second = ask(worker, [service])
        try await eventually("it waits for a token") { await worker.statuses.first?.rateLimiter.waiting == 1 }
        await worker.apply(Self.controls { $0.isPaused = true })
        clock.advance(by: .seconds(2))
        #expect(code(await second) == .circuitOpen)
        #expect(await worker.statuses.first?.calls == 1)
    }

    @Test func `The rate follows the order, and then the setting again`() async {
        let worker = worker {
            $0.rateLimit = RateLimit(perSecond: 50)
            $0.share = .perProcess(loops: 1)
        }
        await worker.prepare(for: [.hotpepper])
        await worker.apply(Self.controls { $0.perSecond = 20 })
        #expect(await worker.statuses.first?.allowedPerSecond == 20)
        await worker.apply(LaneControls())
        #expect(await worker.statuses.first?.allowedPerSecond == 50)
    }
}
