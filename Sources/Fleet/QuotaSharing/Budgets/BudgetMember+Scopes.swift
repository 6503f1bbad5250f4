internal import Basics

/// A member's accounts, and the questions and orders about them.
extension BudgetMember {
    /// The most unanswered questions and orders; operators send fewer.
    static let mostQuestions = 16

    /// True for a question about a budget of this member, and for an order that this member applies.
    func isToBeAnswered(_ message: BudgetMessage) -> Bool {
        if let question = message.question {
            return account(of: question.provider)?.scope.fleet == question.fleet
        }
        guard let order = message.order, let account = account(of: order.provider) else { return false }
        return account.reservation.day?.label == order.day && !account.isFull
    }

    /// Drops the reserved calls that exceed an ordered budget. They still count as taken.
    func giveUpCalls(beyond order: BudgetMessage.Order) {
        guard order.limit != nil, let account = account(of: order.provider), let day = account.today?.day else {
            return
        }
        _ = account.reservation.remove(max(0, day.taken.saturatingSubtracting(day.budget)))
    }

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

    /// Returns true for an account of this member, and for a provider of its fleet for which it keeps no budget.
    func isOwn(_ scope: QuotaScope) -> Bool {
        guard let own = account(of: scope.provider)?.scope else {
            return accounts.first.map { $0.scope.fleet == scope.fleet } ?? false
        }
        return scope.fleet == own.fleet
            && (scope.key == nil || log.records.state.isSameAccount(scope, own))
    }
}
