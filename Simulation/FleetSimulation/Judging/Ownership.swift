import Basics
import SimulatedKafka

/// The partitions that each client believes to own, and the periods in which two clients believed to own the same one.
///
/// A member that is cut off, or a former process of a static member, does not know yet that its partitions have another owner.
struct Ownership {
    /// A period in which a partition had several owners, and the largest number of them beyond the first.
    private struct Excess {
        var time: Range<Instant>
        var owners: Int
    }

    private var owned: [String: [PartitionID]] = [:]
    private var excess: [Excess] = []
    private var current = (owners: 0, since: Instant(nanoseconds: 0))
    /// The time for which leases of a member continue after it has lost the partition behind them.
    private static let lease = Duration.seconds(2)

    /// Records the partitions that a client believes to own from now on.
    mutating func note(_ partitions: [PartitionID], of client: String, at now: Instant) {
        owned[client] = partitions.isEmpty ? nil : partitions
        var owners: [PartitionID: Int] = [:]
        for partition in owned.values.joined() { owners[partition, default: 0] += 1 }
        let most = max(0, (owners.values.max() ?? 0) - 1)
        guard most != current.owners else { return }

        if current.owners > 0 { excess.append(Excess(time: current.since..<now, owners: current.owners)) }
        current = (most, now)
    }

    /// Returns for how long partitions had several owners within a period, counted once for each owner beyond the first.
    func secondsOfSeveral(from start: Instant, to end: Instant) -> Double {
        var all = excess
        if current.owners > 0 {
            all.append(Excess(time: current.since..<max(current.since, end), owners: current.owners))
        }
        return all.reduce(0) { seconds, excess in
            let (first, last) = (max(start, excess.time.lowerBound), min(end, excess.time.upperBound + Self.lease))
            return seconds + (first < last ? Double(excess.owners) * (first.duration(to: last) / .seconds(1)) : 0)
        }
    }
}
