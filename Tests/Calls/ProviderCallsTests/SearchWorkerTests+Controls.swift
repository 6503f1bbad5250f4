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

    @Test func `A provider that is paused before its first request is not called`() throws {
        let service = ScriptedService { _ in .success(Self.found) }
        let worker = worker()
        worker.enter { $0.apply(Self.controls { $0.isPaused = true }) }
        #expect(try code(ask(worker, [service])) == .circuitOpen)
        #expect(worker.statuses.first?.breakerReason == .pausedByOrder)

        worker.enter { $0.apply(LaneControls()) }
        #expect(try code(ask(worker, [service])) == nil)
    }

    @Test func `A waiting call is not made once the provider is paused`() throws {
        let service = ScriptedService { _ in .success(Self.found) }
        let worker = worker {
            $0.rateLimit = RateLimit(perSecond: 1, burst: 1)
            $0.share = .perProcess(loops: 1)
            $0.sharesIdenticalCalls = false
        }
        #expect(try code(ask(worker, [service])) == nil)
        let second = begin(worker, [service])
        #expect(worker.statuses.first?.rateLimiter.waiting == 1)
        worker.enter { $0.apply(Self.controls { $0.isPaused = true }) }
        time.run(for: .seconds(2))
        #expect(try code(second.finish(within: .zero)) == .circuitOpen)
        #expect(worker.statuses.first?.calls == 1)
    }

    @Test func `The rate follows the order, and then the setting again`() throws {
        let worker = worker {
            $0.rateLimit = RateLimit(perSecond: 50)
            $0.share = .perProcess(loops: 1)
        }
        worker.enter { $0.prepare(for: [.hotpepper]) }
        worker.enter { $0.apply(Self.controls { $0.perSecond = 20 }) }
        #expect(worker.statuses.first?.allowedPerSecond == 20)
        worker.enter { $0.apply(LaneControls()) }
        #expect(worker.statuses.first?.allowedPerSecond == 50)
    }
}
