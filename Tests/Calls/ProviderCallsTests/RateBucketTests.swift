import Basics
import LocationSearch
import TestSupport
import Testing

@testable import ProviderCalls
@testable import Resilience

/// Calls that wait for a token of the rate.
struct RateBucketTests {
    /// Calls to a provider with a rate limit, and their results.
    private final class Traffic {
        let calls: QueuedCalls
        let time: VirtualTime
        var admitted: [(name: Int, at: Duration)] = []
        var refused: [(name: Int, at: Duration, retryAfter: Duration?)] = []
        var cancelled: [Int] = []
        var times: [Duration] { admitted.map(\.at) }

        init(_ limit: RateLimit?, share: Double = 1, time: VirtualTime) {
            self.time = time
            calls = QueuedCalls(rate: limit, share: share, time: time)
        }

        var statistics: RateBucket.Statistics { calls.queue.rateStatistics() }

        func ask(_ name: Int = 0, within patience: Duration = .seconds(5)) async {
            do throws(CallFailure) {
                try await calls.pass(startingBefore: time.now + patience)
                admitted.append((name, time.elapsed))
            } catch {
                switch CallEnding(error) {
                case .cancelled: cancelled.append(name)
                default: refused.append((name, time.elapsed, error.error.retryAfter))
                }
            }
        }
    }

    private func world(
        _ limit: RateLimit?, share: Double = 1, timersLateBy lateness: Duration = .zero,
        _ body: @Sendable (VirtualTime, isolated Owner, Traffic) throws -> Void
    ) rethrows {
        let time = VirtualTime(timersLateBy: lateness)
        let owner = Owner(time)
        try owner.assumeIsolated { try body(time, $0, Traffic(limit, share: share, time: time)) }
    }

    // MARK: - Rate

    /// A loop may ask for one limit after it has not counted another one for long.
    @Test func `A forecast counts the tokens that have come`() {
        let start = Instant.now
        var bucket = RateBucket(limit: RateLimit(perSecond: 0.2), share: 1, at: start)
        bucket.take()
        #expect(bucket.wait(behind: 0, at: start) == .seconds(5))
        #expect(bucket.wait(behind: 0, at: start + .seconds(30)) == .zero)
    }

    static let limits: [(rate: Double, burst: Double)] = [
        (1, 1), (10, 1), (10, 20), (100, 1), (100, 10), (333, 33), (500, 1), (0.5, 1),
    ]

    @Test(arguments: limits, [1, 2] as [UInt64])
    func `No second has more calls than rate and burst`(limit: (rate: Double, burst: Double), seed: UInt64) {
        world(RateLimit(perSecond: limit.rate, burst: limit.burst), timersLateBy: .microseconds(700)) {
            time, owner, traffic in
            let random = Box(SplitMix64(state: seed))
            Task.immediate(executorPreference: time) {
                _ = owner
                // Alternates bursts, single requests and pauses, at twice the rate on average.
                while time.elapsed < .seconds(8) {
                    let crowd = Int.random(in: 1...max(2, Int(limit.rate / 2)), using: &random.value)
                    for _ in 0..<crowd {
                        Task.immediate(executorPreference: time) {
                            _ = owner
                            await traffic.ask(within: .milliseconds(Int.random(in: 1...3000, using: &random.value)))
                        }
                    }
                    let pause = Double(crowd) / limit.rate * Double.random(in: 0..<1, using: &random.value)
                    await time.sleep(for: .seconds(pause))
                }
            }
            time.run(for: .seconds(12))
            #expect(traffic.admitted.count > Int(limit.rate * 4))
            #expect(!traffic.refused.isEmpty)
            #expect(Double(traffic.times.mostInASecond) <= limit.rate + limit.burst + 1e-6)
            #expect(traffic.statistics.waiting == 0)
            #expect(traffic.statistics.admitted == traffic.admitted.count)
            #expect(traffic.statistics.refused == traffic.refused.count)
        }
    }

    @Test(arguments: limits, [Duration.zero, .microseconds(500), .milliseconds(1)])
    func `The whole rate is used under load`(limit: (rate: Double, burst: Double), lateness: Duration) {
        world(RateLimit(perSecond: limit.rate, burst: limit.burst), timersLateBy: lateness) { time, owner, traffic in
            for client in 0..<24 {
                Task.immediate(executorPreference: time) {
                    _ = owner
                    while time.elapsed < .seconds(30) {
                        await traffic.ask(client, within: .seconds(200))
                        await time.sleep(for: .milliseconds(1))
                    }
                }
            }
            time.run(for: .seconds(30))
            let used = Double(traffic.admitted.count { $0.at > .seconds(10) }) / (limit.rate * 20)
            #expect(used >= 0.95 && used <= 1.01, "used \(used)")
        }
    }

    @Test func `Waits that are over leave no timer`() {
        world(RateLimit(perSecond: 100, burst: 1)) { time, owner, traffic in
            for number in 0..<100 {
                Task.immediate(executorPreference: time) {
                    _ = owner
                    let flow = Flow(.interactive, tenant: "t\(number % 7)")
                    try? await traffic.calls.pass(in: flow, startingBefore: time.now + .seconds(86_400))
                }
            }
            time.run(for: .milliseconds(500))
            // At most one for each waiting request, and the wake-up.
            #expect(time.timerCount <= traffic.statistics.waiting + 1)
            time.run(for: .seconds(2))
            #expect(traffic.statistics.admitted == 100)
            #expect(time.timerCount == 0)
        }
    }

    @Test
    func `A call that would wait too long is refused at once with a retry time`() {
        world(RateLimit(perSecond: 10, burst: 1)) { time, owner, traffic in
            for name in 0..<8 {
                Task.immediate(executorPreference: time) {
                    _ = owner
                    await traffic.ask(name, within: .milliseconds(500))
                }
            }
            time.settle()
            #expect(traffic.admitted.map(\.name) == [0])
            #expect(traffic.refused.map(\.name) == [6, 7], "five turns of 100 ms fit into 500 ms")
            #expect(traffic.refused.allSatisfy { $0.at == .zero && $0.retryAfter == .milliseconds(600) })
            time.run(for: .seconds(1))
            #expect(traffic.admitted.map(\.name) == [0, 1, 2, 3, 4, 5], "in the order they came")
            #expect(traffic.times == [0, 100, 200, 300, 400, 500].map { .milliseconds($0) })
        }
    }

    @Test
    func `A cancelled call leaves its token to the next one`() {
        world(RateLimit(perSecond: 10, burst: 1)) { time, owner, traffic in
            let tasks = (0..<5).map { name in
                Task.immediate(executorPreference: time) {
                    _ = owner
                    await traffic.ask(name)
                }
            }
            time.settle()
            tasks[1].cancel()
            tasks[2].cancel()
            time.run(for: .seconds(1))
            #expect(traffic.cancelled == [1, 2])
            #expect(traffic.admitted.map(\.name) == [0, 3, 4])
            #expect(traffic.times == [.zero, .milliseconds(100), .milliseconds(200)])
            #expect(traffic.statistics.admitted == 3 && traffic.statistics.waiting == 0)
        }
    }

    @Test
    func `Without a limit every call is granted`() {
        world(nil) { time, owner, traffic in
            let all = (0..<1000).allSatisfy { _ in traffic.calls.passAtOnce() }
            #expect(all)
        }
    }

    /// Holds a grant whose call has not been made.
    private final class HeldGrant { var grant: Grant? }

    @Test
    func `A returned token goes to the next call`() {
        world(RateLimit(perSecond: 10, burst: 1)) { time, owner, traffic in
            let deadline = Deadline(time.now + .seconds(60))
            let held = HeldGrant()
            held.grant = try? traffic.calls.queue.grantAtOnce(before: deadline, at: time.now)
            for name in 1..<3 {
                Task.immediate(executorPreference: time) {
                    _ = owner
                    await traffic.ask(name)
                }
            }
            time.settle()
            #expect(traffic.admitted.isEmpty)
            held.grant = nil
            time.settle()
            #expect(traffic.admitted.map(\.name) == [1], "without waiting for the next token")
            #expect(traffic.statistics.admitted == 1)
            time.run(for: .seconds(1))
            #expect(traffic.times == [.zero, .milliseconds(100)])

            // A paused bucket stays paused when a token is returned.
            time.run(for: .seconds(1))
            held.grant = try? traffic.calls.queue.grantAtOnce(before: deadline, at: time.now)
            traffic.calls.pause(for: .seconds(2))
            held.grant = nil
            #expect(!traffic.calls.passAtOnce())
        }
    }

    // MARK: - Pauses

    @Test(arguments: [nil, RateLimit(perSecond: 1000, burst: 100)])
    func `A pause that the provider requested applies to all calls`(limit: RateLimit?) {
        world(limit) { time, owner, traffic in
            traffic.calls.pause(for: .seconds(2))
            traffic.calls.pause(for: .seconds(1))  // the longest counts
            for name in 0..<4 {
                Task.immediate(executorPreference: time) {
                    _ = owner
                    await traffic.ask(name, within: name.isMultiple(of: 2) ? .seconds(1) : .seconds(5))
                }
            }
            time.settle()
            #expect(traffic.calls.limits.bucket.pausedUntil(at: time.now) == time.now + .seconds(2))
            #expect(traffic.refused.map(\.name) == [0, 2])
            #expect(traffic.refused.first?.retryAfter == .seconds(2))
            time.run(for: .seconds(3))
            #expect(traffic.admitted.map(\.name) == [1, 3])
            #expect(traffic.times.allSatisfy { $0 >= .seconds(2) && $0 < .milliseconds(2003) })
        }
    }

    @Test
    func `A pause refuses the waiting calls that cannot wait so long`() {
        world(RateLimit(perSecond: 10, burst: 1)) { time, owner, traffic in
            for name in 0..<5 {
                Task.immediate(executorPreference: time) {
                    _ = owner
                    await traffic.ask(name, within: name < 3 ? .seconds(1) : .seconds(9))
                }
            }
            time.settle()
            traffic.calls.pause(for: .seconds(3))
            time.settle()
            #expect(traffic.refused.map(\.name) == [1, 2])
            #expect(traffic.refused.allSatisfy { $0.at == .zero && ($0.retryAfter ?? .zero) >= .seconds(3) })
            time.run(for: .seconds(5))
            #expect(traffic.admitted.map(\.name) == [0, 3, 4])
            #expect(traffic.times.dropFirst().allSatisfy { $0 >= .seconds(3) })
        }
    }

    @Test
    func `After a pause the bucket has one token, and a pause has a maximum`() {
        world(RateLimit(perSecond: 10, burst: 10)) { time, owner, traffic in
            traffic.calls.pause(for: .seconds(86_400))
            #expect(traffic.calls.limits.bucket.pausedUntil(at: time.now) == time.now + .seconds(600))
            time.run(for: .seconds(600))
            #expect(traffic.calls.passAtOnce())
            #expect(!traffic.calls.passAtOnce())
        }
    }

    // MARK: - Shares

    @Test
    func `A larger share adds no tokens and a smaller one removes some`() {
        world(RateLimit(perSecond: 100, burst: 40), share: 0.5) { time, owner, traffic in
            func drain() -> Int {
                var count = 0
                while traffic.calls.passAtOnce() { count += 1 }
                return count
            }
            traffic.calls.queue.setShare(0.25)
            traffic.calls.queue.setShare(1)
            #expect(drain() == 10, "a quarter of the burst was left, and nothing came with the larger share")
            time.run(for: .milliseconds(100))
            #expect(drain() == 10)
            time.run(for: .seconds(10))
            #expect(drain() == 40)
        }
    }

    @Test
    func `A smaller share refuses the calls that it delays beyond their deadline`() {
        world(RateLimit(perSecond: 10, burst: 1)) { time, owner, traffic in
            for name in 0..<6 {
                Task.immediate(executorPreference: time) {
                    _ = owner
                    await traffic.ask(name, within: .seconds(1))
                }
            }
            time.settle()
            traffic.calls.queue.setShare(0.25)
            time.settle()
            #expect(traffic.refused.map(\.name) == [3, 4, 5], "two turns of 400 ms fit into a second")
            traffic.calls.queue.setShare(0)
            time.settle()
            #expect(traffic.refused.suffix(2).map(\.name) == [1, 2])
            #expect(traffic.refused.last?.retryAfter == nil)
        }
    }

    @Test
    func `Nothing passes beyond the end of a share`() {
        world(RateLimit(perSecond: 100, burst: 10)) { time, owner, traffic in
            traffic.calls.queue.setShare(1, until: time.now + .milliseconds(500))
            for name in 0..<100 {
                Task.immediate(executorPreference: time) {
                    _ = owner
                    await traffic.ask(name, within: .seconds(5))
                }
            }
            time.run(for: .seconds(2))
            // The bucket was full, and half a second's worth came in.
            #expect((58...60).contains(traffic.admitted.count), "\(traffic.admitted.count)")
            #expect(traffic.refused.isEmpty, "who has time left waits for the next share")

            traffic.calls.queue.setShare(1)
            time.run(for: .seconds(2))
            #expect(traffic.admitted.count == 100)
        }
    }

    @Test
    func `A call with enough time waits for a larger share`() {
        world(RateLimit(perSecond: 10, burst: 1), share: 0) { time, owner, traffic in
            traffic.calls.queue.setShare(0, prospect: 1)
            for (name, seconds) in [(0, 1), (1, 5)] {
                Task.immediate(executorPreference: time) {
                    _ = owner
                    await traffic.ask(name, within: .seconds(seconds))
                }
            }
            time.settle()
            #expect(traffic.refused.isEmpty)

            time.run(for: .seconds(2))
            traffic.calls.queue.setShare(0, prospect: 1)
            time.settle()
            #expect(traffic.refused.map(\.name) == [0], "its time is over")

            traffic.calls.queue.setShare(1, prospect: 1)
            time.run(for: .seconds(1))
            #expect(traffic.admitted.map(\.name) == [1])
        }
    }
}
