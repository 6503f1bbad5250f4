internal import Basics

// The members of a message in JSON: see FleetJSON.swift. Empty members are omitted.

extension LeaseMessage.Grant: FleetObject {
    static let members: [MessageMember<Self>] = [
        .required("inReplyTo", \.inReplyTo), .required("lessee", \.lessee), .required("share", \.share),
    ]

    init() { self.init(lessee: "", inReplyTo: 0, share: 0) }
}

extension LeaseMessage.Limit: FleetObject {
    static let members: [MessageMember<Self>] = [
        .optional("acknowledged", \.acknowledged, empty: [:]), .optional("batchTenants", \.batchTenants),
        .required("demand", \.demand), .optional("grants", \.grants, empty: []),
        .optional("interactive", \.interactive),
        .optional("returned", \.returned, empty: [:]), .optional("tenants", \.tenants),
    ]

    /// A number above any real number of tenants.
    private static let mostTenants = 1_000_000

    init() { self.init(demand: 0) }

    /// Clamps the numbers of tenants to the range that members write.
    mutating func validate() {
        tenants = tenants.map { min(max($0, 1), Self.mostTenants) }
        batchTenants = batchTenants.map { min(max($0, 1), Self.mostTenants) }
    }
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
