internal import Basics

/// The calls of a day that are kept for interactive requests. Each member keeps them by its own settings.
extension BudgetMember {
    /// Returns the number of calls of the present day's budget that are kept for interactive requests.
    /// - Parameter index: of the account in `accounts`.
    func kept(_ index: Int) -> Int {
        let account = accounts[index]
        guard !account.reserve.isNone else { return 0 }
        let ordered = account.reservation.day.flatMap { log.ledger.day($0.label, of: account.scope)?.ordered }
        return account.reserve.calls(of: ordered ?? account.reservation.limit)
    }

    /// True where all that is left of the day is kept for interactive requests: what no member has reserved, and what this one
    /// has. What others have reserved is theirs to use.
    func isKeptForInteractive(_ index: Int) -> Bool {
        guard !accounts[index].reserve.isNone, isReady, let day = accounts[index].reservation.day else { return false }
        let kept = kept(index)
        return kept > 0 && left(index, on: day).saturatingAdding(accounts[index].reservation.held) <= kept
    }

    /// True where batch calls may be reserved in the log: more is left there than is kept.
    func mayReserveForBatch(_ index: Int) -> Bool {
        guard !accounts[index].reserve.isNone, let day = accounts[index].reservation.day else { return true }
        let kept = kept(index)
        return kept == 0 || left(index, on: day) > kept
    }

    /// Returns a provider's budget today as the fleet knows it.
    func status(_ index: Int) -> BudgetStatus {
        var status = BudgetStatus(today(index))
        if status.day != nil { status.kept = kept(index) }
        status.isFull = isFull(index)
        if status.isFull { status.left = 0 }
        return status
    }

    /// True where there are too many accounts for the present day's calls of a provider to be counted.
    func isFull(_ index: Int) -> Bool {
        accounts[index].reservation.day.map { log.ledger.isFull(for: accounts[index].scope, on: $0.label) } ?? false
    }
}
