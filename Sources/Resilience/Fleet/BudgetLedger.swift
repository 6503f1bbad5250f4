/// How much of each provider's daily budget is taken: a state that follows from the records of the log in their order, so
/// that all who have read the same records agree on it.
public struct BudgetLedger: Sendable, Hashable, Codable {
    /// One provider's day.
    public struct Day: Sendable, Hashable, Codable {
        /// The calls that were reserved and not given back. Those that a crash stranded stay among them.
        public internal(set) var taken = 0
        /// The calls that members have told of, by kind.
        public internal(set) var made: [String: Int] = [:]
        /// The budget that the newest record goes by.
        public internal(set) var limit: Int
        /// The budget that a person has ordered for this day, which counts in place of all settings.
        public internal(set) var ordered: Int?
        /// When the calls began to count, if not with the day.
        public internal(set) var since: String?
        /// True once four fifths of the budget are taken.
        public internal(set) var isWarned = false

        init(limit: Int) { self.limit = limit }

        /// The budget in force.
        public var budget: Int { ordered ?? limit }
        /// The number of calls that members have told of.
        public var used: Int { made.values.reduce(0, +) }
        /// The calls that are reserved, or were by members that have crashed, and of which nobody has told that they were made.
        public var reserved: Int { max(0, taken - used) }
        /// The calls that nobody has reserved.
        public var left: Int { max(0, budget - taken) }

        fileprivate var isNearEnd: Bool { budget - taken <= budget / 5 }
    }

    /// What a message did.
    public struct Effect: Sendable, Hashable {
        /// What each entry was given, in their order.
        public var granted: [Int] = []
        /// The providers of whose day four fifths are taken with this message.
        public var warned: [String] = []
    }

    private struct Heard: Hashable, Codable {
        var number: UInt64
        var offset: Int64
    }

    /// Days that are kept of each provider. More than two, so that a member whose clock is wrong by years does not push the
    /// present day out.
    private static let mostDays = 8
    /// More kinds of calls and more providers come from no member of ours.
    private static let mostKinds = 128
    private static let mostProviders = 32
    /// A producer that repeats a record does so within far fewer others.
    private static let memory: Int64 = 20_000
    /// Larger numbers come from no member of ours; sums of them must not overflow.
    private static let largest = 1_000_000_000_000

    /// By provider, then by day.
    public private(set) var days: [String: [String: Day]] = [:]
    /// The newest message of each sender.
    private var heard: [String: Heard] = [:]
    /// When the senders that are long gone were last forgotten.
    private var cleaned: Int64 = 0

    public init() {}

    /// Returns what is left of a day.
    /// - Parameter limit: the budget, unless a person has ordered another one.
    public func left(of provider: String, on day: String, limit: Int) -> Int {
        guard let known = days[provider]?[day] else { return limit }
        return max(0, (known.ordered ?? limit) - known.taken)
    }

    /// Does what a message says.
    /// - Parameter offset: the message's; greater than that of any message before.
    /// - Returns: `nil` for a message that was there before, or that a newer one of its sender has overtaken.
    @discardableResult
    public mutating func apply(_ message: BudgetMessage, at offset: Int64) -> Effect? {
        if let last = heard[message.sender], last.offset + Self.memory >= offset, last.number >= message.number {
            return nil
        }
        heard[message.sender] = Heard(number: message.number, offset: offset)
        forgetSenders(at: offset)

        var effect = Effect()
        for entry in message.entries {
            let (granted, isWarning) = apply(entry)
            effect.granted.append(granted)
            if isWarning { effect.warned.append(entry.provider) }
        }
        if let order = message.order { apply(order) }
        return effect
    }

    private mutating func apply(_ entry: BudgetMessage.Entry) -> (granted: Int, isWarning: Bool) {
        let limit = Self.bounded(entry.limit)
        return change(entry.day, of: entry.provider, limit: limit) { day in
            day.limit = limit
            day.taken -= min(day.taken, Self.bounded(entry.giveBack))
            for (kind, count) in entry.made where day.made[kind] != nil || day.made.count < Self.mostKinds {
                day.made[kind, default: 0] += Self.bounded(count)
            }

            // While settings are being changed members go by different budgets, each by its own.
            let left = max(0, (day.ordered ?? limit) - day.taken)
            let granted = min(Self.bounded(entry.take), left)
            day.taken += granted

            let isWarning = granted > 0 && day.isNearEnd && !day.isWarned
            if isWarning { day.isWarned = true }
            return (granted, isWarning)
        } ?? (0, false)
    }

    private mutating func apply(_ order: BudgetMessage.Order) {
        let limit = order.limit.map { Self.bounded($0) }
        change(order.day, of: order.provider, limit: limit ?? 0) { day in
            if let limit { day.ordered = limit }
            if order.isReset {
                // What members hold they may still use.
                day.taken = day.reserved
                day.made = [:]
                day.since = order.time
            }
            day.isWarned = day.isNearEnd
        }
    }

    /// Changes a day's state.
    /// - Returns: `nil` for a day that is older than all that are kept.
    @discardableResult
    private mutating func change<Result>(
        _ day: String, of provider: String, limit: Int, _ body: (inout Day) -> Result
    ) -> Result? {
        guard days[provider] != nil || days.count < Self.mostProviders else { return nil }
        var known = days[provider] ?? [:]
        if known[day] == nil, known.count >= Self.mostDays {
            guard let oldest = known.keys.min(), oldest < day else { return nil }
            known[oldest] = nil
        }
        let result = body(&known[day, default: Day(limit: limit)])
        days[provider] = known
        return result
    }

    /// Forgets senders that have not spoken for long, so that the state stays small. When that happens makes no difference to
    /// what messages do.
    private mutating func forgetSenders(at offset: Int64) {
        guard offset - cleaned >= Self.memory / 4 else { return }
        cleaned = offset
        heard = heard.filter { $0.value.offset + Self.memory >= offset }
    }

    private static func bounded(_ number: Int) -> Int { min(max(number, 0), largest) }
}
