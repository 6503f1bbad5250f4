/// A member's message about daily call budgets. Every member reads every message, including its own, in the order of
/// the topic's partition. The effect of a message depends on that order alone.
public struct BudgetMessage: Sendable, Hashable {
    /// The sender's state of one provider and one day.
    public struct Entry: Sendable, Hashable {
        public var provider: String
        /// See `QuotaScope.fleet`.
        public var fleet: String?
        /// See `QuotaScope.key`.
        public var key: String?
        /// The provider's day, such as `2026-11-23`. Later days compare as greater.
        public var day: String
        /// That day's budget in the sender's settings, in calls.
        public var limit: Int
        /// The number of calls to reserve. The log grants as many as are left, up to this number.
        public var take: Int
        /// The number of reserved calls that will not be made.
        public var giveBack: Int
        /// The calls made since the last message, by kind.
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

        /// The account of the entry.
        public var scope: QuotaScope { QuotaScope(provider: provider, fleet: fleet, key: key) }
    }

    /// A provider's key that was replaced while the sender runs. The new key's calls count with the old one's, so that
    /// a replacement does not bring a second budget for the day.
    public struct Renewal: Sendable, Hashable {
        public var provider: String
        public var fleet: String?
        /// The digest of the replaced key.
        public var old: String
        /// The digest of the new key.
        public var new: String

        /// Returns the account of one of the two keys.
        func scope(of key: String) -> QuotaScope { QuotaScope(provider: provider, fleet: fleet, key: key) }
    }

    /// An operator's order.
    public struct Order: Sendable, Hashable {
        public var provider: String
        /// The fleet whose accounts of the provider are affected, whatever their keys. `nil`: those of every fleet.
        public var fleet: String?
        public var day: String
        /// The budget for the rest of that day, which overrides all settings; `nil`: unchanged.
        public var limit: Int?
        /// True to count the calls made from zero again.
        public var isReset: Bool
        /// The time of the order, as text for display.
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

        /// The account of the order; all narrower ones are affected too.
        public var scope: QuotaScope { QuotaScope(provider: provider, fleet: fleet) }
    }

    /// An operator's question to the members that keep a budget of a provider. Each of them answers.
    public struct Question: Sendable, Hashable {
        public var provider: String
        public var fleet: String

        public init(provider: String, fleet: String) {
            self.provider = provider
            self.fleet = fleet
        }
    }

    /// The state of one fleet after all records up to an offset, which members publish periodically. A new member of
    /// the fleet that reads it needs no older record.
    public struct Snapshot: Sendable, Hashable {
        /// The offset of the last record that the snapshot contains.
        public var offset: Int64
        /// See `QuotaScope.fleet`.
        public var fleet: String?
        public var ledger: BudgetLedger
    }

    /// The sender's name, unique among members and changed by a restart.
    public var sender: String
    /// The sequence number of the sender's message, from 1.
    public var number: UInt64
    public var entries: [Entry]
    public var order: Order?
    public var snapshot: Snapshot?
    /// The key replacements that some members may not have read. They take effect before the entries.
    public var renewals: [Renewal]?
    public var question: Question?
    /// The sender of the question that this message answers, or of the order that it confirms.
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

/// The part of a message that one fleet applies. Members ignore the rest, because a topic may carry messages of any
/// number of fleets.
extension BudgetMessage {
    /// Returns the part of this message that concerns one fleet, or all fleets.
    /// - Returns: `nil` if it concerns other fleets only.
    func part(for fleet: String?) -> BudgetMessage? {
        func isOwn(_ named: String?) -> Bool { named == nil || named == fleet }
        var part = self
        part.entries.removeAll { !isOwn($0.fleet) }
        part.renewals?.removeAll { !isOwn($0.fleet) }
        if let order, !isOwn(order.fleet) { part.order = nil }
        if question?.fleet != fleet { part.question = nil }
        if snapshot?.fleet != fleet { part.snapshot = nil }
        return part.isEmpty && !isEmpty ? nil : part
    }

    private var isEmpty: Bool {
        entries.isEmpty && renewals?.isEmpty ?? true && order == nil && question == nil && snapshot == nil
    }
}
