/// What a member tells the fleet about daily budgets. Every member reads every message, its own too, in the one order that
/// the topic's partition gives them; what a message does follows from that order alone.
public struct BudgetMessage: Sendable, Hashable, Codable {
    /// What a member says of one provider and one day.
    public struct Entry: Sendable, Hashable, Codable {
        /// The provider's name.
        public var provider: String
        /// The provider's day, such as `2026-11-23`. Later days are greater.
        public var day: String
        /// The budget of that day that the sender's settings name, in calls.
        public var limit: Int
        /// The number of calls to reserve. The log gives what is left, up to so many.
        public var take: Int
        /// The number of calls that were reserved before and will not be made.
        public var giveBack: Int
        /// The calls that were made since the last message, by kind.
        public var made: [String: Int]

        public init(
            provider: String, day: String, limit: Int, take: Int = 0, giveBack: Int = 0, made: [String: Int] = [:]
        ) {
            self.provider = provider
            self.day = day
            self.limit = limit
            self.take = take
            self.giveBack = giveBack
            self.made = made
        }
    }

    /// What a person orders.
    public struct Order: Sendable, Hashable, Codable {
        public var provider: String
        public var day: String
        /// The budget of the rest of that day in place of everybody's settings; `nil` leaves it as it is.
        public var limit: Int?
        /// True when the calls made count from zero again.
        public var isReset: Bool
        /// When the order was given, as text to be shown.
        public var time: String

        public init(provider: String, day: String, limit: Int? = nil, isReset: Bool = false, time: String) {
            self.provider = provider
            self.day = day
            self.limit = limit
            self.isReset = isReset
            self.time = time
        }
    }

    /// The state after all records up to an offset. Whoever has read what follows that offset needs nothing older.
    public struct Base: Sendable, Hashable, Codable {
        /// The offset of the last record that the state contains.
        public var offset: Int64
        public var ledger: BudgetLedger

        public init(offset: Int64, ledger: BudgetLedger) {
            self.offset = offset
            self.ledger = ledger
        }
    }

    /// The sender: a name that no other member has, and that a restart changes.
    public var sender: String
    /// Counts the sender's messages, from 1.
    public var number: UInt64
    public var entries: [Entry]
    public var order: Order?
    public var base: Base?

    public init(
        sender: String, number: UInt64, entries: [Entry] = [], order: Order? = nil, base: Base? = nil
    ) {
        self.sender = sender
        self.number = number
        self.entries = entries
        self.order = order
        self.base = base
    }
}
