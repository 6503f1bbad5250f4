internal import Basics

/// The calls taken from each daily budget. The state results from the records of the log in their order, so all members
/// that have read the same records agree on it.
///
/// Budgets are kept by account, which is a `QuotaScope`. A message that names a wider scope applies to every account
/// within it, as operators' orders do. A new account begins as a copy of the next wider one.
///
/// A member applies messages of its fleet only: see `BudgetMessage.part(for:)`. Accounts end with their last day. Days
/// end by the order of the records alone, so that no member's clock affects another's count.
public struct BudgetLedger: Sendable, Hashable {
    /// One day of an account.
    public struct Day: Sendable, Hashable {
        /// The calls that were reserved and not returned, including those lost in a crash.
        public internal(set) var taken = 0
        /// The calls that members have reported as made, by kind.
        public internal(set) var made: [String: Int] = [:]
        /// The budget in the newest record.
        public internal(set) var limit: Int
        /// The budget that an operator has ordered for this day, which overrides all settings.
        public internal(set) var ordered: Int?
        /// The time at which counting began, if not with the day.
        public internal(set) var since: String?
        /// True once four fifths of the budget are taken.
        public internal(set) var isWarned = false
        /// The offset of the last record about this day.
        var touched: Int64 = 0

        init(limit: Int) { self.limit = limit }

        /// The budget in force.
        public var budget: Int { ordered ?? limit }
        /// The number of calls that members have reported as made.
        public var used: Int { made.values.reduce(0) { $0.saturatingAdding($1) } }
        /// The calls that are reserved and not reported as made, including those of crashed members.
        public var reserved: Int { max(0, taken.saturatingSubtracting(used)) }
        /// The calls that are not reserved.
        public var left: Int { max(0, budget.saturatingSubtracting(taken)) }

        /// True once four fifths are taken. A budget of unknown size, as after a reset of a day without calls, never
        /// counts as nearly used up.
        var isNearEnd: Bool { budget > 0 && budget.saturatingSubtracting(taken) <= budget / 5 }

        /// Returns this day with the calls of another account added.
        fileprivate func merged(with other: Day) -> Day {
            var sum = self
            sum.taken = taken.saturatingAdding(other.taken)
            sum.made.merge(other.made) { $0.saturatingAdding($1) }
            sum.ordered = ordered ?? other.ordered
            sum.isWarned = isWarned || other.isWarned
            sum.touched = max(touched, other.touched)
            return sum
        }
    }

    /// The effect of a message.
    public struct Effect: Sendable, Hashable {
        /// The number of calls granted to each entry, in the order of the entries.
        public var granted: [Int] = []
        /// The providers for which this message takes the calls to four fifths of the budget.
        public var warned: [String] = []
    }

    struct NewestMessage: Hashable {
        var number: UInt64
        var offset: Int64
    }

    /// The most days kept for each provider: those named by the most recent records. More than two, so that a member
    /// with a wrong clock does not evict the current day.
    private static let mostDays = 4
    /// The most kinds of calls; members do not write more.
    static let mostKinds = 128
    /// The most accounts and replaced keys. Beyond it, a new key gets no calls.
    static let mostAccounts = 256
    /// The additional accounts for orders, which do not concern a single key.
    private static let accountsForOrders = 16
    /// The number of records for which a sender's newest message is remembered. A producer that writes a record twice
    /// does so within far fewer.
    private static let memory: Int64 = 20_000
    /// The largest accepted number, so that sums do not overflow; members do not write larger ones.
    private static let largest = 1_000_000_000_000

    /// The days of each account, by account name.
    public internal(set) var days: [String: [String: Day]] = [:]
    /// The accounts that count the calls of replaced keys, by the account name of the new key.
    var renewed: [String: String] = [:]
    /// The offset at which each name in `renewed` was last used.
    var renewalOffsets: [String: Int64] = [:]
    var newestMessages: [String: NewestMessage] = [:]
    /// The offset at which old senders were last removed.
    var cleaned: Int64 = 0

    public init() {}

    // MARK: - Queries

    /// Returns an account's day; `nil` if no record concerned it.
    public func day(_ day: String, of scope: QuotaScope) -> Day? {
        var next: QuotaScope? = scope
        while let scope = next {
            if let known = days[account(scope)] { return known[day] }
            next = scope.wider
        }
        return nil
    }

    /// Returns a fleet's accounts of a provider, by the digests of their keys.
    /// - Returns: the next wider account with the digest `nil`, if no calls by a known key were reported.
    public func accounts(of provider: String, fleet: String?) -> [(key: String?, days: [String: Day])] {
        let wide = QuotaScope(provider: provider, fleet: fleet)
        let narrow: [(key: String?, days: [String: Day])] = days.compactMap { name, days in
            let scope = QuotaScope(name: name)
            return scope.key != nil && scope.wider == wide ? (scope.key, days) : nil
        }
        if !narrow.isEmpty { return narrow.sorted { ($0.key ?? "") < ($1.key ?? "") } }

        let known = days[wide.name] ?? days[provider]
        return known.map { [(nil, $0)] } ?? []
    }

    /// Returns the remaining calls of a day.
    /// - Parameter limit: the budget, unless an operator has ordered another one.
    public func left(of scope: QuotaScope, on day: String, limit: Int) -> Int {
        if isFull(for: scope, on: day) { return 0 }
        guard let known = self.day(day, of: scope) else { return limit }
        return max(0, (known.ordered ?? limit).saturatingSubtracting(known.taken))
    }

    /// Returns true if calls of both scopes count together.
    func isSameAccount(_ a: QuotaScope, _ b: QuotaScope) -> Bool { account(a) == account(b) }

    /// Returns the name of the account for which a scope's calls count.
    private func account(_ scope: QuotaScope) -> String {
        let name = scope.name
        return renewed[name] ?? name
    }

    // MARK: - Accounts

    /// Changes a day of an account and of every narrower one.
    /// - Returns: the result for each account, the named one first; empty if there are too many accounts for a new one.
    @discardableResult
    mutating func change<Result>(
        _ day: String, within scope: QuotaScope, limit: Int, at offset: Int64, body: (inout Day) -> Result
    ) -> [Result] {
        guard let name = open(scope, on: day) else { return [] }
        if renewed[scope.name] != nil { renewalOffsets[scope.name] = offset }
        let narrower = scope.key == nil ? days.keys.filter { $0.hasPrefix(name + "/") } : []
        return ([name] + narrower).map { name in
            var state = days[name]?[day] ?? Day(limit: limit)
            let result = body(&state)
            state.touched = offset
            days[name, default: [:]][day] = state
            return result
        }
    }

    /// True if a scope can have no account on a day because there are too many: its calls cannot be counted.
    public func isFull(for scope: QuotaScope, on day: String) -> Bool {
        guard days[account(scope)] == nil, !hasRoom(for: scope) else { return false }
        var copy = self
        return copy.open(scope, on: day) == nil
    }

    /// Returns the name of a scope's account, which is created if it does not exist.
    /// - Returns: `nil` if there are too many accounts.
    private mutating func open(_ scope: QuotaScope, on day: String) -> String? {
        let name = account(scope)
        if days[name]?[day] != nil { return name }
        forgetDays(before: day, for: scope)
        if days[name] != nil { return name }
        guard hasRoom(for: scope) else { return nil }

        var known: [String: Day]?
        var next = scope.wider
        while known == nil, let wider = next { (known, next) = (days[account(wider)], wider.wider) }
        days[name] = known ?? [:]
        return name
    }

    private func hasRoom(for scope: QuotaScope) -> Bool {
        days.count + renewed.count < Self.mostAccounts + (scope.key == nil ? Self.accountsForOrders : 0)
    }

    /// Removes the provider's days that were least recently named, and the accounts and replaced keys without other
    /// days. If there is no room for a new account, it removes more days, but none later than `day`.
    private mutating func forgetDays(before day: String, for scope: QuotaScope) {
        let (provider, isNew) = (scope.provider, days[account(scope)] == nil)
        func isOfProvider(_ name: String) -> Bool { name == provider || name.hasPrefix(provider + "/") }
        var named: [String: Int64] = [:]
        for (name, days) in days where isOfProvider(name) {
            for (label, state) in days where label != day { named[label] = max(named[label] ?? .min, state.touched) }
        }

        while let oldest = named.min(by: { ($0.value, $0.key) < ($1.value, $1.key) }),
            named.count >= Self.mostDays || isNew && oldest.key < day && !hasRoom(for: scope)
        {
            named[oldest.key] = nil
            for name in days.keys where isOfProvider(name) {
                days[name]?[oldest.key] = nil
                if days[name]?.isEmpty == true { days[name] = nil }
            }
            renewalOffsets = renewalOffsets.filter { !isOfProvider($0.key) || $0.value > oldest.value }
            renewed = renewed.filter { renewalOffsets[$0.key] != nil }
        }
    }

    /// Counts the calls by a new key together with those by the old one, whatever was reported of either before. Does
    /// nothing if there is no room; a new key without an account then gets no calls: see `isFull`.
    mutating func renew(_ oldScope: QuotaScope, as newScope: QuotaScope, at offset: Int64) {
        let (old, new) = (account(oldScope), account(newScope))
        guard old != new, days[new] != nil || hasRoom(for: newScope) else { return }

        if let merged = days.removeValue(forKey: new) {
            var known = days[old] ?? [:]
            known.merge(merged) { $0.merged(with: $1) }
            days[old] = known
        }
        for (name, target) in renewed where target == new { renewed[name] = old }
        renewed[new] = old
        renewalOffsets[new] = offset
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
