internal import Basics

extension BudgetLedger: ReplicatedState {
    static let recordsWithCorrections: Int64 = 1000

    static func snapshot(in message: BudgetMessage) -> (offset: Int64, state: BudgetLedger)? {
        message.snapshot.map { ($0.offset, $0.ledger) }
    }

    /// True if this state includes all messages of another state and more: both belong to one topic, of which this
    /// state has read more.
    func isAhead(of other: BudgetLedger) -> Bool {
        other.newestMessages.allSatisfy { $0.value.number <= newestMessages[$0.key]?.number ?? 0 }
            && newestMessages.contains { $0.value.number > other.newestMessages[$0.key]?.number ?? 0 }
    }

    /// Applies a message.
    /// - Parameter offset: the offset of the message, greater than that of any earlier one.
    /// - Returns: `nil` for a message that was applied before, or that is older than another of its sender.
    @discardableResult
    public mutating func apply(_ message: BudgetMessage, at offset: Int64) -> Effect? {
        guard noteMessage(of: message.sender, number: message.number, at: offset) else { return nil }

        var effect = Effect()
        for entry in message.entries {
            let (granted, isWarning) = apply(entry, at: offset)
            effect.granted.append(granted)
            if isWarning { effect.warned.append(entry.account) }
        }
        if let order = message.order { apply(order, at: offset) }
        return effect
    }

    private mutating func apply(_ entry: BudgetMessage.Entry, at offset: Int64) -> (granted: Int, isWarning: Bool) {
        let limit = Self.bounded(entry.limit)
        let result = change(entry.period, of: entry.account, limit: limit, at: offset) { period in
            period.limit = limit
            period.warning = min(max(entry.warning, 1), 100)
            period.taken -= min(period.taken, Self.bounded(entry.giveBack))
            for (kind, count) in entry.made where period.made[kind] != nil || period.made.count < Self.mostKinds {
                period.made[kind] = (period.made[kind] ?? 0).saturatingAdding(Self.bounded(count))
            }

            // During a change of settings, members have different budgets. Each entry uses its sender's budget.
            let left = max(0, (period.ordered ?? limit) - period.taken)
            let granted = min(Self.bounded(entry.take), left)
            period.taken += granted

            let isWarning = granted > 0 && period.isNearEnd && !period.isWarned
            if isWarning { period.isWarned = true }
            return (granted, isWarning)
        }
        return result ?? (0, false)
    }

    private mutating func apply(_ order: BudgetMessage.Order, at offset: Int64) {
        let limit = order.limit.map { Self.bounded($0) }
        change(order.period, of: order.account, limit: limit ?? 0, at: offset) { period in
            if let limit { period.ordered = limit }
            if order.isReset {
                // Calls that members have reserved may still be made.
                period.taken = period.reserved
                period.made = [:]
                period.since = order.time
            }
            period.isWarned = period.isNearEnd
        }
    }
}
