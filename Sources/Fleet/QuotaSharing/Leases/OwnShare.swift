public import Basics

/// The share of each limit that a member has through its partitions, and the time from which it may be used.
///
/// The group assigns each partition to one member at a time, and revokes it before it assigns it to another. Two risks
/// remain: leases that the last owner has granted, and a suspended member that the group has excluded and that
/// continues without noticing. Both have ended once a new owner has waited for `LeaseTimes.settling`.
struct OwnShare {
    /// The longest time between two ticks of a member that was not suspended.
    private static let longestGap = LeaseTimes.tick * 2
    private(set) var partitionCount = 0
    /// The partitions assigned to this member, with the time from which each may be used.
    private var usableFrom: [Int32: Instant] = [:]
    /// The usable partitions that were recently revoked from this member: the time of the revocation, and the time from
    /// which they could be used.
    private var revoked: [Int32: (at: Instant, usableFrom: Instant)] = [:]
    /// The time of this member's clock at the last tick.
    private var lastTick: Instant

    init(at now: Instant) {
        lastTick = now
    }

    /// The number of partitions assigned to this member.
    var owned: Int { usableFrom.count }

    /// The share from the owned partitions once all of them may be used, 0 to 1.
    var settled: Double { FleetShare.fraction(owned, of: partitionCount) }

    /// The latest time of the next tick. Without that tick, this member uses no share from then on.
    var tickDeadline: Instant { lastTick + LeaseTimes.tickTimeout }

    /// Sets the partitions assigned to this member, replacing the previous ones.
    /// - Parameter wasTaken: true if partitions were lost without a revocation, so that others may have owned them
    ///   meanwhile.
    /// - Returns: true if the set or the count has changed.
    mutating func assign(_ partitions: some Sequence<Int32>, of count: Int, wasTaken: Bool, at now: Instant) -> Bool {
        let former = usableFrom
        let hasOwnedThroughout = !wasTaken && now <= tickDeadline
        if !hasOwnedThroughout { revoked = [:] }
        forgetOldRevocations(at: now)

        usableFrom = [:]
        for partition in partitions {
            usableFrom[partition] = former[partition] ?? revoked[partition]?.usableFrom ?? now + LeaseTimes.settling
            revoked[partition] = nil
        }
        // A partition whose wait had not ended is not stored: its former owner may get it back without a wait, so this
        // member has to wait again.
        for (partition, moment) in former where hasOwnedThroughout && usableFrom[partition] == nil && moment <= now {
            revoked[partition] = (now, moment)
        }

        let isChanged =
            partitionCount != count || former.count != usableFrom.count
            || former.keys.contains { usableFrom[$0] == nil }
        partitionCount = count
        return isChanged
    }

    /// Forgets the partitions that another member may have used since their revocation: that member has waited as long as
    /// a new owner must.
    private mutating func forgetOldRevocations(at now: Instant) {
        revoked = revoked.filter { now - $0.value.at < LeaseTimes.returning }
    }

    /// Records the time of a tick. A member that was suspended for long begins as a new owner. By the end of that wait,
    /// its client knows from the group, or from its own clock, whether it is still a member.
    ///
    /// A shorter suspension does not count towards the wait, because the client made no progress in it either.
    mutating func tick(at now: Instant) {
        let (wasSuspended, gap) = (now > tickDeadline, lastTick.duration(to: now))
        if wasSuspended {
            for partition in usableFrom.keys { usableFrom[partition] = now + LeaseTimes.settling }
            revoked = [:]
        } else if gap > Self.longestGap {
            for (partition, moment) in usableFrom where moment > lastTick { usableFrom[partition] = moment + gap }
        }
        lastTick = max(lastTick, now)
    }

    /// Returns the share that may be used at a time, 0 to 1.
    func usable(at now: Instant) -> Double {
        guard now <= tickDeadline else { return 0 }
        return FleetShare.fraction(usableFrom.values.count { $0 <= now }, of: partitionCount)
    }
}

/// One loop's share of a limit that a fleet shares by demand.
public struct LoopShare: Sendable, Hashable {
    /// The share now, 0 to 1.
    public var share: Double
    /// The next time at which the share may shrink although no message arrives. The share must not be used beyond it
    /// without an update.
    public var end: Instant
    /// The estimated share within two seconds if the loop had demand for all that it can get, 0 to 1. Other members may
    /// have more demand by then. It applies to interactive requests; batch requests get less.
    public var prospect: Double
}
