import SimulatedKafkaClients
import SimulatedLoop
import WorkerRuntime

/// Offsets of transactions that are long on their way, while their member gives up one partition after the other.
extension FleetPlan {
    /// Seconds for which such offsets travel: longer than a member that gives a partition up waits for what is in flight on it, and
    /// long enough for the next owner to be done with what they are about.
    static let delayOfLateOffsets = 3.0...5.0
    /// The part of the offsets that travel so long.
    static let lateOffsetsShare = 0.7

    /// Has two members join, about as far apart as a group of KIP-848 shares its partitions out again, while transactions of the member
    /// that has all partitions are slow to get their offsets to the brokers.
    mutating func makeLateOffsets(_ random: inout SeededGenerator) {
        guard delivery == .exactlyOnce, groupProtocol == .consumer, !isStatic, partitions > 2, !faults.isEmpty,
            fullLoad == nil,
            random.chance(0.3)
        else { return }
        (members, lanes, shutdownGrace, transactionTimeout) = (1, 1, 2, 60)
        (latency, failures, rateLimit, quota, callsPerDay, maxAge) = (0.02...0.1, 0, nil, nil, nil, nil)

        let start = Double.random(in: 2...(faultsEnd - 6), using: &random)
        lateOffsets = (start - 1)...(start + 3)
        for time in [start, start + Double.random(in: 0.8...2.2, using: &random)] {
            faults.append(Fault(time: time, kind: .scale(up: true)))
        }
        faults.sort { $0.time < $1.time }

        let perSecond = 2.0 * Double(partitions)
        for index in 0..<Int(4 * perSecond) {
            let number = requests.count
            requests.append(
                Request(
                    number: number, time: start - 1 + Double(index) / perSecond, partition: Int32(index) % partitions,
                    key: "k\(index % 6)", keyword: "late-\(number)", isValid: true))
        }
        requests.sort { $0.time < $1.time }
    }
}
