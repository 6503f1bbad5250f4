/// The times that all members of a fleet use. They must be equal in all members, so they are not settings.
///
/// A member uses only its own clock, and assumes that clocks drift apart by less than one fiftieth.
public struct LeaseTimes: Sendable, Hashable {
    /// The duration of a lease, counted by the lessee from the time of its request.
    public var lease: Duration = .milliseconds(1500)
    /// The time between two messages of a member that grants or takes leases. A lease survives two late messages.
    public var pace: Duration = .milliseconds(400)
    /// The shortest time between two messages of one member, however often its state changes.
    public var shortestPause: Duration = .milliseconds(50)
    /// The time between two messages of a member that is short of quota while no lessor has any.
    public var slowPace: Duration = .seconds(2)
    /// The time between two messages of an idle member.
    public var idlePace: Duration = .seconds(10)
    /// A member that has not ticked for this long may have been suspended, and the group may have reassigned its
    /// partitions. It uses no quota of its partitions until it has ticked and waited as a new owner does.
    public var attention: Duration = .milliseconds(750)

    public init() {}

    /// The longest time between two ticks of a member.
    public var tick: Duration { attention / 4 }

    /// The time between two ticks of a member with demand, so that it soon notices a change of its work.
    public var busyTick: Duration { attention / 10 }

    /// The time for which a new owner leaves the share of a partition unused. By then, the former owner has noticed the
    /// revocation, and leases of that share have ended.
    public var settling: Duration { lessorLease + attention }

    /// A partition that returns to its owner within this time was not used by another member, because a new owner waits
    /// longer. It allows for the drift of two clocks. A rebalance of all partitions therefore costs no wait.
    var returning: Duration { settling - settling / 50 }

    /// The time for which a lessor reserves a lease: its duration, and the drift of two clocks.
    var lessorLease: Duration { lease + lease / 50 }

    // The next two are sums, because each tick reads them, and multiplying a `Duration` takes 400 instructions.

    /// A member that has been silent for this long is ignored in the plans of others.
    var freshness: Duration { pace + pace + pace }
    /// A member that has been silent for this long is treated as gone.
    var memory: Duration { idlePace + idlePace + pace }
}
