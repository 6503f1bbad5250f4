internal import Basics

/// A member's message about the limits that are shared by demand. Every member reads every message, its own too.
public struct LeaseMessage: Sendable, Hashable {
    /// A share of a limit that one member leases to another.
    public struct Grant: Sendable, Hashable {
        /// The name of the member that may use it.
        public var lessee: String
        /// The number of the lessee's message that the grant answers. The lease counts from the moment at which that was
        /// sent, which is earlier than the moment of the grant, whatever the clocks show.
        public var inReplyTo: UInt64
        /// The fraction of the whole limit, 0 to 1. With 0 the lessor asks for its share back.
        public var share: Double
    }

    /// The sender's state of one limit.
    public struct Limit: Sendable, Hashable {
        /// The fraction of the limit that the sender could use now, 0 to 1.
        public var demand: Double
        /// The part of `demand` that is interactive. `nil` in messages of workers that know no classes: all of it is, and such a
        /// worker leases out only what it does not use.
        public var interactive: Double?
        /// The number of tenants whose interactive requests wait. `nil`: one.
        public var tenants: Int?
        /// The number of tenants whose batch requests wait. `nil`: one.
        public var batchTenants: Int?
        /// The leases that the sender grants, one for each lessee.
        public var grants: [Grant] = []
        /// The number of the newest message of each lessor whose grant the sender uses. It uses no older grant any more,
        /// so the lessor need hold back nothing for those.
        public var acknowledged: [String: UInt64] = [:]
        /// The number of the newest message of each lessor whose lease the sender gives back, because it has no demand
        /// for it. It uses no grant of that lessor up to this message.
        public var returned: [String: UInt64] = [:]
    }

    /// The sender: a name that no other member has, and that a restart changes.
    public var sender: String
    /// Counts the sender's messages.
    public var number: UInt64
    /// The number of partitions that the group gave to the sender.
    public var owned: Int
    /// The number of partitions of the requests topic.
    public var partitionCount: Int
    /// The limits by their names, which are those of their scopes: see `QuotaScope.name`.
    public var limits: [String: Limit] = [:]
    /// True for the sender's last message: it uses nothing from here on.
    public var isLast = false

    /// The share of each limit that the sender's partitions give it.
    var ownShare: Double { partitionCount > 0 ? min(1, Double(owned) / Double(partitionCount)) : 0 }
}

extension LeaseMessage.Limit {
    /// Makes the state of a member that knows classes. A member that wants nothing need not say what of it is interactive.
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
