internal import Basics

/// A provider with a daily call budget, as one member knows it.
struct BudgetAccount {
    let provider: String
    /// The account for which the provider's calls count, by the current API key.
    var scope: QuotaScope
    /// The calls of a day that are kept for interactive requests.
    let reserve: BudgetReserve
    var reservation: BudgetReservation
    /// The time of each other member's last reservation, by member name.
    var others: [String: Instant] = [:]

    /// - Parameter scope: `nil`: the provider's widest scope.
    init(_ provider: String, scope: QuotaScope?, limit: Int, reserve: BudgetReserve, at now: Instant) {
        self.provider = provider
        self.reserve = reserve
        self.scope = scope ?? QuotaScope(provider: provider)
        reservation = BudgetReservation(limit: limit, at: now)
    }

    /// The number of members that have reserved calls recently, including this one. They divide the remaining calls.
    var sharers: Int { 1 + others.count }

    /// Removes members that have reserved no calls for `time`.
    mutating func forgetOthers(at now: Instant, after time: Duration) {
        guard others.values.contains(where: { $0.duration(to: now) > time }) else { return }
        others = others.filter { $0.value.duration(to: now) <= time }
    }
}
