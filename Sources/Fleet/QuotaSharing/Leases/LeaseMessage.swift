internal import Basics

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
        /// The fraction of the limit that the sender could use now, 0 to 1.
        public var demand: Double
        /// The interactive part of `demand`. `nil` in messages without classes: all demand is interactive, and the
        /// sender leases out only what it does not use.
        public var interactive: Double?
        /// The number of tenants with waiting interactive requests. `nil`: one.
        public var tenants: Int?
        /// The number of tenants with waiting batch requests. `nil`: one.
        public var batchTenants: Int?
        /// The leases that the sender grants, one for each lessee.
        public var grants: [Grant] = []
        /// By lessor: the number of the newest message whose grant the sender uses. It uses no older grant, so the
        /// lessor can use the shares of those again.
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
    /// The limits by name, which is the name of their scope: see `QuotaScope.name`.
    public var limits: [String: Limit] = [:]
    /// True for the sender's last message, after which it uses no quota.
    public var isLast = false

    /// The share of each limit from the sender's partitions.
    var ownShare: Double { FleetShare.part(owned, of: partitionCount) }
}

extension LeaseMessage.Limit {
    /// Makes the state of a member with classes. Without demand, the interactive part is omitted.
    init(
        of demand: LimitDemand, grants: [LeaseMessage.Grant], acknowledged: [String: UInt64], returned: [String: UInt64]
    ) {
        self.init(demand: demand.total, grants: grants, acknowledged: acknowledged, returned: returned)
        guard demand.total > 0 else { return }
        interactive = demand.interactive
        if demand.interactiveTenants > 1 { tenants = demand.interactiveTenants }
        if demand.batchTenants > 1 { batchTenants = demand.batchTenants }
    }

    /// The sender's demand by class.
    var demandByClass: LimitDemand {
        LimitDemand(demand, interactive: interactive, interactiveTenants: tenants ?? 1, batchTenants: batchTenants ?? 1)
    }
}
