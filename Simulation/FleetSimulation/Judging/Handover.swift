import Basics
import Kafka
import SimulatedKafka
import SimulatedLoop

/// A revocation that a member completed because the group, or the member's drain, asked for it.
struct Handover {
    /// The name of the member's process.
    let process: String
    let partition: PartitionID
    /// The time at which the revocation was complete, in seconds from the beginning.
    let time: Double
    /// True if the member waited for its requests for the whole grace. Outcomes that were not confirmed by then are repeated.
    let hasUsedGrace: Bool
    /// The start of the rebalance that was in progress when the revocation began, in seconds from the beginning; `nil` if there was none.
    ///
    /// The brokers answer the member's JoinGroup when all members have joined or the sessions of crashed ones have ended. Only then
    /// do they read a commit that follows on the same connection. By then the group has gone on without the leaving member.
    let formsSince: Double?
}

extension FleetWorld {
    func noteLoss(of partitions: [AssignedPartition]) {
        let time = beginning.duration(to: simulation.now) / .seconds(1)
        if !partitions.isEmpty { losses.append(time) }
    }

    func noteHandover(of partitions: [AssignedPartition], by name: String, lasting: Duration, formingBefore: Duration?)
    {
        // Clocks drift by up to 0.5 %, and a commit takes a moment.
        let slack = 0.1
        let time = beginning.duration(to: simulation.now) / .seconds(1)
        let drain = everyWorker.first { $0.name == name }?.drainedAt.map { beginning.duration(to: $0) / .seconds(1) }
        let hasUsedGrace =
            lasting / .seconds(1) > min(plan.shutdownGrace, 10) - slack
            || drain.map { time > $0 + plan.shutdownGrace - slack } ?? false
        for partition in partitions {
            handovers.append(
                Handover(
                    process: name, partition: PartitionID(partition.id.topic, partition.id.partition), time: time,
                    hasUsedGrace: hasUsedGrace, formsSince: formingBefore.map { time - (lasting + $0) / .seconds(1) }))
        }
    }
}
