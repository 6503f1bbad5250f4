import Basics
import SimulatedKafka

/// Which clients take which partitions for theirs, and when two of them did so at a time: a member that is cut off, or a former
/// process of a static member, does not know yet that the group has given its partitions to another one.
struct Ownership {
    /// How many owners a partition had beside the one that the group knows of, at most, and for how long.
    private struct Excess {
        var time: Range<Instant>
        var owners: Int
    }

    private var owned: [String: [PartitionID]] = [:]
    private var excess: [Excess] = []
    private var current = (owners: 0, since: Instant(nanoseconds: 0))
    /// What a member leases out lasts for a while after it has lost the partition behind it.
    private static let lease = Duration.seconds(2)

    /// Notes the partitions that a client takes for its own from now on.
    mutating func note(_ partitions: [PartitionID], of client: String, at now: Instant) {
        owned[client] = partitions.isEmpty ? nil : partitions
        var owners: [PartitionID: Int] = [:]
        for partition in owned.values.joined() { owners[partition, default: 0] += 1 }
        let most = max(0, (owners.values.max() ?? 0) - 1)
        guard most != current.owners else { return }

        if current.owners > 0 { excess.append(Excess(time: current.since..<now, owners: current.owners)) }
        current = (most, now)
    }

    /// Returns for how long partitions had several owners within a time, once for each owner beyond the first.
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
