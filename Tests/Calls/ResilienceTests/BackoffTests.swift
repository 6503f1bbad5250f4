import TestSupport
import Testing

@testable import Resilience

struct BackoffTests {
    static let ceilings: [(attempt: Int, ceiling: Duration)] = [
        (1, .milliseconds(100)), (2, .milliseconds(200)), (5, .milliseconds(1600)), (6, .seconds(2)), (60, .seconds(2)),
    ]

    @Test(arguments: ceilings)
    func `The backoff's jitter spreads from zero to the ceiling`(attempt: Int, ceiling: Duration) {
        var random = SplitMix64(state: 1)
        let delays = (0..<2000).map { _ in Backoff().delay(after: attempt, using: &random) }
        #expect(delays.allSatisfy { $0 >= .zero && $0 < ceiling })
        #expect(delays.contains { $0 < ceiling * 0.02 })
        #expect(delays.contains { $0 > ceiling * 0.98 })
        let mean = delays.reduce(.zero, +) / delays.count
        #expect(mean > ceiling * 0.47 && mean < ceiling * 0.53)
    }

    @Test(arguments: [Duration.milliseconds(1), .milliseconds(500), .seconds(30)])
    func `The backoff is never shorter than Retry-After`(floor: Duration) {
        var random = SplitMix64(state: 2)
        let delays = (0..<500).map { _ in Backoff().delay(after: 3, floor: floor, using: &random) }
        #expect(delays.allSatisfy { $0 >= floor && $0 < floor + .milliseconds(100) })
        #expect(Set(delays).count > 400, "those told the same come back spread")
    }

    @Test
    func `The backoff fits into the remaining time`() {
        var random = SplitMix64(state: 3)
        for _ in 0..<500 {
            #expect(Backoff().delay(after: 6, longest: .milliseconds(30), using: &random) <= .milliseconds(30))
        }
    }
}
