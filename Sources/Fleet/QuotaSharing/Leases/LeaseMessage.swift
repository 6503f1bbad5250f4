public import Basics

/// A member's message about the limits that are shared by demand. Every member reads every message, including its own.
public struct LeaseMessage: Sendable, Hashable {
    /// A share of a limit that one member leases to another.
    public struct Grant: Sendable, Hashable {
        /// The name of the member that may use it.
        public var lessee: String
        /// The number of the lessee's message that the grant answers. The lease begins at the time at which that
        /// message was sent, which precedes the grant whatever the clocks show.
        public var inReplyTo: UInt64
        /// The fraction of the whole limit, 0 to 1. With 0, the lessor recalls its share.
        public var share: Double
    }

    /// The sender's state of one limit.
    public struct Limit: Sendable, Hashable {
        /// The part of the limit that the sender could use now.
        public var demand: LimitDemand
        /// The leases that the sender grants, one for each lessee.
        public var grants: [Grant] = []
        /// By lessor: the number of the newest message whose grant the sender uses. It uses no older grant, so the
        /// lessor need not reserve their shares any longer.
        public var acknowledged: [String: UInt64] = [:]
        /// By lessor: the number of the newest message whose lease the sender returns, because it has no demand for it.
        /// It uses no grant of that lessor up to this message.
        public var returned: [String: UInt64] = [:]
    }

    /// The sender's name, unique among members and changed by a restart.
    public var sender: String
    /// The sequence number of the sender's message.
    public var number: UInt64
    /// The number of partitions assigned to the sender.
    public var owned: Int
    /// The number of partitions of the requests topic.
    public var partitionCount: Int
    /// The limits by name.
    public var limits: [String: Limit] = [:]
    /// True for the sender's last message, after which it uses no quota.
    public var isLast = false

    /// The share of each limit from the sender's partitions.
    var ownShare: Double { FleetShare.fraction(owned, of: partitionCount) }
}
