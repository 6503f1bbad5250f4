/// The accounts that are a member's own.
extension BudgetMember {
    /// Returns the relation of a message to this member's accounts.
    public func relation(of message: BudgetMessage) -> ScopeRelation {
        let named =
            message.entries.map(\.scope) + [message.order?.scope].compactMap(\.self)
            + (message.renewals ?? []).map { QuotaScope(provider: $0.provider, fleet: $0.fleet) }
        guard !named.isEmpty else { return .own }
        if named.contains(where: { $0.fleet == nil }) {
            return accounts.contains { $0.scope.fleet == nil } ? .own : .unscoped
        }
        return named.contains(where: isOwn) ? .own : .foreign
    }

    /// Returns true for an account of this member, and for a provider of its fleet of which it keeps no budget.
    func isOwn(_ scope: QuotaScope) -> Bool {
        guard let index = index(of: scope.provider) else {
            return accounts.first.map { $0.scope.fleet == scope.fleet } ?? false
        }
        let own = accounts[index].scope
        return scope.fleet == own.fleet
            && (scope.key == nil || log.ledger.isSameAccount(scope, own))
    }
}
