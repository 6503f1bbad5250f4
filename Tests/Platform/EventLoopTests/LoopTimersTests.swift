import Basics
import Testing

@testable import EventLoop

struct LoopTimersTests {
    /// A request that expires in a day is soon answered, and its timer is then cancelled.
    @Test func `Cancelled timers of tomorrow are not kept`() {
        var timers = LoopTimers()
        let tomorrow = Instant.now + .seconds(86_400)
        for _ in 0..<100_000 { timers.cancel(timers.add(at: tomorrow, rank: 0) {}) }
        #expect(timers.heapCount < 200)
    }

    @Test func `Timers run in order where others are cancelled`() {
        var timers = LoopTimers()
        let start = Instant.now
        var run: [Int] = []
        let all = (0..<1_000).map { number in
            timers.add(at: start + .milliseconds(number * 7 % 1_000), rank: 0) { run.append(number * 7 % 1_000) }
        }
        for (number, timer) in all.enumerated() where number % 10 > 0 { timers.cancel(timer) }
        #expect(timers.heapCount < 300)

        while let action = timers.popDue(at: start + .seconds(2)) { action() }
        #expect(run.count == 100 && run == run.sorted())
        #expect(timers.nextDue == nil && timers.heapCount == 0)
    }
}
