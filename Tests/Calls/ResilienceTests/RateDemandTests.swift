import Basics
import TestSupport
import Testing

@testable import Resilience

struct RateDemandTests {
    private let limit = RateLimit(perSecond: 100)

    /// Measures the demand ten times a second, and returns the last result.
    private func fraction(
        _ demand: inout RateDemand, perSecond rate: Int, waiting: Int = 0, for time: Duration, from start: Instant,
        admitted: inout Int
    ) -> Double {
        var fraction = 0.0
        for step in 1...Int(time / .milliseconds(100)) {
            admitted += rate / 10
            var statistics = RateBucket.Statistics()
            (statistics.admitted, statistics.waiting) = (admitted, waiting)
            fraction = demand.demand(of: limit, statistics: statistics, at: start + .milliseconds(100 * step)).total
        }
        return fraction
    }

    @Test(arguments: [(30, 0, 0.3...0.33), (30, 200, 1...1), (0, 0, 0...0)])
    func `The demand is the use with a little room and all for a long line`(
        rate: Int, waiting: Int, expected: ClosedRange<Double>
    ) {
        var (demand, admitted) = (RateDemand(), 0)
        let fraction = fraction(
            &demand, perSecond: rate, waiting: waiting, for: .seconds(5), from: .now, admitted: &admitted)
        #expect(expected.contains(fraction))
    }

    @Test func `A loop whose work has ended needs next to nothing half a second later`() {
        var (demand, admitted) = (RateDemand(), 0)
        let start = Instant.now
        _ = fraction(&demand, perSecond: 100, for: .seconds(5), from: start, admitted: &admitted)

        let later = fraction(
            &demand, perSecond: 0, for: .milliseconds(500), from: start + .seconds(5), admitted: &admitted)
        #expect(later < 0.01)
    }

    @Test func `Batch requests do not count as interactive demand`() {
        var rate = RateDemand()
        let start = Instant.now
        var demand = LimitDemand.none
        for step in 1...50 {
            var statistics = RateBucket.Statistics()
            (statistics.admitted, statistics.admittedBatch) = (5 * step, 3 * step)
            (statistics.waiting, statistics.waitingBatch) = (200, 200)
            demand = rate.demand(of: limit, statistics: statistics, at: start + .milliseconds(100 * step))
        }
        #expect(demand.total == 1)
        #expect(demand.interactive > 0.2 && demand.interactive < 0.22)
    }

    @Test func `Demand without batch is all interactive`() {
        var rate = RateDemand()
        let start = Instant.now
        for (step, admitted) in [0, 3, 9, 10, 30, 31, 31, 90].enumerated() {
            var statistics = RateBucket.Statistics()
            (statistics.admitted, statistics.waiting) = (admitted, step % 3)
            let demand = rate.demand(of: limit, statistics: statistics, at: start + .milliseconds(75 * step))
            #expect(demand.batch == 0)
        }
    }

    @Test func `Tenants that wait briefly count for a second`() {
        var rate = RateDemand()
        let start = Instant.now
        var counts: [Int] = []
        for step in 0...30 {
            var statistics = RateBucket.Statistics()
            if step == 0 { (statistics.waiting, statistics.waitingTenants) = (9, 9) }
            let now = start + .milliseconds(100 * step)
            counts.append(rate.demand(of: limit, statistics: statistics, at: now).interactiveTenants)
        }
        #expect(counts[0] == 9)
        #expect(counts[2] > 6)
        #expect(counts[30] == 1)
    }

    static let tenants: [(waiting: Int, batch: Int, tenants: Int, ofInteractive: Int, ofBatch: Int)] = [
        (20, 0, 9, 9, 1), (20, 20, 9, 1, 9), (203, 200, 4, 3, 1), (201, 200, 10, 1, 9), (0, 0, 0, 1, 1),
    ]

    @Test(arguments: tenants)
    func `Tenants are divided between the classes`(
        waiting: Int, batch: Int, tenants: Int, ofInteractive: Int, ofBatch: Int
    ) {
        var rate = RateDemand()
        var statistics = RateBucket.Statistics()
        (statistics.waiting, statistics.waitingBatch, statistics.waitingTenants) = (waiting, batch, tenants)
        let demand = rate.demand(of: limit, statistics: statistics, at: .now)
        #expect(demand.interactiveTenants == ofInteractive)
        #expect(demand.batchTenants == ofBatch)
    }
}
