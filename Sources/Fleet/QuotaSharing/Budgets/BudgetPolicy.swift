public import Basics
public import LocationSearch

/// The budgets of a fleet, which its members keep by messages.
public struct BudgetPolicy: Sendable {
    /// At least one.
    public var budgets: [Budget]
    /// Returns the current periods of each provider. Called on the loop, several times a second.
    public var periods: @Sendable (_ now: Instant) -> [ProviderID: [Budget.Span: BudgetPeriod]]
    /// Called when a budget has been used up to its warning, once a period by one member of the fleet.
    public var onWarning: @Sendable (BudgetStatus) -> Void

    public init(
        _ budgets: [Budget], periods: @escaping @Sendable (_ now: Instant) -> [ProviderID: [Budget.Span: BudgetPeriod]],
        onWarning: @escaping @Sendable (BudgetStatus) -> Void = { _ in }
    ) {
        (self.budgets, self.periods, self.onWarning) = (budgets, periods, onWarning)
    }
}

/// A budget at one moment, as known to the whole fleet. Numbers are units of the budget.
public struct BudgetStatus: Sendable, Hashable {
    public var budget: Budget
    /// The period, such as `2026-11-23` or `2026-11`; `nil` before the log is read.
    public var period: String?
    /// The time until the next period.
    public var timeLeft = Duration.zero
    /// The budget in force, which an operator may have ordered.
    public var limit = 0
    /// The units that members have reported as used, by operation and price class.
    public var made: [String: Int] = [:]
    /// The units that are reserved and not reported as used, including those of crashed members.
    public var reserved = 0
    /// The units that are not reserved.
    public var left = 0
    /// The units that are kept for interactive requests, by this worker's settings. Batch requests get none of them.
    public var kept = 0
    /// The time at which counting began, if not with the period.
    public var since: String?

    /// The number of units that members have reported as used.
    public var used: Int { made.values.reduce(0) { $0.saturatingAdding($1) } }

    public init(_ budget: Budget, _ current: (label: String, period: BudgetLedger.Period)?) {
        self.budget = budget
        guard let (label, period) = current else { return }
        (self.period, limit, made) = (label, period.budget, period.made)
        (reserved, left, since) = (period.reserved, period.left, period.since)
    }
}
