internal import Basics

/// The calls that are taken of each daily budget: a state that follows from the records of the log in their order, so
/// that all members that have read the same records agree on it.
///
/// Budgets are kept by account, which is a `QuotaScope`. A message that names a wider scope, as workers of older versions and
/// people's orders do, is about every account within it. An account that is new begins as a copy of the next wider one.
///
/// A member applies messages of its own fleet only: see `BudgetMessage.part(for:)`. Accounts end with their last day, and days
/// end by the order of the records alone, so that no member's clock decides about another's count.
public struct BudgetLedger: Sendable, Hashable {
    /// One day of an account.
    public struct Day: Sendable, Hashable {
        /// The calls that were reserved and not given back. Those that a crash stranded stay among them.
        public internal(set) var taken = 0
        /// The calls that members have reported as made, by kind.
        public internal(set) var made: [String: Int] = [:]
        /// The budget that the newest record names.
        public internal(set) var limit: Int
        /// The budget that a person has ordered for this day, which counts in place of all settings.
        public internal(set) var ordered: Int?
        /// The time at which the calls began to count, if not with the day.
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
        /// The calls that are reserved and not reported as made, those of crashed members among them.
        public var reserved: Int { max(0, taken.saturatingSubtracting(used)) }
        /// The calls that are not reserved.
        public var left: Int { max(0, budget.saturatingSubtracting(taken)) }

        /// True once four fifths are taken. A budget of unknown size, as after a reset of a day without calls, is not near its end.
        var isNearEnd: Bool { budget > 0 && budget.saturatingSubtracting(taken) <= budget / 5 }

        /// Returns this day with the calls of another account's.
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

    /// The consequence of a message.
    public struct Effect: Sendable, Hashable {
        /// The calls that each entry was granted, in their order.
        public var granted: [Int] = []
        /// The providers of whose day four fifths are taken with this message.
        public var warned: [String] = []
    }

    struct NewestMessage: Hashable {
        var number: UInt64
        var offset: Int64
    }

    /// The number of days that are kept of each provider: those that records named last. More than two, so that a member whose
    /// clock is wrong does not push the present day out.
    private static let mostDays = 4
    /// The most kinds of calls; members do not write more.
    static let mostKinds = 128
    /// The most accounts and replaced keys that are kept. Beyond, a further key gets no calls.
    static let mostAccounts = 256
    /// The accounts beyond that are for orders, which are about no single key.
    private static let accountsForOrders = 16
    /// A sender's newest message is remembered for this many records. A producer that writes a record twice does so within far
    /// fewer.
    private static let memory: Int64 = 20_000
    /// The largest number that is taken as it is, so that sums do not overflow; members do not write larger ones.
    private static let largest = 1_000_000_000_000

    /// The days of each account, by the account's name.
    public internal(set) var days: [String: [String: Day]] = [:]
    /// The accounts under which calls count since a key was replaced, by the name of the new key's account.
    var renewed: [String: String] = [:]
    /// The offset at which each of these names was last used.
    var renewalOffsets: [String: Int64] = [:]
    var newestMessages: [String: NewestMessage] = [:]
    /// The offset at which senders of long ago were last forgotten.
    var cleaned: Int64 = 0

    public init() {}

    // MARK: - Asking

    /// Returns an account's day; `nil` where no record was about it.
    public func day(_ day: String, of scope: QuotaScope) -> Day? {
        var next: QuotaScope? = scope
        while let scope = next {
            if let known = days[account(scope)] { return known[day] }
            next = scope.wider
        }
        return nil
    }

    /// Returns the accounts of a provider that are a fleet's, by the digests of their keys.
    /// - Returns: where no calls by a known key were reported, the next wider account with the digest `nil`.
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

    /// Returns the calls that are left of a day.
    /// - Parameter limit: the budget, unless a person has ordered another one.
    public func left(of scope: QuotaScope, on day: String, limit: Int) -> Int {
        if isFull(for: scope, on: day) { return 0 }
        guard let known = self.day(day, of: scope) else { return limit }
        return max(0, (known.ordered ?? limit).saturatingSubtracting(known.taken))
    }

    /// Returns true when calls of both scopes count together.
    func isSameAccount(_ a: QuotaScope, _ b: QuotaScope) -> Bool { account(a) == account(b) }

    /// The name under which a scope's calls count.
    private func account(_ scope: QuotaScope) -> String {
        let name = scope.name
        return renewed[name] ?? name
    }

    // MARK: - Accounts

    /// Changes a day of an account and of every narrower one.
    /// - Returns: the result for each account, the named one first; empty where there are too many accounts for a new one.
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

    /// True where a scope can have no account on a day, because there are too many: its calls cannot be counted.
    public func isFull(for scope: QuotaScope, on day: String) -> Bool {
        guard days[account(scope)] == nil, !hasRoom(for: scope) else { return false }
        var copy = self
        return copy.open(scope, on: day) == nil
    }

    /// Returns the name of a scope's account, which is made if there is none.
    /// - Returns: `nil` when there are too many already.
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

    /// Forgets the days of a provider that records named longest ago, with the accounts and the replaced keys that have no other.
    /// More than the usual days are forgotten where there is no room for an account otherwise, but none later than `day`.
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

    /// Has the calls by a new key count with those by the old one, whatever was reported of either before. Where there is no
    /// room nothing is noted, and a new key without an account gets none: see `isFull`.
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

    /// Notes a sender's message.
    /// - Returns: `false` for a message that was there before, or that a newer one of its sender has overtaken.
    mutating func noteMessage(of sender: String, number: UInt64, at offset: Int64) -> Bool {
        if let last = newestMessages[sender], last.offset.saturatingAdding(Self.memory) >= offset,
            last.number >= number, !isPutBack(.messageCountsTwice)
        {
            return false
        }
        newestMessages[sender] = NewestMessage(number: number, offset: offset)
        forgetSenders(at: offset)
        return true
    }

    /// Forgets senders that have been silent for long, so that the state stays small. The moment at which that happens
    /// makes no difference to the effect of messages.
    private mutating func forgetSenders(at offset: Int64) {
        guard offset.saturatingSubtracting(cleaned) >= Self.memory / 4 else { return }
        cleaned = offset
        newestMessages = newestMessages.filter { $0.value.offset.saturatingAdding(Self.memory) >= offset }
    }

    /// True when this state comes of all messages that another one comes of, and of more: both are of one topic, which was read
    /// further for this one.
    func isAhead(of other: BudgetLedger) -> Bool {
        other.newestMessages.allSatisfy { $0.value.number <= newestMessages[$0.key]?.number ?? 0 }
            && newestMessages.contains { $0.value.number > other.newestMessages[$0.key]?.number ?? 0 }
    }

    static func bounded(_ number: Int) -> Int { min(max(number, 0), largest) }
}
