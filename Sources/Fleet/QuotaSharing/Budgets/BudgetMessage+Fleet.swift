/// The part of a message that one fleet applies. Members ignore the rest, because a topic may carry messages of any
/// number of fleets.
extension BudgetMessage {
    /// Returns the part of this message that concerns one fleet, or all fleets.
    /// - Returns: `nil` if it concerns other fleets only.
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
