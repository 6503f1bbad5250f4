/// The times that all members of a fleet keep to. They must be the same in all of them, so they are no settings.
///
/// A member uses no clock but its own, and counts on clocks that run apart by less than one part in fifty.
public struct LeaseTimes: Sendable, Hashable {
    /// How long a loan lasts, counted by the borrower from the moment at which it asked.
    public var lease: Duration = .milliseconds(1500)
    /// How often a member that borrows or lends speaks: a loan outlives two messages that come late.
    public var pace: Duration = .milliseconds(400)
    /// The shortest time between two messages of one member, however much changes.
    public var shortestPause: Duration = .milliseconds(50)
    /// How often a member asks for loans when nobody has anything to lend.
    public var slowPace: Duration = .seconds(2)
    /// How often a member speaks when nothing happens.
    public var idlePace: Duration = .seconds(10)
    /// A member that has not looked at its clock for so long may have been stopped, and the group may have given its
    /// partitions to others. Until it has looked, and waited as a new owner does, it uses nothing of its own.
    public var attention: Duration = .milliseconds(750)

    /// The times that are in use.
    public init() {}

    /// How often a member should look at its clock, at least.
    public var tick: Duration { attention / 4 }

    /// How often a member looks that uses a limit: so soon it notices that its work has begun or ended.
    public var busyTick: Duration { attention / 10 }

    /// How long a new owner leaves unused what a partition gives: by then whoever had the partition before has noticed that
    /// it is gone, and what was lent against it has come to its end.
    public var settling: Duration { lessorLease + attention }

    /// A partition that comes back to its owner within this time was used by nobody meanwhile, because a new owner waits for
    /// longer; less what two clocks may run apart. A rebalance of all partitions at once therefore costs no wait.
    var returning: Duration { settling - settling / 50 }

    /// How long a lender holds back what it lent: the loan, and what two clocks may run apart.
    var lessorLease: Duration { lease + lease / 50 }
    /// A member that has not spoken for so long has no part in what others do next.
    var freshness: Duration { pace * 3 }
    /// A member that has not spoken for so long is gone.
    var memory: Duration { idlePace * 2 + pace }
}
