internal import Basics
import Foundation
internal import LocationSearch
import Logging
import QuotaSharing

extension Settings {
    /// The budgets of all providers, `callsPerDay` among them. A budget in money brings the allowances of its provider.
    var budgets: [Budget] { Self.providerNames.flatMap { budgets(of: $0.id, named: $0.name) } }

    private func budgets(of provider: ProviderID, named name: String) -> [Budget] {
        var budgets: [Budget] = []
        let calls = "providers.\(name).callsPerDay"
        if self[calls] != nil {
            let reserve = BudgetReserve(text: text(calls + "Reserved")) ?? .units(0)
            budgets.append(Budget(provider, limit: integer(calls), reserve: reserve))
        }
        for text in self["providers.\(name).budgets"].flatMap({ BudgetText.list($0) }) ?? [] {
            budgets.append(budget(text, of: provider))
        }
        guard budgets.contains(where: { $0.unit != .calls }) else { return budgets }
        return budgets + allowances(of: provider)
    }

    /// A faulty `prices.file` ends the program before budgets are used.
    private var checkedPrices: PriceList { (try? prices()) ?? .google }

    private func budget(_ text: BudgetText, of provider: ProviderID) -> Budget {
        var budget = Budget(provider, limit: 0, per: text.span, reserve: text.reserve, warning: text.warning)
        if let priceClass = PriceClass(rawValue: text.scope) { budget.scope = .priceClass(priceClass) }
        switch text.amount {
        case .calls(let calls): budget.limit = calls
        case .money(let micros, let currency):
            (budget.limit, budget.unit) = (micros, .money(currency: currency))
            let classes = PriceClass.allCases.filter { $0.provider == provider }
            budget.prices = classes.reduce(into: [:]) { $0[$1] = checkedPrices.price(of: $1) }
        }
        return budget
    }

    private func allowances(of provider: ProviderID) -> [Budget] {
        checkedPrices.allowances.compactMap { allowance in
            let classes = allowance.priceClasses.filter { $0.provider == provider }
            guard !classes.isEmpty else { return nil }
            return Budget(
                provider, .allowance(name: allowance.name, Set(classes)), limit: allowance.callsPerMonth, per: .month,
                warning: 100)
        }
    }

    /// The policy of the budgets; `nil` if there is none.
    /// - Parameter wallTime: the clock that determines the day and the month.
    /// - Parameter log: receives one line for the whole fleet when a budget reaches its warning.
    func budgetPolicy(wallTime: @escaping @Sendable () -> WallTime, log: Logger) -> BudgetPolicy? {
        let budgets = budgets
        guard !budgets.isEmpty else { return nil }

        let calendars = ProviderCalendars(dayZones.filter { zone in budgets.contains { $0.provider == zone.key } })
        return BudgetPolicy(
            budgets, periods: { calendars.periods(at: Date(wallTime()), now: $0) },
            onWarning: { status in
                let budget = status.budget
                guard !budget.isAllowance else { return }
                log.warning(
                    "\(budget.warning) % of a budget is used",
                    metadata: [
                        "account": "\(budget.account)", "period": "\(status.period ?? "-")",
                        "budget": "\(budget.text(of: status.limit))", "used": "\(budget.text(of: status.used))",
                        "reserved": "\(budget.text(of: status.reserved))", "kept": "\(budget.text(of: status.kept))",
                    ])
            })
    }
}
