/// A member's message about daily call budgets. Every member reads every message, including its own, in the order of
/// the topic's partition. The effect of a message depends on that order alone.
public struct BudgetMessage: Sendable, Hashable {
    /// The sender's state of one account and one period.
    public struct Entry: Sendable, Hashable {
        /// The name of the account.
        public var account: String
        /// The account's period, such as `2026-11-23` or `2026-11`.
        public var period: String
        /// That period's budget in the sender's settings, in units.
        public var limit: Int
        /// The percentage of the budget at which the sender's settings want a warning.
        public var warning: Int
        /// The number of units to reserve. The log grants as many as are left, up to this number.
        public var take: Int
        /// The number of reserved units that will not be used.
        public var giveBack: Int
        /// The units used since the last message, by kind of call.
        public var made: [String: Int]

        public init(
            _ account: String, period: String, limit: Int, warning: Int = 80, take: Int = 0, giveBack: Int = 0,
            made: [String: Int] = [:]
        ) {
            self.account = account
            self.period = period
            (self.limit, self.warning, self.take, self.giveBack, self.made) = (limit, warning, take, giveBack, made)
        }
    }

    /// An operator's order.
    public struct Order: Sendable, Hashable {
        /// The name of the account.
        public var account: String
        public var period: String
        /// The budget for the rest of that period, which overrides all settings; `nil`: unchanged.
        public var limit: Int?
        /// True to count what is used from zero again.
        public var isReset: Bool
        /// The time of the order, as text for display.
        public var time: String

        public init(_ account: String, period: String, limit: Int? = nil, isReset: Bool = false, time: String) {
            (self.account, self.period, self.limit, self.isReset, self.time) = (account, period, limit, isReset, time)
        }
    }

    /// The state after all records up to an offset, which members publish periodically. A new member that reads it
    /// needs no older record.
    public struct Snapshot: Sendable, Hashable {
        /// The offset of the last record that the snapshot contains.
        public var offset: Int64
        public var ledger: BudgetLedger
    }

    /// The sender's name, unique among members and changed by a restart.
    public var sender: String
    /// The sequence number of the sender's message, from 1.
    public var number: UInt64
    public var entries: [Entry]
    public var order: Order?
    public var snapshot: Snapshot?
    /// An operator's question to the members that keep the budget of an account, which it names. Each of them answers.
    public var question: String?
    /// The sender of the question that this message answers, or of the order that it confirms.
    public var answers: String?

    public init(
        sender: String, number: UInt64, entries: [Entry] = [], order: Order? = nil, snapshot: Snapshot? = nil,
        question: String? = nil, answers: String? = nil
    ) {
        (self.sender, self.number, self.entries) = (sender, number, entries)
        (self.order, self.snapshot, self.question, self.answers) = (order, snapshot, question, answers)
    }
}
