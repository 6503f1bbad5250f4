internal import Basics

/// The calls of a day that are kept for interactive requests. Each member applies its own settings.
extension BudgetMember {
    /// Returns the number of calls of the current day's budget that are kept for interactive requests.
    /// - Parameter index: the index of the account in `accounts`.
    func kept(_ index: Int) -> Int {
        let account = accounts[index]
        guard !account.reserve.isNone else { return 0 }
        let ordered = account.reservation.day.flatMap { log.state.day($0.label, of: account.scope)?.ordered }
        return account.reserve.calls(of: ordered ?? account.reservation.limit)
    }

    /// True if all remaining calls of the day are kept for interactive requests. That includes unreserved calls and
    /// those that this member has reserved. Other members may use the calls that they have reserved.
    func isKeptForInteractive(_ index: Int) -> Bool {
        guard !accounts[index].reserve.isNone, isReady, let day = accounts[index].reservation.day else { return false }
        let kept = kept(index)
        return kept > 0 && left(index, on: day).saturatingAdding(accounts[index].reservation.held) <= kept
    }

    /// True if batch calls may be reserved: more calls are left than are kept.
    func mayReserveForBatch(_ index: Int) -> Bool {
        guard !accounts[index].reserve.isNone, isReady, let day = accounts[index].reservation.day else { return true }
        let kept = kept(index)
        return kept == 0 || left(index, on: day) > kept
    }

    /// Returns a provider's budget today, as known to the fleet.
    func status(_ index: Int) -> BudgetStatus {
        var status = BudgetStatus(today(index))
        if status.day != nil { status.kept = kept(index) }
        status.isFull = isFull(index)
        if status.isFull { status.left = 0 }
        return status
    }

    /// True if there are too many accounts to count the provider's calls on the current day.
    func isFull(_ index: Int) -> Bool {
        guard isReady else { return false }
        return accounts[index].reservation.day.map { log.state.isFull(for: accounts[index].scope, on: $0.label) } ?? false
    }
}
