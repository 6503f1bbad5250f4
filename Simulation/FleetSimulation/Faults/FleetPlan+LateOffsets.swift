import SimulatedKafkaClients
import SimulatedLoop
import WorkerRuntime

/// Transaction offsets that arrive late, while their member gives up one partition after another.
extension FleetPlan {
    /// The delay of such offsets in seconds.
    ///
    /// It is longer than a revocation waits for requests in flight, and long enough for the next owner to finish the same requests.
    static let delayOfLateOffsets = 3.0...5.0
    /// The fraction of the offsets that are delayed.
    static let lateOffsetsShare = 0.7

    /// Makes two members join, about as far apart as a KIP-848 group reassigns partitions.
    ///
    /// Meanwhile the transactions of the member that owns all partitions are slow to deliver their offsets to the brokers.
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
