internal import Basics
import Foundation
import LocationSearch
import ProviderCalls
import QuotaSharing
import Resilience

/// Compares the rate limits of the settings with the quotas that providers publish.
struct QuotasCheck: DoctorCheck {
    static let name = "quotas"

    func findings(_ examination: inout Examination) async throws(SkippedCheck) -> [Finding] {
        let settings = examination.settings
        try examination.requireValid(["providers.", "prices.file"], "the settings of providers")
        guard let providers = try? settings.configuredProviders(), !providers.isEmpty,
            let quota = try? settings.prices().quota
        else { throw SkippedCheck("no provider has a readable key") }

        return providers.map { provider in
            switch provider {
            case .googlePlaces: finding(of: settings.policies[provider], quota: quota)
            case .googlePlacesLegacy: ok("google-places-legacy has one quota for all methods, of unknown size")
            case .hotpepper: ok("hotpepper publishes no quota")
            }
        }
    }

    private func finding(of policy: ProviderPolicy?, quota: PriceList.Quota) -> Finding {
        let methods = ProviderMethod.allCases.filter { quota.callsPerMinute[$0] != nil }
        let excesses = methods.compactMap { method -> String? in
            let limits = [policy?.rateLimit, policy?.methodLimits[method]].compactMap { $0?.perSecond }
            let most = quota.callsPerMinute[method] ?? 0
            guard let calls = limits.min().map({ Int(saturating: ($0 * 60).rounded()) }) else {
                return "\(method.rawValue) \(most.grouped), and no limit is set"
            }
            return calls > most ? "\(method.rawValue) \(most.grouped), and the limit is \(calls.grouped)" : nil
        }

        let name = "the default quotas of google-places of \(quota.date)"
        guard !excesses.isEmpty else { return ok("the limits are within \(name)") }
        return warning(
            "\(name), in calls a minute: \(excesses.joined(separator: "; "))",
            cure:
                "set providers.googlePlaces.methodLimits or requestsPerSecond, in calls a second; if the Cloud Console "
                + "shows a higher quota, set it in prices.file")
    }
}

/// Reports each account of the budgets, with the end of its period and the most that it may cost.
struct BudgetsCheck: DoctorCheck {
    static let name = "budgets"

    func findings(_ examination: inout Examination) async throws(SkippedCheck) -> [Finding] {
        let settings = examination.settings
        try examination.requireValid(["providers.", "prices.file"], "the settings of providers")
        let budgets = settings.budgets.filter { !$0.isAllowance }
        guard let prices = try? settings.prices(), !budgets.isEmpty else {
            throw SkippedCheck("no provider has a budget", cure: "providers.<name>.budgets bounds calls or money")
        }

        let (calendars, date) = (ProviderCalendars(settings.dayZones), Date(WallTime.now()))
        return budgets.map { budget in
            let end = calendars.period(budget.span, of: budget.provider, at: date)?.end.formatted(.iso8601) ?? "-"
            let limit = budget.text(of: budget.limit) + (budget.unit == .calls ? " calls" : "")
            let text = "\(budget.account): \(limit) a \(budget.span.rawValue) until \(end)"
            guard let cost = prices.costOfMonth(budget), cost > 0 else { return ok(text) }

            let amount = "\(text), which cost up to about \(PriceList.text(cost)) \(prices.currency) a month"
            let isBounded = budgets.contains {
                $0.provider == budget.provider && $0.unit != .calls && [.all, budget.scope].contains($0.scope)
            }
            guard budget.span == .day, !isBounded else { return ok(amount) }
            return warning(amount, cure: "add a budget such as all: 300 \(prices.currency)/month to bound the bill")
        }
    }
}

extension PriceList {
    /// Returns the cost of a month in which all calls of a budget are of its dearest class, in millionths of the currency;
    /// `nil` for a budget in money, or without a price.
    fileprivate func costOfMonth(_ budget: Budget) -> Int? {
        guard budget.unit == .calls else { return nil }
        let calls = budget.limit.saturatingMultiplied(by: budget.span == .day ? 31 : 1)
        let classes = PriceClass.allCases.filter { $0.provider == budget.provider && budget.units(of: $0) != nil }
        return classes.compactMap { costs(of: [$0: calls]).first?.amount }.max()
    }
}
