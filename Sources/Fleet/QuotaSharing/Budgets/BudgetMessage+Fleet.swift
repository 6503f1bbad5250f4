/// The part of a message that one fleet applies. The rest is not kept, because a topic may carry messages of any number of fleets.
extension BudgetMessage {
    /// Returns what this message says about a fleet, and about all fleets.
    /// - Returns: `nil` where all of it is about other fleets.
    func part(for fleet: String?) -> BudgetMessage? {
        func isOwn(_ named: String?) -> Bool { named == nil || named == fleet }
        var part = self
        part.entries.removeAll { !isOwn($0.fleet) }
        part.renewals?.removeAll { !isOwn($0.fleet) }
        if let order, !isOwn(order.fleet) { part.order = nil }
        if question?.fleet != fleet { part.question = nil }
        if snapshot?.fleet != fleet { part.snapshot = nil }
        return part.isEmpty && !isEmpty ? nil : part
    }

    private var isEmpty: Bool {
        entries.isEmpty && renewals?.isEmpty ?? true && order == nil && question == nil && snapshot == nil
    }
}
