internal import Basics

// The members of a message as they stand in JSON: see FleetJSON.swift. Those that are empty are left out.

extension LeaseMessage.Grant: FleetObject {
    static let members: [MessageMember<Self>] = [
        .required("answering", \.answering), .required("part", \.share), .required("to", \.lessee),
    ]

    init() { self.init(lessee: "", answering: 0, share: 0) }
}

extension LeaseMessage.Limit: FleetObject {
    static let members: [MessageMember<Self>] = [
        .optional("batchTenants", \.batchTenants), .optional("grants", \.grants, empty: []),
        .optional("heeded", \.acknowledged, empty: [:]), .optional("interactive", \.interactive),
        .required("need", \.demand), .optional("returned", \.returned, empty: [:]), .optional("tenants", \.tenants),
    ]

    /// More tenants than a limit is ever divided among.
    private static let mostTenants = 1_000_000

    init() { self.init(demand: 0) }

    /// Keeps numbers of tenants that no member would write within their range.
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

    /// - Throws: for numbers of partitions that cannot be.
    func validate() throws {
        guard owned >= 0, partitionCount >= 0 else { throw UnknownFleetMessage() }
    }
}
