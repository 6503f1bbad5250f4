internal import Basics

/// The units taken from each budget. The state results from the records of the log in their order, so all members
/// that have read the same records agree on it.
///
/// Budgets are kept by account, whose name means nothing to the ledger. Days end by the order of the records alone, so
/// that no member's clock affects another's count.
public struct BudgetLedger: Sendable, Hashable {
    /// One period of an account.
    public struct Period: Sendable, Hashable {
        /// The units that were reserved and not returned, including those lost in a crash.
        public internal(set) var taken = 0
        /// The units that members have reported as used, by kind of call.
        public internal(set) var made: [String: Int] = [:]
        /// The budget in the newest record.
        public internal(set) var limit: Int
        /// The budget that an operator has ordered for this period, which overrides all settings.
        public internal(set) var ordered: Int?
        /// The time at which counting began, if not with the period.
        public internal(set) var since: String?
        /// The percentage of the budget at which a warning is given, in the newest record.
        public internal(set) var warning = 80
        /// True once that much of the budget is taken.
        public internal(set) var isWarned = false
        /// The offset of the last record about this period.
        var touched: Int64 = 0

        init(limit: Int) { self.limit = limit }

        /// The budget in force.
        public var budget: Int { ordered ?? limit }
        /// The number of units that members have reported as used.
        public var used: Int { made.values.reduce(0) { $0.saturatingAdding($1) } }
        /// The units that are reserved and not reported as used, including those of crashed members.
        public var reserved: Int { max(0, taken.saturatingSubtracting(used)) }
        /// The units that are not reserved.
        public var left: Int { max(0, budget.saturatingSubtracting(taken)) }

        /// True once so much is taken that a warning is due. A budget of unknown size, as after a reset of a period without
        /// calls, never counts as nearly used up.
        var isNearEnd: Bool {
            budget > 0 && Double(taken) >= Double(budget) * Double(warning) / 100
        }
    }

    /// The effect of a message.
    public struct Effect: Sendable, Hashable {
        /// The number of units granted to each entry, in the order of the entries.
        public var granted: [Int] = []
        /// The accounts for which a warning is due from this message on.
        public var warned: [String] = []
    }

    struct NewestMessage: Hashable {
        var number: UInt64
        var offset: Int64
    }

    /// The most periods kept for each account: those named by the most recent records. More than two, so that a member
    /// with a wrong clock does not evict the current period.
    private static let mostPeriods = 4
    /// The most kinds of calls; members do not write more.
    static let mostKinds = 128
    /// The most accounts; members do not use more. A further one gets nothing.
    static let mostAccounts = 256
    /// The number of records for which a sender's newest message is remembered. A producer that writes a record twice
    /// does so within far fewer.
    private static let memory: Int64 = 20_000
    /// The largest accepted number, so that sums do not overflow; members do not write larger ones.
    private static let largest = 1_000_000_000_000

    /// The periods of each account, by account name.
    public internal(set) var periods: [String: [String: Period]] = [:]
    var newestMessages: [String: NewestMessage] = [:]
    /// The offset at which old senders were last removed.
    var cleaned: Int64 = 0

    public init() {}

    // MARK: - Accounts

    /// Returns the remaining units of an account's period.
    /// - Parameter limit: the budget, unless an operator has ordered another one.
    public func left(of account: String, on period: String, limit: Int) -> Int {
        guard let periods = periods[account] else { return hasRoom ? limit : 0 }
        guard let known = periods[period] else { return limit }
        return max(0, (known.ordered ?? limit).saturatingSubtracting(known.taken))
    }

    private var hasRoom: Bool { periods.count < Self.mostAccounts }

    /// Changes a period of an account, and removes the periods that were least recently named.
    /// - Returns: `nil` if there are too many accounts for a new one.
    @discardableResult
    mutating func change<Result>(
        _ label: String, of account: String, limit: Int, at offset: Int64, body: (inout Period) -> Result
    ) -> Result? {
        guard periods[account] != nil || hasRoom else { return nil }
        var known = periods[account] ?? [:]
        var period = known[label] ?? Period(limit: limit)
        let result = body(&period)
        period.touched = offset
        known[label] = period

        while known.count > Self.mostPeriods,
            let oldest = known.filter({ $0.key != label }).min(by: {
                ($0.value.touched, $0.key) < ($1.value.touched, $1.key)
            })
        {
            known[oldest.key] = nil
        }
        periods[account] = known
        return result
    }

    // MARK: - Senders

    /// Records a sender's message.
    /// - Returns: `false` for a message that was read before, or that is older than another of its sender.
    mutating func noteMessage(of sender: String, number: UInt64, at offset: Int64) -> Bool {
        if let last = newestMessages[sender], last.offset.saturatingAdding(Self.memory) >= offset,
            last.number >= number
        {
            return false
        }
        newestMessages[sender] = NewestMessage(number: number, offset: offset)
        forgetSenders(at: offset)
        return true
    }

    /// Removes senders that have been silent for long, so that the state stays small. The time of the removal does not
    /// affect the effect of messages.
    private mutating func forgetSenders(at offset: Int64) {
        guard offset.saturatingSubtracting(cleaned) >= Self.memory / 4 else { return }
        cleaned = offset
        newestMessages = newestMessages.filter { $0.value.offset.saturatingAdding(Self.memory) >= offset }
    }

    static func bounded(_ number: Int) -> Int { min(max(number, 0), largest) }
}
