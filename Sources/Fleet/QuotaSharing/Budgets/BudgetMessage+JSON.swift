// The members of a message in JSON: see FleetJSON.swift.

extension BudgetMessage.Entry: FleetObject {
    static let members: [MessageMember<Self>] = [
        .required("account", \.account), .required("period", \.period), .required("giveBack", \.giveBack),
        .required("limit", \.limit), .required("made", \.made), .required("take", \.take),
        .required("warning", \.warning),
    ]

    init() { self.init("", period: "", limit: 0) }
}

extension BudgetMessage.Order: FleetObject {
    static let members: [MessageMember<Self>] = [
        .required("account", \.account), .required("period", \.period), .required("isReset", \.isReset),
        .optional("limit", \.limit), .required("time", \.time),
    ]

    init() { self.init("", period: "", time: "") }
}

extension BudgetMessage.Snapshot: FleetObject {
    static let members: [MessageMember<Self>] = [
        .required("ledger", \.ledger), .required("offset", \.offset),
    ]

    init() { self.init(offset: 0, ledger: BudgetLedger()) }
}

extension BudgetMessage: FleetObject {
    static let members: [MessageMember<Self>] = [
        .optional("answers", \.answers), .required("entries", \.entries), .required("number", \.number),
        .optional("order", \.order), .optional("question", \.question), .required("sender", \.sender),
        .optional("state", \.snapshot),
    ]

    init() { self.init(sender: "", number: 0) }
}

// The state of all budgets in JSON: see FleetJSON.swift.

extension BudgetLedger.Period: FleetObject {
    static let members: [MessageMember<Self>] = [
        .required("isWarned", \.isWarned), .required("limit", \.limit), .required("made", \.made),
        .optional("ordered", \.ordered), .optional("since", \.since), .required("taken", \.taken),
        .required("touched", \.touched), .required("warning", \.warning),
    ]

    init() { self.init(limit: 0) }

    /// Clamps numbers to the range that members write.
    mutating func validate() {
        (limit, taken) = (BudgetLedger.bounded(limit), BudgetLedger.bounded(taken))
        warning = min(max(warning, 1), 100)
        ordered = ordered.map { BudgetLedger.bounded($0) }
        made = made.prefix(BudgetLedger.mostKinds).reduce(into: [:]) { $0[$1.key] = BudgetLedger.bounded($1.value) }
    }
}

extension BudgetLedger.NewestMessage: FleetObject {
    static let members: [MessageMember<Self>] = [.required("number", \.number), .required("offset", \.offset)]

    init() { self.init(number: 0, offset: 0) }
}

extension BudgetLedger: FleetObject {
    static let members: [MessageMember<Self>] = [
        .required("cleaned", \.cleaned), .required("periods", \.periods), .required("heard", \.newestMessages),
    ]
}
