internal import Basics
public import LocationSearch

/// A budget of one provider by the settings, for which the fleet keeps an account. Its numbers are units: calls, or
/// millionths of a currency.
public struct Budget: Sendable, Hashable {
    /// The calls that count.
    public enum Scope: Sendable, Hashable {
        /// All calls to the provider.
        case all
        /// The calls of one price class.
        case priceClass(PriceClass)
        /// The calls that the provider does not charge, until they are used up. Budgets in money charge the others only.
        case allowance(name: String, Set<PriceClass>)
    }

    /// The kind of units that a budget counts.
    public enum Unit: Sendable, Hashable {
        case calls
        /// A millionth of the currency, such as `USD`.
        case money(currency: String)
    }

    /// The time after which counting begins again.
    public enum Span: String, Sendable, Hashable, CaseIterable {
        case day, month
    }

    public var provider: ProviderID
    public var scope: Scope
    public var span: Span
    public var unit: Unit
    /// The units of a period, from 0.
    public var limit: Int
    /// The units of a period that are kept for interactive requests.
    public var reserve: BudgetReserve
    /// The percentage of the budget at which a warning is given, 1 to 100.
    public var warning: Int
    /// The units of one call by price class; a budget in calls does not need them.
    public var prices: [PriceClass: Int]

    public init(
        _ provider: ProviderID, _ scope: Scope = .all, limit: Int, per span: Span = .day, unit: Unit = .calls,
        reserve: BudgetReserve = .units(0), warning: Int = 80, prices: [PriceClass: Int] = [:]
    ) {
        (self.provider, self.scope, self.span) = (provider, scope, span)
        (self.unit, self.limit, self.reserve, self.warning, self.prices) = (unit, limit, reserve, warning, prices)
    }

    /// The name of the account, such as `google-places`, `google-places/text-search-pro/month` or
    /// `google-places/month/usd`.
    public var account: String {
        var parts = [provider.rawValue]
        switch scope {
        case .all: break
        case .priceClass(let priceClass):
            if priceClass.rawValue != provider.rawValue { parts.append(priceClass.rawValue) }
        case .allowance(let name, _): parts += [name, "free"]
        }
        if span == .month { parts.append("month") }
        if case .money(let currency) = unit { parts.append(currency.lowercased()) }
        return parts.joined(separator: "/")
    }

    public var isAllowance: Bool { if case .allowance = scope { true } else { false } }

    /// Returns the units that a call takes from the account; `nil` if the call does not count.
    public func units(of priceClass: PriceClass) -> Int? {
        switch scope {
        case .all: break
        case .priceClass(let only): if only != priceClass { return nil }
        case .allowance(_, let classes): if !classes.contains(priceClass) { return nil }
        }
        return unit == .calls ? 1 : prices[priceClass].flatMap { $0 > 0 ? $0 : nil }
    }

    /// The fewest and the most units of a call that counts.
    var unitsOfCall: ClosedRange<Int> {
        let units = PriceClass.allCases.compactMap { $0.provider == provider ? self.units(of: $0) : nil }
        guard let least = units.min(), let most = units.max() else { return 1...1 }
        return least...most  // bounded: both ends come from one list
    }
}

/// The part of a budget that is kept for interactive requests.
public enum BudgetReserve: Sendable, Hashable {
    /// A number of units.
    case units(Int)
    /// A fraction of the budget, 0 to 1.
    case part(Double)

    /// Parses a number of units, or a percentage such as `10%`.
    /// - Returns: `nil` for any other text, and for a number out of range.
    public init?(text: String) {
        if text.hasSuffix("%") {
            guard let percent = Double(text.dropLast()), (0...100).contains(percent) else { return nil }
            self = .part(percent / 100)
        } else {
            guard let units = Int(text), units >= 0 else { return nil }
            self = .units(units)
        }
    }

    /// True if nothing is kept.
    public var isNone: Bool { self == .units(0) || self == .part(0) }

    /// Returns the number of units that are kept of a budget, at most the whole budget.
    public func units(of budget: Int) -> Int {
        switch self {
        case .units(let units): min(max(0, units), max(0, budget))
        case .part(let part): min(max(0, Int(saturating: (part * Double(budget)).rounded(.up))), max(0, budget))
        }
    }
}
