// The members of a message in JSON: see FleetJSON.swift.

extension ControlOrder: FleetObject {
    static let members: [MessageMember<Self>] = [
        .required("at", \.at), .required("by", \.by), .required("control", \.name),
        .optional("isForced", \.isForced, empty: false), .optional("isTakenBack", \.isTakenBack, empty: false),
        .optional("instance", \.instance), .optional("level", \.level), .optional("number", \.number),
        .optional("provider", \.provider), .optional("until", \.until), .optional("worker", \.worker),
    ]

    init() { self.init(name: "", by: "", at: 0) }

    func validate() throws {
        guard number.map(Self.numbers.contains) ?? true else { throw UnknownFleetMessage() }
    }
}

extension ControlMessage.Question: FleetObject {
    static let members: [MessageMember<Self>] = [.optional("order", \.order)]

    init() { self.init(order: nil) }
}

extension ControlMessage.Answer: FleetObject {
    static let members: [MessageMember<Self>] = [
        .optional("refusal", \.refusal), .required("to", \.to), .required("worker", \.worker),
    ]

    init() { self.init(to: "", worker: "") }
}

extension ControlMessage.Snapshot: FleetObject {
    static let members: [MessageMember<Self>] = [.required("offset", \.offset), .required("orders", \.orders)]

    init() { self.init(offset: 0, orders: []) }
}

extension ControlMessage: FleetObject {
    static let members: [MessageMember<Self>] = [
        .optional("answer", \.answer), .optional("order", \.order), .optional("question", \.question),
        .required("sender", \.sender), .optional("state", \.snapshot),
    ]

    init() { self.init(sender: "") }
}
