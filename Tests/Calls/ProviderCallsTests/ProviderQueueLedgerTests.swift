import Basics
import LocationSearch
import Resilience
import TestSupport
import Testing

@testable import ProviderCalls
@testable import QuotaSharing

/// A call begins only with all its permits and tokens, and none is taken without a call.
struct ProviderQueueLedgerTests {
    /// A provider with every limit, random calls to it, and an independent count of what they took.
    private final class World {
        static let rate = RateLimit(perSecond: 40, burst: 8)
        static let maximum = 6
        static let budget = 250

        let time: VirtualTime
        let member: BudgetMember
        let calls: QueuedCalls
        var random: SplitMix64
        private let period: BudgetPeriod
        private var offset: Int64 = 0
        private(set) var begun: [Duration] = []
        private(set) var underWay = 0
        private(set) var ended = 0
        private(set) var faults: [String] = []

        init(_ time: VirtualTime, seed: UInt64) throws {
            self.time = time
            random = SplitMix64(state: seed)
            period = BudgetPeriod(label: "2026-11-23", end: time.now + .seconds(3600))
            member = BudgetMember(name: "m", calls: Self.budget, reserve: .units(20), at: time.now)
            let access = try #require(member.account("hotpepper"))
            var concurrency = ConcurrencyLimit.Configuration(maximum: Self.maximum)
            concurrency.isAdaptive = Bool.random(using: &random)
            calls = QueuedCalls(rate: Self.rate, concurrency: concurrency, budget: access, time: time)
            calls.limits.breaker.onTransition = { [weak self] _ in self?.calls.queue.serve() }
            member.begin(FleetTopicExtent(first: 0, end: 0, oldest: 0), at: time.now)
        }

        /// Runs a tick. Its message is in the log at once.
        func tick() {
            guard let message = member.tick(at: time.now, { _ in period }) else { return }
            member.read(message, at: offset, now: time.now)
            offset += 1
            member.review(at: time.now)
        }

        func call() async {
            let requestClass: RequestClass = Bool.random(using: &random) ? .interactive : .batch
            let flow = Flow(requestClass, tenant: "t\(Int.random(in: 0..<5, using: &random))")
            let end = time.now + .milliseconds(Int.random(in: 20...3000, using: &random))
            do throws(CallFailure) {
                var grant = try await calls.queue.grant(
                    for: RequestContext(since: time.now, flow: flow), before: Deadline(end))
                if Task.isCancelled { return }
                begin(&grant)
                await time.sleep(for: .milliseconds(Int.random(in: 1...200, using: &random)))
                finish(grant)
            } catch {}
            ended += 1
        }

        private func begin(_ grant: inout Grant) {
            let permits = grant.begin()
            if permits.isEmpty { faults.append("a call without a part of the budget") }
            for (account, permit) in permits { account.noteMade(permit, as: "search", at: time.now) }
            if calls.limits.breaker.openUntil(at: time.now) != nil { faults.append("a call while the breaker is open") }
            if calls.limits.bucket.pausedUntil(at: time.now) != nil { faults.append("a call during a pause") }
            begun.append(time.elapsed)
            underWay += 1
            if underWay > Self.maximum { faults.append("\(underWay) calls at once") }
        }

        private func finish(_ grant: consuming Grant) {
            underWay -= 1
            let roll = Int.random(in: 0..<100, using: &random)
            let retryAfter: Duration? = roll < 1 ? .milliseconds(700) : nil
            let error = roll < 8 ? SearchError(.upstreamUnavailable, "broken", retryAfter: retryAfter) : nil
            let health: CircuitBreaker.Outcome =
                switch roll {
                case 0: .trip(for: .milliseconds(300), because: .failureRate)
                case 1..<8: .failure
                default: .success
                }
            calls.queue.finish(grant, failedWith: error, health: health, at: time.now)
        }
    }

    @Test(arguments: 1...25 as ClosedRange<UInt64>)
    func `Every call has all that it needs and everything is given back`(seed: UInt64) throws {
        let time = VirtualTime()
        try Owner(time).assumeIsolated { owner in
            let world = try World(time, seed: seed)
            var asked = 0
            for step in 0..<600 {
                for _ in 0..<Int.random(in: 0...6, using: &world.random) {
                    asked += 1
                    let task = Task.immediate(executorPreference: time) {
                        _ = owner
                        await world.call()
                    }
                    guard Int.random(in: 0..<20, using: &world.random) == 0 else { continue }
                    time.schedule(at: time.now + .milliseconds(30)) { task.cancel() }
                }
                if Int.random(in: 0..<40, using: &world.random) == 0 {
                    world.calls.queue.setShare(Double.random(in: 0...1, using: &world.random))
                }
                time.run(for: .milliseconds(Int.random(in: 1...60, using: &world.random)))
                if step % 3 == 0 { world.tick() }
            }
            world.calls.queue.setShare(1)
            time.run(for: .seconds(10))
            world.tick()

            #expect(world.faults == [])
            #expect(world.begun.count > 50 && world.begun.count <= World.budget)
            #expect(Double(world.begun.mostInASecond) <= World.rate.perSecond + World.rate.burst)
            #expect(world.calls.limits.bucket.statistics.admitted == world.begun.count)
            #expect(world.member.accounts[0].status(at: world.time.now).used == world.begun.count)
            #expect(world.calls.queue.concurrencyStatistics.inFlight == 0)
            #expect(world.calls.queue.rateStatistics().waiting == 0)
            #expect(time.timerCount == 0)
        }
    }

    /// Many tenants wait for a slow rate. No event of one tenant iterates over all others, and no job is long.
    @Test func `Many waiting calls cause no long job and leave nothing behind`() throws {
        let time = VirtualTime()
        Owner(time).assumeIsolated { owner in
            let calls = QueuedCalls(rate: RateLimit(perSecond: 100, burst: 100), time: time)
            let (ended, waits) = (Box(0), 20_000)
            var tasks: [Task<Void, Never>] = []
            for number in 0..<waits {
                let flow = Flow(number % 10 == 0 ? .batch : .interactive, tenant: "t\(number % 6000)")
                let task = Task.immediate(executorPreference: time) {
                    _ = owner
                    try? await calls.pass(in: flow, startingBefore: time.now + .seconds(86_400))
                    ended.value += 1
                }
                tasks.append(task)
            }
            time.settle()
            #expect(calls.queue.rateStatistics().waiting == waits - 100)
            time.run(for: .seconds(2))
            #expect(ended.value == 300)

            for task in tasks.suffix(1000) { task.cancel() }
            time.settle()
            #expect(ended.value == 1300)

            // At most 64 in each job of the loop.
            calls.limits.breaker.trip(for: .seconds(60), because: .keyRefused, at: time.now)
            calls.queue.serve()
            time.settle()
            #expect(ended.value == 1300 + 64)
            time.run(for: .milliseconds(1))
            #expect(ended.value == waits)
            #expect(time.timerCount == 0)
        }
    }
}
