import Basics
import TestSupport
import Testing

@testable import QuotaSharing
@testable import Resilience

/// The waits of interactive calls in a fleet whose other members have batch demand.
struct FleetWaitingTests {
    /// One worker: its token bucket and its waiting requests.
    private final class Worker {
        let hasBatch: Bool
        var demand = RateDemand()
        var statistics = RateBucket.Statistics()
        var tokens = 0.0
        /// The arrival times of waiting interactive requests, oldest first.
        var line: [Double] = []

        init(hasBatch: Bool) { self.hasBatch = hasBatch }
    }

    private struct Outcome {
        var waits: [Double] = []
        var calls = 0
        var batchCalls = 0
        var messages = 0

        /// The 99th percentile of the waits.
        var p99: Double { waits.isEmpty ? 0 : waits.sorted()[waits.count * 99 / 100] }
    }

    private static let limit = RateLimit(perSecond: 100)
    private static let step = 0.005

    /// Runs three workers with a third of the partitions each. Interactive requests arrive at the first at random.
    private func run(
        perSecond rate: Double, firstHasBatch: Bool, seconds: Double = 60, seed: UInt64
    ) -> Outcome {
        var random = SplitMix64(state: seed)
        let fleet = LeaseFleet(of: 3)
        let workers = (0..<3).map { Worker(hasBatch: $0 > 0 || firstHasBatch) }
        fleet.demandAtTick = { index, now in
            let worker = workers[index]
            worker.statistics.waitingBatch = worker.hasBatch ? 300 : 0
            worker.statistics.waiting = worker.line.count + worker.statistics.waitingBatch
            return worker.demand.demand(of: Self.limit, statistics: worker.statistics, at: now)
        }

        let measuredFrom = 10.0
        var outcome = Outcome()
        while fleet.elapsed.inSeconds < measuredFrom + seconds {
            fleet.step()
            let time = fleet.elapsed.inSeconds
            if Double.random(in: 0..<1, using: &random) < rate * Self.step { workers[0].line.append(time) }
            for (index, worker) in workers.enumerated() {
                serve(
                    worker, share: fleet.share(of: index), at: time, isMeasured: time > measuredFrom, outcome: &outcome)
            }
        }
        outcome.messages = fleet.messages.count
        return outcome
    }

    private func serve(
        _ worker: Worker, share: Double, at time: Double, isMeasured: Bool, outcome: inout Outcome
    ) {
        let capacity = share > 0 ? max(1, Self.limit.burst * share) : 0
        worker.tokens = min(capacity, worker.tokens + Self.limit.perSecond * share * Self.step)
        while worker.tokens >= 1, !worker.line.isEmpty || worker.hasBatch {
            worker.tokens -= 1
            worker.statistics.admitted += 1
            if isMeasured { outcome.calls += 1 }
            if worker.line.isEmpty {
                worker.statistics.admittedBatch += 1
                if isMeasured { outcome.batchCalls += 1 }
            } else {
                let came = worker.line.removeFirst()
                if isMeasured { outcome.waits.append(time - came) }
            }
        }
    }

    /// The least use of the limit: a member without batch demand cannot use the share that it keeps for the next moment.
    static let cases: [(rate: Double, firstHasBatch: Bool, leastUsed: Double)] = [
        (5, true, 0.99), (5, false, 0.97), (20, true, 0.99), (20, false, 0.95), (60, true, 0.96), (60, false, 0.88),
    ]

    /// docs/internals/fleet.md contains the printed figures.
    @Test(arguments: cases)
    func `Interactive calls wait briefly while others have batch work`(
        rate: Double, firstHasBatch: Bool, leastUsed: Double
    ) {
        let outcome = run(perSecond: rate, firstHasBatch: firstHasBatch, seed: 1)
        let used = Double(outcome.calls) / (60 * Self.limit.perSecond)
        #expect(outcome.waits.count > Int(rate) * 50)
        #expect(outcome.p99 < 0.4)
        #expect(used > leastUsed)
        print(
            "measured: \(Int(rate)) interactive calls a second, batch",
            firstHasBatch ? "at all members:" : "at the others only:", "p99 \(Int(outcome.p99 * 1000)) ms,",
            "\((used * 1000).rounded() / 10) % used, \(outcome.messages / 70) messages/s")
    }
}
