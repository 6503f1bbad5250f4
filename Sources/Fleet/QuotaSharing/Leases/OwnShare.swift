internal import Basics

/// The share of each limit that a member has by its partitions, and the time from which it may be used.
///
/// Kafka's group gives each partition to one member at a time, and takes it away before it gives it to another. Two cases
/// are left to guard against: leases that the last owner has granted, and a member that was stopped, that the group has
/// excluded, and that goes on without knowing. Both are over once a new owner has waited for `LeaseTimes.settling`.
struct OwnShare {
    private let terms: LeaseTimes
    /// The longest time between two ticks of a member that did not stand still.
    private let longestGap: Duration
    private(set) var partitionCount = 0
    /// The partitions that the group gave this member, with the time from which each may be used.
    private var usableFrom: [Int32: Instant] = [:]
    /// The partitions that this member has lately given back while it could use them: the moment of that, and the
    /// moment from which they could be used.
    private var givenBack: [Int32: (at: Instant, usableFrom: Instant)] = [:]
    /// This member's clock at the last tick.
    private var lastTick: Instant

    init(_ terms: LeaseTimes, at now: Instant) {
        self.terms = terms
        longestGap = terms.tick * 2
        lastTick = now
    }

    /// The number of partitions that the group gave this member.
    var owned: Int { usableFrom.count }

    /// The share that the owned partitions give once all of them may be used, 0 to 1.
    var settled: Double { partitionCount > 0 ? min(1, Double(owned) / Double(partitionCount)) : 0 }

    /// The end of the time for which this member may use its share without another tick.
    var attentiveUntil: Instant { lastTick + terms.attention }

    /// Takes the partitions that the group gave this member, in place of any others.
    /// - Parameter wasTaken: true when partitions were taken away without a revocation, so that others may have had them
    ///   for a while.
    /// - Returns: true when they are others than before.
    mutating func assign(
        _ partitions: some Sequence<Int32>, of count: Int, wasTaken: Bool, at now: Instant
    ) -> Bool {
        let former = usableFrom
        let isSure = !wasTaken && now <= attentiveUntil
        if !isSure { givenBack = [:] }
        forgetGivenBack(at: now)

        usableFrom = [:]
        for partition in partitions {
            if isPutBack(.newOwnerDoesNotWait) { usableFrom[partition] = former[partition] ?? now; continue }
            usableFrom[partition] = former[partition] ?? givenBack[partition]?.usableFrom ?? now + terms.settling
            givenBack[partition] = nil
        }
        // A partition whose wait was not over is not remembered: its former owner may take it back without a wait, so
        // this member has to wait anew.
        for (partition, moment) in former where isSure && usableFrom[partition] == nil && moment <= now {
            givenBack[partition] = (now, moment)
        }

        let isChanged =
            partitionCount != count || former.count != usableFrom.count
            || former.keys.contains { usableFrom[$0] == nil }
        partitionCount = count
        return isChanged
    }

    /// Forgets partitions that another member may have used since this one gave them back: that member had to wait for as
    /// long as a new owner does.
    private mutating func forgetGivenBack(at now: Instant) {
        givenBack = givenBack.filter { now - $0.value.at < terms.returning }
    }

    /// Looks at the clock. A member that has been away begins as a new owner does: by the end of that wait, its client
    /// knows from the group, or from its own clock, whether it is still a member.
    ///
    /// A shorter standstill does not count towards the wait, because the client learnt nothing in it either.
    mutating func tick(at now: Instant) {
        let (wasAway, gap) = (now > attentiveUntil, lastTick.duration(to: now))
        if wasAway {
            for partition in usableFrom.keys { usableFrom[partition] = now + terms.settling }
            givenBack = [:]
        } else if gap > longestGap {
            for (partition, moment) in usableFrom where moment > lastTick { usableFrom[partition] = moment + gap }
        }
        lastTick = max(lastTick, now)
    }

    /// Returns the share that may be used at a moment, 0 to 1.
    func usable(at now: Instant) -> Double {
        guard now <= attentiveUntil, partitionCount > 0 else { return 0 }
        let count = usableFrom.values.count { $0 <= now }
        return min(1, Double(count) / Double(partitionCount))
    }
}
