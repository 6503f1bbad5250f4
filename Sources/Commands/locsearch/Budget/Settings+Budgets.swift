internal import Basics
import Foundation
internal import LocationSearch
import Logging
import QuotaSharing

extension Settings {
    /// The daily budgets; `nil` if no provider has one.
    /// - Parameter wallTime: the clock that determines the day.
    /// - Parameter log: receives one line for the whole fleet when four fifths of a day's budget are used or reserved.
    func budgetPolicy(wallTime: @escaping @Sendable () -> WallTime, log: Logger) -> BudgetPolicy? {
        guard !callsPerDay.isEmpty else { return nil }

        let days = ProviderDays(dayZones.filter { callsPerDay[$0.key] != nil })
        return BudgetPolicy(
            callsPerDay: callsPerDay, reserved: budgetReserves, days: { days.days(at: Date(wallTime()), now: $0) },
            onWarning: { provider, budget in
                log.warning(
                    "80 % of the daily call budget is used",
                    metadata: [
                        "provider": "\(provider.rawValue)", "day": "\(budget.day ?? "-")", "budget": "\(budget.calls)",
                        "used": "\(budget.used)", "reserved": "\(budget.reserved)", "kept": "\(budget.kept)",
                    ])
            })
    }
}
