import Basics
import LocationSearch
import ProviderCalls
import QuotaSharing
import SimulatedLoop

/// A second budget of the same calls: of a month, in calls of a price class or in money after some free calls.
struct MonthBudget: Hashable {
    /// A month has this many days.
    static let days = 3

    var budgets: [Budget]

    init(_ random: inout SeededGenerator, callsPerDay: Int) {
        let calls = Int.random(in: callsPerDay...(callsPerDay * (Self.days + 1)), using: &random)
        let reserve = random.chance(0.3) ? BudgetReserve.part(0.1) : .units(0)
        if Bool.random(using: &random) {
            budgets = [Budget(.hotpepper, limit: calls, per: .month, reserve: reserve)]
        } else {
            let price = Int.random(in: 2...9, using: &random)
            let free = Int.random(in: 0...calls, using: &random)
            budgets = [
                Budget(
                    .hotpepper, limit: (calls - free) * price + price / 2, per: .month, unit: .money(currency: "USD"),
                    reserve: reserve, prices: [.hotpepper: price]),
                Budget(.hotpepper, .allowance(name: "hotpepper", [.hotpepper]), limit: free, per: .month),
            ]
        }
    }

    static func month(ofDay day: Int) -> Int { Int((Double(day) / Double(days)).rounded(.down)) }

    static func label(_ month: Int) -> String { "month \(month + 1000)" }
}

extension FleetPlan {
    mutating func makeMonthBudget(_ random: inout SeededGenerator) {
        guard let callsPerDay, whenOpen == .fail, random.chance(0.5) else { return }
        monthBudget = MonthBudget(&random, callsPerDay: callsPerDay)
    }

    /// The workers' budgets.
    var budgets: [Budget] {
        (callsPerDay.map { [Budget(.hotpepper, limit: $0)] } ?? []) + (monthBudget?.budgets ?? [])
    }
}
