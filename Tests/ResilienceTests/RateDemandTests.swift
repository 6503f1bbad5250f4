import Basics
import TestSupport
import Testing

@testable import Resilience

struct RateDemandTests {
    private let limit = RateLimit(perSecond: 100)

    /// Looks ten times a second for some time, and returns the last need.
    private func fraction(
        _ demand: inout RateDemand, perSecond rate: Int, waiting: Int = 0, for seconds: Int,
        from start: Instant, admitted: inout Int
    ) -> Double {
        var fraction = 0.0
        for step in 1...10 * seconds {
            admitted += rate / 10
            var statistics = RateLimiter.Statistics()
            statistics.admitted = admitted
            statistics.waiting = waiting
            fraction = demand.fraction(of: limit, statistics: statistics, at: start + .milliseconds(100 * step))
        }
        return fraction
    }

    @Test func whatIsUsedIsNeededWithALittleRoom() {
        var (demand, admitted) = (RateDemand(), 0)
        let fraction = fraction(&demand, perSecond: 30, for: 5, from: .now, admitted: &admitted)
        #expect(fraction > 0.3 && fraction < 0.33)
    }

    @Test func aLongLineNeedsAll() {
        var (demand, admitted) = (RateDemand(), 0)
        #expect(fraction(&demand, perSecond: 30, waiting: 200, for: 1, from: .now, admitted: &admitted) == 1)
    }

    @Test func aLoopWhoseWorkHasEndedNeedsNextToNothingHalfASecondLater() {
        var (demand, admitted) = (RateDemand(), 0)
        let start = Instant.now
        _ = fraction(&demand, perSecond: 100, for: 5, from: start, admitted: &admitted)

        var fraction = 1.0
        for step in 1...5 {
            var statistics = RateLimiter.Statistics()
            statistics.admitted = admitted
            fraction = demand.fraction(of: limit, statistics: statistics, at: start + .milliseconds(5000 + 100 * step))
        }
        #expect(fraction < 0.01)
    }

    @Test func aLoopThatNeverHadWorkNeedsNothing() {
        var (demand, admitted) = (RateDemand(), 0)
        #expect(fraction(&demand, perSecond: 0, for: 2, from: .now, admitted: &admitted) == 0)
    }
}
