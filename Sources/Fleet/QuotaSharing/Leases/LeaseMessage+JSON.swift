internal import Basics

// The members of a message in JSON: see FleetJSON.swift. Empty members are omitted.

extension LeaseMessage.Grant: FleetObject {
    static let members: [MessageMember<Self>] = [
        .required("inReplyTo", \.inReplyTo), .required("lessee", \.lessee), .required("share", \.share),
    ]

    init() { self.init(lessee: "", inReplyTo: 0, share: 0) }

    func validate() throws {
        guard (0...1).contains(share) else { throw UnknownFleetMessage() }
    }
}

extension LimitDemand: FleetObject {
    static let members: [MessageMember<Self>] = [
        .optional("batchTenants", \.batchTenants, empty: 1), .optional("interactive", \.interactive, empty: 0),
        .optional("interactiveTenants", \.interactiveTenants, empty: 1), .optional("total", \.total, empty: 0),
    ]

    /// A number above any real number of tenants.
    private static let mostTenants = 1_000_000

    init() { self = .none }

    /// Clamps the numbers of tenants to the range that members write.
    mutating func validate() throws {
        guard (0...1).contains(total), (0...1).contains(interactive) else { throw UnknownFleetMessage() }
        self = LimitDemand(
            total, interactive: interactive, interactiveTenants: min(interactiveTenants, Self.mostTenants),
            batchTenants: min(batchTenants, Self.mostTenants))
    }
}

extension LeaseMessage.Limit: FleetObject {
    static let members: [MessageMember<Self>] = [
        .optional("acknowledged", \.acknowledged, empty: [:]), .required("demand", \.demand),
        .optional("grants", \.grants, empty: []), .optional("returned", \.returned, empty: [:]),
    ]

    init() { self.init(demand: .none) }
}

extension LeaseMessage: FleetObject {
    static let members: [MessageMember<Self>] = [
        .optional("last", \.isLast, empty: false), .optional("limits", \.limits, empty: [:]),
        .required("number", \.number), .required("of", \.partitionCount), .required("owned", \.owned),
        .required("sender", \.sender),
    ]

    init() { self.init(sender: "", number: 0, owned: 0, partitionCount: 0) }

    /// - Throws: an error for negative numbers of partitions.
    func validate() throws {
        guard owned >= 0, partitionCount >= 0 else { throw UnknownFleetMessage() }
    }
}
