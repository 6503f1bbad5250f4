/// The times that all members of a fleet use. They must be equal in all members, so they are not settings.
///
/// A member uses only its own clock, and assumes that clocks drift apart by less than one fiftieth.
public enum LeaseTimes {
    /// The duration of a lease, counted by the lessee from the time of its request.
    static let lease = Duration.milliseconds(1500)
    /// The time between two messages of a member that grants or takes leases. A lease survives two late messages.
    static let pace = Duration.milliseconds(400)
    /// The shortest time between two messages of one member, however often its state changes.
    static let shortestPause = Duration.milliseconds(50)
    /// The time between two messages of a member that is short of quota while no lessor has any.
    static let slowPace = Duration.seconds(2)
    /// The time between two messages of an idle member.
    static let idlePace = Duration.seconds(10)
    /// A member that has not ticked for this long may have been suspended, and the group may have reassigned its
    /// partitions. It uses no quota of its partitions until it has ticked and waited as a new owner does.
    static let tickTimeout = Duration.milliseconds(750)

    /// The longest time between two ticks of a member.
    public static let tick = tickTimeout / 4

    /// The time between two ticks of a member with demand, so that it soon notices a change of its work.
    static let busyTick = tickTimeout / 10

    /// The time for which a new owner leaves the share of a partition unused. By then, the former owner has noticed the
    /// revocation, and leases of that share have ended.
    public static let settling = lessorLease + tickTimeout

    /// A partition that returns to its owner within this time was not used by another member, because a new owner waits
    /// longer. It allows for the drift of two clocks. A rebalance of all partitions therefore costs no wait.
    static let returning = settling - settling / 50

    /// The time for which a lessor reserves a lease: its duration, and the drift of two clocks.
    static let lessorLease = lease + lease / 50

    /// While a member is short of quota, members that should publish every `pace` and have been silent for this long are
    /// left out of the plan.
    static let freshness = pace * 3
    /// The last message of a member that has been silent for this long is dropped.
    static let memory = idlePace * 2 + pace
}
