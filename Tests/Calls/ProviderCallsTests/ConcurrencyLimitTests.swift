import Basics
import LocationSearch
import TestSupport
import Testing

@testable import ProviderCalls
@testable import Resilience

/// Calls that wait for the end of other calls.
struct ConcurrencyLimitTests {
    private func world(
        maximum: Int = 256, isAdaptive: Bool = true, servers: Int, seconds: Double = 0.1, seed: UInt64 = 1,
        _ body: @Sendable (VirtualTime, isolated Owner, AdaptiveTraffic) throws -> Void
    ) rethrows {
        let time = VirtualTime()
        try Owner(time).assumeIsolated { owner in
            let random = Box(SplitMix64(state: seed))
            // Some answers take twice as long as others.
            let traffic = AdaptiveTraffic(
                time, maximum: maximum, isAdaptive: isAdaptive, servers: servers, seed: seed,
                service: { seconds * Double.random(in: 0.67...1.33, using: &random.value) })
            try body(time, owner, traffic)
        }
    }

    // MARK: - A provider that slows down

    /// Reduces the capacity from four hundred answers a second to one hundred, at 350 requests a second.
    private func cut(_ time: VirtualTime, _ owner: isolated Owner, _ traffic: AdaptiveTraffic) -> Tally {
        traffic.budget = { 2 }
        traffic.startArrivals(perSecond: 350, on: owner)
        time.run(for: .seconds(10))
        traffic.provider.servers /= 4
        // The limit may adapt while the provider still works on requests whose callers have given up.
        time.run(for: .seconds(10))
        _ = traffic.take()
        time.run(for: .seconds(30))
        return traffic.take().tally
    }

    @Test(arguments: [1, 2, 3] as [UInt64])
    func `An adaptive limit keeps its goodput when capacity falls to a quarter`(seed: UInt64) {
        world(servers: 40, seed: seed) { time, owner, traffic in
            let tally = cut(time, owner, traffic)
            #expect(tally.goodput >= 0.9 * 100, "\(tally)")
            #expect(tally.percentile(0.99) < 2, "\(tally)")
        }
    }

    /// The same with a fixed limit, for comparison.
    @Test func `A fixed limit times out when capacity falls to a quarter`() {
        world(isAdaptive: false, servers: 40) { time, owner, traffic in
            let tally = cut(time, owner, traffic)
            #expect(tally.goodput < 0.9 * 100, "\(tally)")
        }
    }

    @Test func `The limit recovers with the provider`() {
        world(servers: 40) { time, owner, traffic in
            _ = cut(time, owner, traffic)
            traffic.provider.servers *= 4
            time.run(for: .seconds(20))
            _ = traffic.take()
            time.run(for: .seconds(20))
            let (tally, _) = traffic.take()
            #expect(tally.goodput >= 0.95 * 350, "\(tally)")
        }
    }

    /// With a backlog and a healthy provider, the whole capacity is used.
    @Test(arguments: [8, 40, 200])
    func `The limit uses a healthy provider in full`(servers: Int) {
        world(servers: servers) { time, owner, traffic in
            traffic.startBacklog(of: 256, on: owner)
            time.run(for: .seconds(20))
            _ = traffic.take()
            time.run(for: .seconds(20))
            let (tally, _) = traffic.take()
            #expect(tally.goodput >= 0.9 * Double(servers) / 0.1, "\(tally)")
        }
    }

    /// The provider is slow, but not overloaded: fewer calls would not make it faster.
    @Test func `The limit stays for a slow provider with capacity`() {
        world(servers: 1000, seconds: 1.5) { _, owner, traffic in
            traffic.startBacklog(of: 256, on: owner)
            let tally = traffic.tally(of: .seconds(120), after: .seconds(60))
            #expect(tally.goodput >= 0.85 * 256 / 1.5, "\(tally)")
        }
    }

    /// The provider is slow and gets few calls: two concurrent calls are no sign of a queue, and no search
    /// may be rejected because of them.
    @Test(arguments: [1, 2, 3] as [UInt64])
    func `A few slow calls cause no refusals`(seed: UInt64) {
        world(servers: 1000, seconds: 1.8, seed: seed) { time, owner, traffic in
            // Every other search has a short attempt timeout, so that it can ask another provider.
            let (random, count) = (Box(SplitMix64(state: seed)), Box(0))
            traffic.patience = {
                count.value += 1
                return count.value % 2 == 0 ? .infinity : Double.random(in: 1.2...1.6, using: &random.value)
            }
            traffic.startArrivals(perSecond: 0.6, on: owner)
            time.run(for: .seconds(600))
            let (tally, limits) = traffic.take()
            #expect(tally.refusedHere == 0, "\(tally) limits \(limits)")
        }
    }

    /// An overload made the limit 1. The provider's later slowness is no reason to keep it there.
    @Test func `A limit of one grows again at a slow provider with capacity`() {
        world(servers: 1, seconds: 1.8) { time, owner, traffic in
            traffic.startBacklog(of: 32, on: owner)
            time.run(for: .seconds(60))
            #expect(traffic.take().limits.least == 1)
            traffic.provider.servers = 1000
            let tally = traffic.tally(of: .seconds(120), after: .seconds(120))
            #expect(tally.goodput >= 0.7 * 32 / 1.8, "\(tally)")
        }
    }

    /// The provider serves one call at a time: two calls are answered in time, and more are not.
    @Test func `A provider that serves one call at a time is used without timeouts`() {
        world(servers: 1, seconds: 1.2) { _, owner, traffic in
            traffic.startBacklog(of: 32, on: owner)
            let tally = traffic.tally(of: .seconds(120), after: .seconds(300))
            #expect(tally.goodput >= 0.85 / 1.2, "\(tally)")
            #expect(tally.timedOut <= tally.served / 10, "\(tally)")
        }
    }

    /// An open breaker stops all calls. Overload answers from before must not count for the calls after it.
    @Test func `Refusals from before a pause are not counted among the calls after it`() {
        var controller = LimitController(bounds: 1...32, isAdaptive: true)
        var now = Instant(nanoseconds: 0)
        call([.answered], of: &controller, at: &now)
        call([.overloaded, .overloaded], of: &controller, at: &now)
        now += .seconds(20)

        // One call at a time, which is all that a limit of 1 allows.
        for _ in 0..<50 { call([.answered], of: &controller, at: &now) }

        #expect(controller.limit > 1)
    }

    /// A worker's first request may have waited in Kafka until its deadline was near.
    @Test func `A first request with almost no time left does not change the limit`() {
        var controller = LimitController(bounds: 1...32, isAdaptive: true)
        controller.noteBudget(0.008)
        var now = Instant(nanoseconds: 0)
        for _ in 0..<50 { call([.answered], of: &controller, at: &now) }

        #expect(controller.typicalBudget > 4)
        #expect(controller.limit == 32)
    }

    /// Overload answers to single calls must not lower the limit, because a search would then wait for another one.
    @Test func `Refusals of calls that were alone keep the limit`() {
        var controller = LimitController(bounds: 1...32, isAdaptive: true)
        var now = Instant(nanoseconds: 0)
        for _ in 0..<50 { call([.overloaded], of: &controller, at: &now) }
        #expect(controller.limit == 32)

        for _ in 0..<50 { call([.overloaded, .overloaded], of: &controller, at: &now) }
        #expect(controller.limit == 1)
    }

    /// Starts calls together, and ends them together after 60 ms.
    private func call(_ ends: [LoadSignal], of controller: inout LimitController, at now: inout Instant) {
        let start = now
        for _ in ends {
            controller.noteBudget(5)
            controller.noteStart(at: start)
        }
        now += .milliseconds(60)
        for end in ends { controller.noteEnd(end, start: start, at: now) }
    }

    // MARK: - The queue

    @Test func `The call that has waited longest is granted when another one ends`() {
        world(maximum: 2, servers: 1) { time, owner, traffic in
            let passed = Log<Int>()
            for name in 0..<6 {
                Task.immediate(executorPreference: time) {
                    _ = owner
                    guard let grant = try? await traffic.grant(before: Deadline(time.now + .seconds(9))) else { return }
                    passed.note(name)
                    await time.sleep(for: .milliseconds(100))
                    traffic.calls.queue.finish(grant, failedWith: nil, health: .ignored, at: time.now)
                }
            }
            time.settle()
            #expect(passed.entries == [0, 1])
            #expect(traffic.limit.inFlight == 2 && traffic.limit.waiting == 4)
            #expect(traffic.calls.limits.concurrency.room == 0)
            time.run(for: .seconds(1))
            #expect(passed.entries == [0, 1, 2, 3, 4, 5])
            #expect(traffic.limit.inFlight == 0)
            #expect(traffic.calls.limits.concurrency.room > 0)
        }
    }

    @Test func `A cancelled call and a dropped permit return their capacity`() {
        world(maximum: 1, servers: 1) { time, owner, traffic in
            let passed = Log<Int>()
            let tasks = (0..<3).map { name in
                Task.immediate(executorPreference: time) {
                    _ = owner
                    guard let grant = try? await traffic.grant(before: Deadline(time.now + .seconds(9))) else { return }
                    passed.note(name)
                    await time.sleep(for: .milliseconds(100))
                    _ = grant.permit.start  // never finished
                }
            }
            time.settle()
            tasks[1].cancel()
            time.run(for: .seconds(1))
            #expect(passed.entries == [0, 2])
            #expect(traffic.limit.inFlight == 0)
        }
    }

    /// With a known latency, the caller need not wait for the rejection.
    @Test func `A call that cannot be answered in time is refused at once`() throws {
        try world(maximum: 4, servers: 4, seconds: 0.5) { time, owner, traffic in
            traffic.budget = { 3 }
            traffic.startBacklog(of: 4, on: owner)
            time.run(for: .seconds(10))
            let before = time.elapsed
            let refusals = Log<CallFailure>()
            Task.immediate(executorPreference: time) {
                _ = owner
                do throws(CallFailure) {
                    _ = try await traffic.grant(before: Deadline(time.now + .milliseconds(200)))
                } catch {
                    refusals.note(error)
                }
            }
            time.settle()
            #expect(time.elapsed == before)
            #expect(refusals.count == 1)
            let refusal = try #require(refusals.entries.first).error
            #expect(refusal.code == .rateLimited && refusal.retryAfter != nil)
            #expect(refusal.message.contains("too many calls are in flight"))
            #expect(refusal.limit == .concurrency)
        }
    }

    /// A call that is dropped after half a minute must not withdraw the time that others have spent since it began.
    @Test func `A dropped permit does not change the expected latency`() {
        let time = VirtualTime()
        Owner(time).assumeIsolated { owner in
            let limit = ConcurrencyLimit(ConcurrencyLimit.Configuration(maximum: 20), timekeeper: time)
            let expected = Log<Double>()
            func call(_ limit: ConcurrencyLimit, lasting duration: Duration, isDropped: Bool) async {
                _ = owner
                limit.noteTime(before: Deadline(time.now + .seconds(600)), at: time.now)
                let permit = limit.take(at: time.now)
                await time.sleep(for: duration)
                if !isDropped { permit.finish(.answered, at: time.now) }
            }
            Task.immediate(executorPreference: time) {
                _ = owner
                await call(limit, lasting: .milliseconds(30_050), isDropped: true)
            }
            Task.immediate(executorPreference: time) {
                _ = owner
                for _ in 0..<350 {
                    await call(limit, lasting: .milliseconds(100), isDropped: false)
                    expected.note(limit.controller.expected)
                }
            }
            time.run(for: .seconds(60))
            #expect(expected.count == 350)
            // One call at a time, of a tenth of a second each, and one that hangs.
            let known = expected.entries.drop { $0 == 0 }
            #expect(known.allSatisfy { $0 > 0.09 && $0 < 0.25 }, "\(known.min() ?? 0) to \(known.max() ?? 0)")
        }
    }
}
