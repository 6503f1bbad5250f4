import SimulatedKafkaClients
import SimulatedLoop

/// A fault of the brokers, or an operator's change to a topic.
enum ClusterFault: Sendable {
    /// Lowers the largest batch size of a topic; permanently if `seconds` is `nil`.
    case limitsSize(String, bytes: Int, seconds: Double?)
    /// Adds partitions to a topic.
    case addPartitions(String, count: Int32)
    /// Deletes records (DeleteRecords) of a partition of the requests topic, whether or not they were read.
    case deleteRecords(partition: Int32)
    /// Lowers the retention of the requests topic to one second for a while.
    case shortRetention(seconds: Double)
    /// Compacts the requests topic once.
    case compact
    /// Deletes a topic, and creates it again after `gap` seconds.
    case makeAgain(String, gap: Double)
    /// Denies the members access to their group.
    case deniesGroup(seconds: Double)
    /// Denies the producers the use of their transactional ids.
    case deniesTransactions(seconds: Double)
    /// Fills a broker's disk: it accepts no records, and its partitions get other leaders after a while.
    case diskFull(Int32, failover: Double, seconds: Double)
    /// Leaves too few replicas of a topic in sync.
    case tooFewReplicas(String, seconds: Double)
    /// Stops replication of a topic, so that no record is acknowledged.
    case slowReplication(String, seconds: Double)

    var name: String {
        switch self {
        case .limitsSize(_, _, let seconds): seconds == nil ? "permanently smaller limit" : "smaller limit"
        case .addPartitions(let topic, _):
            topic == SimulatedWorker.requests ? "requests topic grows" : "output topic grows"
        case .deleteRecords: "delete records"
        case .shortRetention: "short retention"
        case .compact: "compaction"
        case .makeAgain(let topic, _):
            topic == SimulatedWorker.requests ? "requests topic recreated" : "output topic recreated"
        case .deniesGroup: "group denied"
        case .deniesTransactions: "transactions denied"
        case .diskFull: "disk full"
        case .tooFewReplicas: "too few replicas"
        case .slowReplication: "slow replication"
        }
    }

    var isGraceful: Bool {
        if case .addPartitions = self { true } else { false }
    }

    var description: String {
        switch self {
        case .limitsSize(let topic, let bytes, let seconds):
            "topic \(topic) accepts at most \(bytes) bytes \(seconds.map { "for \($0.short) s" } ?? "from now on")"
        case .addPartitions(let topic, let count): "topic \(topic) grows to \(count) partitions"
        case .deleteRecords(let partition): "the records of partition \(partition) are deleted"
        case .shortRetention(let seconds): "the retention of requests is 1 s, for \(seconds.short) s"
        case .compact: "the requests topic is compacted"
        case .makeAgain(let topic, let gap): "topic \(topic) is deleted, and recreated after \(gap.short) s"
        case .deniesGroup(let seconds): "the group is denied for \(seconds.short) s"
        case .deniesTransactions(let seconds): "transactional ids are denied for \(seconds.short) s"
        case .diskFull(let broker, let failover, let seconds):
            "the disk of broker \(broker) is full for \(seconds.short) s, failover after \(failover.short) s"
        case .tooFewReplicas(let topic, let seconds): "topic \(topic) lacks replicas for \(seconds.short) s"
        case .slowReplication(let topic, let seconds): "topic \(topic) is not replicated for \(seconds.short) s"
        }
    }
}

extension FleetPlan {
    private static let outputs = ["results", "errors", "dead-letters"]

    /// Adds faults of the brokers, and operators' changes to topics.
    mutating func addClusterFaults(_ random: inout SeededGenerator) {
        guard !faults.isEmpty, random.chance(0.5) else { return }
        addOneOrTwo(&random) { $0.drawClusterFault(&$1) }
    }

    /// Adds operators' changes to topics, and faults that delete records.
    mutating func addTopicFaults(_ random: inout SeededGenerator) {
        guard !faults.isEmpty, random.chance(0.4) else { return }
        addOneOrTwo(&random) { $0.drawTopicFault(&$1) }
    }

    private mutating func addOneOrTwo(
        _ random: inout SeededGenerator, draw: (FleetPlan, inout SeededGenerator) -> ClusterFault
    ) {
        for _ in 0..<Int.random(in: 1...2, using: &random) {
            let time = Double.random(in: 1...26, using: &random)
            faults.append(Fault(time: time, kind: .cluster(draw(self, &random))))
        }
        faults.sort { $0.time < $1.time }
    }

    private func drawTopicFault(_ random: inout SeededGenerator) -> ClusterFault {
        let topic = Self.outputs.randomElement(using: &random) ?? "results"
        let seconds = Double.random(in: 0.5...8, using: &random)
        switch Int.random(in: 0..<8, using: &random) {
        case 0, 1:
            let bytes = Int.random(in: 4_000...12_000, using: &random)
            return .limitsSize(topic, bytes: bytes, seconds: random.chance(0.7) ? seconds : nil)
        case 2, 3:
            let count = partitions + Int32.random(in: 1...4, using: &random)
            return .addPartitions(SimulatedWorker.requests, count: count)
        case 4: return .addPartitions(topic, count: Int32.random(in: 3...5, using: &random))
        case 5: return .deleteRecords(partition: Int32.random(in: 0..<partitions, using: &random))
        case 6: return .shortRetention(seconds: seconds)
        default: return random.chance(0.5) ? .compact : .makeAgain(topic, gap: min(3, seconds))
        }
    }

    private func drawClusterFault(_ random: inout SeededGenerator) -> ClusterFault {
        let topic = Self.outputs.randomElement(using: &random) ?? "results"
        let seconds = Double.random(in: 0.5...8, using: &random)
        switch Int.random(in: 0..<5, using: &random) {
        case 0: return .deniesGroup(seconds: seconds)
        case 1: return .deniesTransactions(seconds: seconds)
        case 2:
            return .diskFull(
                Int32.random(in: 1...brokers, using: &random),
                failover: Double.random(in: 0.1...seconds, using: &random), seconds: seconds)
        case 3: return .tooFewReplicas(topic, seconds: seconds)
        default: return .slowReplication(topic, seconds: seconds)
        }
    }
}
