public import Basics
public import LocationSearch

/// Daily call budgets, which the members of a fleet keep by messages.
public struct BudgetPolicy: Sendable {
    /// The calls of a day, by provider. At least one.
    public var callsPerDay: [ProviderID: Int]
    /// Returns the present day of each provider. Called on the loop, several times a second.
    public var days: @Sendable (_ now: Instant) -> [ProviderID: BudgetDay]
    /// Called when four fifths of a day's budget are taken: by one member of the fleet, once a day.
    public var onWarning: @Sendable (ProviderID, BudgetStatus) -> Void

    public init(
        callsPerDay: [ProviderID: Int],
        days: @escaping @Sendable (_ now: Instant) -> [ProviderID: BudgetDay],
        onWarning: @escaping @Sendable (ProviderID, BudgetStatus) -> Void = { _, _ in }
    ) {
        self.callsPerDay = callsPerDay
        self.days = days
        self.onWarning = onWarning
    }
}
