import Basics
import Resilience
import TestSupport
import Testing

@testable import ProviderCalls

/// 100,000 calls of 30,000 tenants wait for one provider. Each job of the loop grants or rejects few of
/// them, and no state is left of ended calls.
@Suite(.timeLimit(.minutes(5)))
struct ManyWaitingCallsTests {
    private static let count = 100_000
    private static let tenants = 30_000

    private final class Waiting {
        let calls: QueuedCalls
        let time: VirtualTime
        private(set) var granted = 0
        private(set) var refused = 0
        private(set) var cancelled = 0
        /// The largest number of calls that resumed in one timer.
        private(set) var mostAtOnce = 0
        private var (atOnce, timer) = (0, 0)
        private var tasks: [Task<Void, Never>] = []

        /// - Parameter rate: calls a second.
        init(rate: Double, _ time: VirtualTime, on loop: isolated Owner) {
            self.time = time
            calls = QueuedCalls(rate: RateLimit(perSecond: rate), time: time)
            let latest = time.now + .seconds(1_000_000)
            for number in 0..<ManyWaitingCallsTests.count {
                let flow = Flow(
                    number.isMultiple(of: 2) ? .interactive : .batch,
                    tenant: "t\(number % ManyWaitingCallsTests.tenants)")
                tasks.append(
                    Task.immediate(executorPreference: time) {
                        _ = loop
                        do throws(CallFailure) {
                            try await calls.pass(in: flow, startingBefore: latest)
                            granted += 1
                        } catch {
                            if error.cause == .noTime { cancelled += 1 } else { refused += 1 }
                        }
                        noteOne()
                    })
            }
            time.settle()
            forgetMost()
        }

        var waiting: Int { calls.queue.line.count }

        func forgetMost() { (atOnce, mostAtOnce) = (0, 0) }

        /// Cancels calls throughout the queue, as newer searches of their sessions do.
        func cancel(_ count: Int) {
            for index in 0..<count { tasks[index * (tasks.count / count)].cancel() }
            time.settle()
        }

        private func noteOne() {
            atOnce = timer == time.timersRun ? atOnce + 1 : 1
            timer = time.timersRun
            mostAtOnce = max(mostAtOnce, atOnce)
        }
    }

    private func world(rate: Double, _ body: @Sendable (Waiting, VirtualTime) -> Void) {
        let time = VirtualTime()
        Owner(time).assumeIsolated { body(Waiting(rate: rate, time, on: $0), time) }
    }

    @Test func `Many waiting calls are granted, cancelled and refused in steps`() {
        world(rate: 1000) { waiting, time in
            waiting.cancel(10_000)
            #expect(waiting.cancelled >= 9_990)
            #expect(waiting.waiting == Self.count - waiting.granted - waiting.cancelled)

            waiting.forgetMost()
            time.run(for: .seconds(40))
            #expect(waiting.granted >= 40_000 * 95 / 100)
            #expect(waiting.mostAtOnce <= 64)

            waiting.forgetMost()
            waiting.calls.limits.breaker.holdOpen(at: time.now)
            waiting.calls.queue.review()
            time.run(for: .seconds(2))
            #expect(waiting.granted + waiting.cancelled + waiting.refused == Self.count)
            #expect(waiting.mostAtOnce <= 64)
            #expect(waiting.waiting == 0)
            #expect(waiting.calls.queue.line.flowCount == 0)
            #expect(time.timerCount == 0)
        }
    }

    /// At a thousandth of the rate, most tokens would come too late.
    @Test func `Calls that became too late are refused in steps when the share shrinks`() {
        world(rate: 1) { waiting, time in
            waiting.calls.queue.setShare(0.001)
            time.run(for: .seconds(5))
            #expect(waiting.refused > Self.count * 9 / 10)
            #expect(waiting.mostAtOnce <= 64)
        }
    }
}
