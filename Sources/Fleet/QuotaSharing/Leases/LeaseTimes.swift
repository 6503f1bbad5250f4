/// The times that all members of a fleet keep to. They must be the same in all of them, so they are no settings.
///
/// A member uses no clock but its own, and relies on clocks that run apart by less than one fiftieth.
public struct LeaseTimes: Sendable, Hashable {
    /// The duration of a lease, counted by the lessee from the moment at which it asked.
    public var lease: Duration = .milliseconds(1500)
    /// The time between two messages of a member that grants or takes leases: a lease outlives two messages that come
    /// late.
    public var pace: Duration = .milliseconds(400)
    /// The shortest time between two messages of one member, however much changes.
    public var shortestPause: Duration = .milliseconds(50)
    /// The time between two messages of a member that is short of quota while no lessor has any.
    public var slowPace: Duration = .seconds(2)
    /// The time between two messages of a member when nothing happens.
    public var idlePace: Duration = .seconds(10)
    /// A member that has not looked at its clock for this long may have been stopped, and the group may have given its
    /// partitions to others. It uses nothing of its own until it has looked, and waited as a new owner does.
    public var attention: Duration = .milliseconds(750)

    /// The times that are in use.
    public init() {}

    /// The longest time between two ticks of a member.
    public var tick: Duration { attention / 4 }

    /// The time between two ticks of a member with demand, so that it soon notices when its work begins or ends.
    public var busyTick: Duration { attention / 10 }

    /// The time for which a new owner leaves the share of a partition unused. By then the former owner has noticed the
    /// loss, and leases against that share have ended.
    public var settling: Duration { lessorLease + attention }

    /// A partition that comes back to its owner within this time was used by no other member meanwhile, because a new
    /// owner waits for longer; less the drift of two clocks. A rebalance of all partitions at once therefore costs no
    /// wait.
    var returning: Duration { settling - settling / 50 }

    /// The time for which a lessor holds back a lease: its duration, and the drift of two clocks.
    var lessorLease: Duration { lease + lease / 50 }

    // The next two are sums, because each tick asks for them, and a product of a `Duration` takes 400 instructions.

    /// A member that has been silent for this long has no part in the plans of others.
    var freshness: Duration { pace + pace + pace }
    /// A member that has been silent for this long is gone.
    var memory: Duration { idlePace + idlePace + pace }
}
