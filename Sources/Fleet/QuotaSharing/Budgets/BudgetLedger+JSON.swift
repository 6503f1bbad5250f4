// The state of all budgets in JSON: see FleetJSON.swift.

extension BudgetLedger.Day: FleetObject {
    static let members: [MessageMember<Self>] = [
        .required("isWarned", \.isWarned), .required("limit", \.limit), .required("made", \.made),
        .optional("ordered", \.ordered), .optional("since", \.since), .required("taken", \.taken),
        .required("touched", \.touched),
    ]

    init() { self.init(limit: 0) }

    /// Clamps numbers to the range that members write.
    mutating func validate() {
        (limit, taken) = (BudgetLedger.bounded(limit), BudgetLedger.bounded(taken))
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
        .required("cleaned", \.cleaned), .required("days", \.days), .required("heard", \.newestMessages),
        .required("renewed", \.renewed), .optional("renewedAt", \.renewalOffsets, empty: [:]),
    ]
}
