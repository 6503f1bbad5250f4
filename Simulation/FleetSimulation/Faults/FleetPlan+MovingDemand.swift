import QuotaSharing
import Resilience
import SimulatedLoop

/// Quota that was leased for requests of one partition, when those of another one come and nobody can be told.
extension FleetPlan {
    /// Seconds within which the owner of the first partition has leased what the others have.
    private static let timeToLease = 2.0
    /// Seconds for which nobody can read the fleet's topic. Leases end after 1.5 s, and what is called beyond the limit after that has
    /// to be more than the burst.
    private static let silence = 5.0

    /// Has more requests of one partition come than its owner's share allows, and then as many of another one, while the brokers let
    /// nobody read the fleet's topic: each lease has to end by itself.
    mutating func makeMovingDemand(_ random: inout SeededGenerator) {
        guard rateLimit != nil, share == .byDemand, members > 1, partitions > 1, callsPerDay == nil, maxAge == nil,
            fullLoad == nil,
            random.chance(0.1)
        else { return }
        let perSecond = Double(Int.random(in: 6...14, using: &random))
        rateLimit = RateLimit(perSecond: perSecond)
        (latency, failures, concurrency) = (0.02...0.1, 0, 64)

        let start = Double.random(in: 1...(faultsEnd - Self.timeToLease - Self.silence - 1), using: &random)
        let silence = start + Self.timeToLease
        faults.append(Fault(time: silence, kind: .fleetTopic(.refusesReaders, seconds: Self.silence)))
        faults.sort { $0.time < $1.time }

        let first = Int32.random(in: 0..<partitions, using: &random)
        let second = (first + Int32.random(in: 1..<partitions, using: &random)) % partitions
        addDemand(of: first, perSecond: 1.5 * perSecond, from: start, to: silence + Self.silence)
        addDemand(of: second, perSecond: perSecond, from: silence, to: silence + Self.silence)
        requests.sort { $0.time < $1.time }
    }

    private mutating func addDemand(of partition: Int32, perSecond: Double, from start: Double, to end: Double) {
        let count = Int((end - start) * perSecond)
        for index in 0..<count {
            let number = requests.count
            requests.append(
                Request(
                    number: number, time: start + Double(index) / perSecond, partition: partition, key: "k\(index % 6)",
                    keyword: "moving-\(number)", isValid: true))
        }
    }
}
