import TestSupport
import Testing

@testable import Resilience

struct Scratch {
    func show(_ name: String, _ t: AdaptiveTraffic) { let (a, l) = t.take(); print(name, a, l, "now", t.limit.statistics.limit, "lat", t.limit.expectedLatency) }
    func sim(_ name: String, adaptive: Bool, budget: Double = 5, servers: Int, service: Double, backlog: Int? = 256, rate: Double = 0, _ act: @Sendable (AdaptiveTraffic) -> Void = {_ in}, after: @Sendable (AdaptiveTraffic) -> Void, healed: @Sendable (AdaptiveTraffic) -> Void, jitter: Bool = false) {
        let time = VirtualTime()
        let owner = Owner(time)
        owner.assumeIsolated { owner in
            let t = AdaptiveTraffic(time, isAdaptive: adaptive, servers: servers) { service }
            t.budget = { budget }
            if jitter { t.provider.service = { service * Double.random(in: 0.5..<1.5, using: &t.random) } }
            act(t)
            if let backlog { t.startBacklog(of: backlog, on: owner) } else { t.startArrivals(perSecond: rate, on: owner) }
            time.run(for: .seconds(20)); show("\(name) \(adaptive) healthy", t)
            after(t)
            for i in 0..<8 { time.run(for: .seconds(5)); show("\(name) \(adaptive) cut+\(i * 5)", t) }
            healed(t)
            for i in 0..<4 { time.run(for: .seconds(5)); show("\(name) \(adaptive) healed+\(i * 5)", t) }
        }
    }
    @Test func scratch() {
        for a in [true] {
            sim("B", adaptive: a, servers: 64, service: 0.4, after: { $0.provider.servers = 16 }, healed: { $0.provider.servers = 64 })
            sim("C", adaptive: a, servers: 64, service: 0.4, after: { $0.provider.service = { 1.6 } }, healed: { $0.provider.service = { 0.4 } })
            sim("Cj", adaptive: a, servers: 64, service: 0.4, after: { t in t.provider.service = { 1.6*Double.random(in: 0.5..<1.5, using: &t.random) } }, healed: { t in t.provider.service = { 0.4*Double.random(in: 0.5..<1.5, using: &t.random) } }, jitter: true)
            sim("G", adaptive: a, budget: 1, servers: 64, service: 0.2, after: { $0.provider.servers = 16 }, healed: { $0.provider.servers = 64 })
            sim("H", adaptive: a, servers: 64, service: 0.4, backlog: nil, rate: 100, after: { $0.provider.servers = 16 }, healed: { $0.provider.servers = 64 }, jitter: true)
            sim("F", adaptive: a, servers: 1000, service: 0.4, after: { $0.provider.service = { 3 } }, healed: { $0.provider.service = { 0.4 } })
            sim("I", adaptive: a, servers: 64, service: 0.4, { $0.provider.room = 20 }, after: { $0.provider.servers = 16 }, healed: { $0.provider.servers = 64 })
        }
    }
}
