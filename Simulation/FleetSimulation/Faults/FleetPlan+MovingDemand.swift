import QuotaSharing
import Resilience
import SimulatedLoop

/// Quota that is leased for one partition, when the demand moves to another one and the members cannot communicate.
extension FleetPlan {
    /// The seconds within which the owner of the first partition has leased the others' quota.
    private static let timeToLease = 2.0
    /// The seconds for which the fleet topic is unreadable.
    ///
    /// Leases end after 1.5 s; the calls beyond the limit after that have to exceed the burst.
    private static let silence = 5.0

    /// Sends more requests to one partition than its owner's share allows, and then as many to another one.
    ///
    /// The second burst comes while the brokers deny reads of the fleet topic, so each lease has to expire without a message.
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
