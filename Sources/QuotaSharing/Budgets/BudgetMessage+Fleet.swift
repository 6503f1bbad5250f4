/// The part of a message that one fleet goes by. What other fleets say is not kept: a topic may carry any number of them.
extension BudgetMessage {
    /// Returns what this message says to a fleet, and to all.
    /// - Returns: `nil` where all of it is about other fleets.
    func part(for fleet: String?) -> BudgetMessage? {
        func isOwn(_ named: String?) -> Bool { named == nil || named == fleet }
        var part = self
        part.entries.removeAll { !isOwn($0.fleet) }
        part.renewals?.removeAll { !isOwn($0.fleet) }
        if let order, !isOwn(order.fleet) { part.order = nil }
        if question?.fleet != fleet { part.question = nil }
        part.snapshot = snapshot?.part(for: fleet)
        return part.saysNothing && !saysNothing ? nil : part
    }

    private var saysNothing: Bool {
        entries.isEmpty && renewals?.isEmpty ?? true && order == nil && question == nil && snapshot == nil
    }
}

extension BudgetMessage.Snapshot {
    /// A ledger of all fleets had room for so many accounts, and for so many replaced keys. A full one may lack a fleet's.
    private static let mostOfAllFleets = 64

    /// Returns the snapshot that a fleet may go on from; `nil` where there is none in it.
    fileprivate func part(for fleet: String?) -> Self? {
        guard self.fleet == Self.allFleets else { return self.fleet == fleet ? self : nil }
        guard max(ledger.days.count, ledger.renewed.count) < Self.mostOfAllFleets else { return nil }

        func isOwn(_ account: String) -> Bool { [nil, fleet].contains(QuotaScope(name: account).fleet) }
        var part = Self(offset: offset, fleet: fleet, ledger: ledger)
        part.ledger.days = ledger.days.filter { isOwn($0.key) }
        part.ledger.renewed = ledger.renewed.filter { isOwn($0.key) }
        part.ledger.renewalOffsets = part.ledger.renewed.mapValues { _ in offset }
        return part
    }
}
