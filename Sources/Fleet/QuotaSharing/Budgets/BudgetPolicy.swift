public import Basics
public import LocationSearch

/// The daily call budgets, which the members of a fleet keep by messages.
public struct BudgetPolicy: Sendable {
    /// The calls of a day, by provider. At least one.
    public var callsPerDay: [ProviderID: Int]
    /// The calls of a day that are kept for interactive requests, by provider; none if missing.
    public var reserved: [ProviderID: BudgetReserve]
    /// Returns the current day of each provider. Called on the loop, several times a second.
    public var days: @Sendable (_ now: Instant) -> [ProviderID: BudgetDay]
    /// Called when four fifths of a day's budget are taken, once a day by one member of the fleet.
    public var onWarning: @Sendable (ProviderID, BudgetStatus) -> Void

    public init(
        callsPerDay: [ProviderID: Int], reserved: [ProviderID: BudgetReserve] = [:],
        days: @escaping @Sendable (_ now: Instant) -> [ProviderID: BudgetDay],
        onWarning: @escaping @Sendable (ProviderID, BudgetStatus) -> Void = { _, _ in }
    ) {
        self.callsPerDay = callsPerDay
        self.reserved = reserved
        self.days = days
        self.onWarning = onWarning
    }
}

/// A provider's daily call budget at one moment, as known to the whole fleet.
public struct BudgetStatus: Sendable, Hashable {
    /// The day, such as `2026-11-23`; `nil` before the log is read.
    public var day: String?
    /// The calls of the day's budget.
    public var calls = 0
    /// The calls that members have reported as made, by operation and price class.
    public var made: [String: Int] = [:]
    /// The calls that are reserved and not reported as made, including those of crashed members.
    public var reserved = 0
    /// The calls that are not reserved.
    public var left = 0
    /// The calls of the budget that are kept for interactive requests, by this worker's settings. Batch requests get
    /// none of them.
    public var kept = 0
    /// The time at which counting began, if not with the day.
    public var since: String?

    /// The number of calls that members have reported as made.
    public var used: Int { made.values.reduce(0) { $0.saturatingAdding($1) } }

    public init(_ today: (label: String, day: BudgetLedger.Day)?) {
        guard let (label, day) = today else { return }
        self.day = label
        calls = day.budget
        made = day.made
        reserved = day.reserved
        left = day.left
        since = day.since
    }
}

/// The calls of a day's budget that are kept for interactive requests: `providers.<name>.callsPerDayReserved`.
public enum BudgetReserve: Sendable, Hashable {
    /// A number of calls.
    case calls(Int)
    /// A fraction of the budget, 0 to 1.
    case part(Double)

    /// Parses a number of calls, or a percentage such as `10%`.
    /// - Returns: `nil` for any other text, and for a number out of range.
    public init?(text: String) {
        if text.hasSuffix("%") {
            guard let percent = Double(text.dropLast()), (0...100).contains(percent) else { return nil }
            self = .part(percent / 100)
        } else {
            guard let calls = Int(text), calls >= 0 else { return nil }
            self = .calls(calls)
        }
    }

    /// True if no calls are kept.
    public var isNone: Bool { self == .calls(0) || self == .part(0) }

    /// Returns the number of calls that are kept of a budget, at most the whole budget.
    public func calls(of budget: Int) -> Int {
        switch self {
        case .calls(let calls): min(max(0, calls), max(0, budget))
        case .part(let part): min(max(0, Int(saturating: (part * Double(budget)).rounded(.up))), max(0, budget))
        }
    }
}
