import Basics
import Foundation
import LocationSearch
import QuotaSharing

/// A budget as `providers.<name>.budgets` writes it: `all: 300 USD/month, reserve 10%, warn 80%`.
struct BudgetText: Sendable, Hashable {
    /// An amount of calls or money.
    enum Amount: Sendable, Hashable {
        case calls(Int)
        case money(micros: Int, currency: String)
    }

    /// `all` or a price class.
    var scope: String
    var amount: Amount
    var span: Budget.Span
    var reserve = BudgetReserve.units(0)
    var warning = 80

    static let form = "all: 300 USD/month, reserve 10%, warn 80%; text-search-pro: 1000/day"

    /// Parses a list whose entries are separated by semicolons.
    /// - Returns: `nil` if an entry is invalid.
    static func list(_ text: String) -> [BudgetText]? {
        var list: [BudgetText] = []
        for entry in text.split(separator: ";", omittingEmptySubsequences: false) {
            guard let budget = BudgetText(String(entry)) else { return nil }
            list.append(budget)
        }
        return list.isEmpty ? nil : list
    }

    private init?(_ entry: String) {
        let parts = entry.split(separator: ":", maxSplits: 1).map { $0.trimmingCharacters(in: .whitespaces) }
        guard parts.count == 2, parts[0] == "all" || PriceClass(rawValue: parts[0]) != nil else { return nil }
        scope = parts[0]

        let terms = Setting.entries(parts[1])
        let limit = (terms.first ?? "").split(separator: "/").map { $0.trimmingCharacters(in: .whitespaces) }
        guard limit.count == 2, let span = Budget.Span(rawValue: limit[1]), let amount = Amount(limit[0]) else {
            return nil
        }
        (self.amount, self.span) = (amount, span)

        for term in terms.dropFirst() {
            let words = term.split(separator: " ").map(String.init)
            switch (words.first, words.count) {
            case ("reserve", 2):
                guard let reserve = BudgetReserve(text: words[1]) else { return nil }
                self.reserve = reserve
            case ("warn", 2):
                guard words[1].hasSuffix("%"), let percent = Int(words[1].dropLast()), (1...100).contains(percent)
                else {
                    return nil
                }
                warning = percent
            default: return nil
            }
        }
    }
}

extension BudgetText.Amount {
    /// The largest budget, in units.
    private static let most = 1_000_000_000_000

    /// Parses a number of calls such as `1000`, or an amount such as `300 USD` or `12.50 USD`.
    init?(_ text: String) {
        let words = text.split(separator: " ").map(String.init)
        switch words.count {
        case 1:
            guard let calls = Int(words[0]), (0...1_000_000_000).contains(calls) else { return nil }
            self = .calls(calls)
        case 2:
            let currency = words[1]
            guard currency.utf8.count == 3, currency.utf8.allSatisfy({ (0x41...0x5A).contains($0) }),
                let amount = Double(words[0]), amount >= 0, amount * 1e6 <= Double(Self.most)
            else { return nil }
            self = .money(micros: Int(saturating: (amount * 1e6).rounded()), currency: currency)
        default: return nil
        }
    }
}

extension Budget {
    /// Returns units of this budget as text: `1,000` calls, or `300.00 USD`.
    func text(of units: Int) -> String {
        guard case .money(let currency) = unit else { return units.grouped }
        let cents = units / 10_000
        let rest = cents % 100
        return "\((cents / 100).grouped).\(rest < 10 ? "0" : "")\(rest) \(currency)"
    }

    /// The kind of units in metrics: `calls`, or the currency.
    var unitName: String {
        if case .money(let currency) = unit { currency } else { "calls" }
    }

    /// Returns units in calls or in the currency, for metrics.
    func value(of units: Int) -> Double { unit == .calls ? Double(units) : Double(units) / 1e6 }

    /// The budget of an account by its name, without a limit; `nil` if the name is not that of an account.
    init?(account: String) {
        var parts = account.split(separator: "/").map(String.init)[...]
        guard let provider = parts.popFirst().flatMap({ ProviderID(rawValue: $0) }) else { return nil }
        self.init(provider, limit: 0)
        if parts.dropFirst().first == "free" {
            scope = .allowance(name: parts.removeFirst(), [])
            parts.removeFirst()
        } else if let priceClass = parts.first.flatMap({ PriceClass(rawValue: $0) }) {
            scope = .priceClass(priceClass)
            parts.removeFirst()
        }
        if parts.first == "month" {
            span = .month
            parts.removeFirst()
        }
        if let currency = parts.first, currency.utf8.count == 3 {
            unit = .money(currency: currency.uppercased())
            parts.removeFirst()
        }
        guard parts.isEmpty, self.account == account else { return nil }
    }
}
