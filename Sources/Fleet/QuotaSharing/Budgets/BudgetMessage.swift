/// A member's message about daily call budgets. Every member reads every message, its own too, in the one order that the
/// topic's partition gives them; the effect of a message follows from that order alone.
public struct BudgetMessage: Sendable, Hashable {
    /// The sender's state of one provider and one day.
    public struct Entry: Sendable, Hashable {
        /// The provider's name.
        public var provider: String
        /// See `QuotaScope.fleet`.
        public var fleet: String?
        /// See `QuotaScope.key`.
        public var key: String?
        /// The provider's day, such as `2026-11-23`. Later days are greater.
        public var day: String
        /// The budget of that day that the sender's settings name, in calls.
        public var limit: Int
        /// The number of calls to reserve. The log grants as many as are left, up to this number.
        public var take: Int
        /// The number of calls that were reserved before and will not be made.
        public var giveBack: Int
        /// The calls that were made since the last message, by kind.
        public var made: [String: Int]

        public init(
            _ scope: QuotaScope, day: String, limit: Int, take: Int = 0, giveBack: Int = 0, made: [String: Int] = [:]
        ) {
            (provider, fleet, key) = (scope.provider, scope.fleet, scope.key)
            self.day = day
            self.limit = limit
            self.take = take
            self.giveBack = giveBack
            self.made = made
        }

        /// The account that the entry is about.
        public var scope: QuotaScope { QuotaScope(provider: provider, fleet: fleet, key: key) }
    }

    /// A key of a provider that was replaced while the sender runs. The new key's calls count with the old one's, so that
    /// a replacement brings no second budget for the day.
    public struct Renewal: Sendable, Hashable {
        public var provider: String
        public var fleet: String?
        /// The digest of the key that was replaced.
        public var old: String
        /// The digest of the key in its place.
        public var new: String

        /// Returns the account of one of the two keys.
        func scope(of key: String) -> QuotaScope { QuotaScope(provider: provider, fleet: fleet, key: key) }
    }

    /// A person's order.
    public struct Order: Sendable, Hashable {
        public var provider: String
        /// The fleet whose accounts of the provider are meant, whatever their keys. `nil`: those of every fleet.
        public var fleet: String?
        public var day: String
        /// The budget of the rest of that day in place of all settings; `nil` leaves it as it is.
        public var limit: Int?
        /// True when the calls made count from zero again.
        public var isReset: Bool
        /// The time of the order, as text to be shown.
        public var time: String

        public init(
            provider: String, fleet: String? = nil, day: String, limit: Int? = nil, isReset: Bool = false, time: String
        ) {
            self.provider = provider
            self.fleet = fleet
            self.day = day
            self.limit = limit
            self.isReset = isReset
            self.time = time
        }

        /// The account that the order is about, with all narrower ones.
        public var scope: QuotaScope { QuotaScope(provider: provider, fleet: fleet) }
    }

    /// A person's question to the members that keep a budget of a provider. Each of them answers.
    public struct Question: Sendable, Hashable {
        public var provider: String
        public var fleet: String

        public init(provider: String, fleet: String) {
            self.provider = provider
            self.fleet = fleet
        }
    }

    /// The state of one fleet after all records up to an offset, which a member writes down from time to time. A new member of
    /// the fleet that reads it needs no older record.
    public struct Snapshot: Sendable, Hashable {
        /// The offset of the last record that the snapshot contains.
        public var offset: Int64
        /// See `QuotaScope.fleet`.
        public var fleet: String?
        public var ledger: BudgetLedger
    }

    /// The sender: a name that no other member has, and that a restart changes.
    public var sender: String
    /// Counts the sender's messages, from 1.
    public var number: UInt64
    public var entries: [Entry]
    public var order: Order?
    public var snapshot: Snapshot?
    /// The replacements of keys that may not be known to all members yet. They take effect before the entries.
    public var renewals: [Renewal]?
    public var question: Question?
    /// The sender of the question that this message answers, or of the order that its sender goes by.
    public var answers: String?

    public init(
        sender: String, number: UInt64, entries: [Entry] = [], order: Order? = nil, snapshot: Snapshot? = nil,
        renewals: [Renewal]? = nil, question: Question? = nil, answers: String? = nil
    ) {
        self.sender = sender
        self.number = number
        self.entries = entries
        self.order = order
        self.snapshot = snapshot
        self.renewals = renewals
        self.question = question
        self.answers = answers
    }
}
