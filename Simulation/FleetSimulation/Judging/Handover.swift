import Basics
import Kafka
import SimulatedKafka
import SimulatedLoop

/// A partition that a member gave up because the group, or the member's own end, asked for it.
struct Handover {
    /// The name of the member's process.
    let process: String
    let partition: PartitionID
    /// When the member had given it up, in seconds from the beginning.
    let time: Double
    /// The member waited for its requests for as long as it may: what was not confirmed by then is done again.
    let hasUsedGrace: Bool
    /// When the group had begun to form anew, where it had not formed as the handover began, in seconds from the beginning; `nil` where
    /// it had. The brokers answer the member's JoinGroup when all members have joined, or the sessions of those that have died are
    /// over, and read a commit that stands behind it on the connection only then: in a group that has gone on without the member,
    /// which leaves.
    let formsSince: Double?
}

extension FleetWorld {
    func noteLoss(of partitions: [AssignedPartition]) {
        let time = beginning.duration(to: simulation.now) / .seconds(1)
        losses += partitions.map { (PartitionID($0.id.topic, $0.id.partition), time) }
    }

    func noteHandover(of partitions: [AssignedPartition], by name: String, lasting: Duration, formingBefore: Duration?)
    {
        // Clocks go wrong by up to 0.5 %, and a commit takes a moment.
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
