import Basics
import Foundation
import JSON
import LocationSearch
import QuotaSharing

/// The use of each budget, as read from the fleet topic.
struct BudgetReport {
    /// The use of one budget in its current period. Numbers are units of the budget.
    struct Line: Sendable, Hashable {
        var budget: Budget
        var period: ProviderCalendars.Period
        /// The budget in force.
        var limit: Int
        var used = 0
        var reserved = 0
        /// The units that these settings keep for interactive requests; `nil` if they keep none.
        var kept: Int?
        /// The units used, by operation and price class.
        var made: [String: Int] = [:]
        /// The time from which the count began; `nil` if it began with the period.
        var since: String?

        var left: Int { max(0, limit.saturatingSubtracting(used).saturatingSubtracting(reserved)) }

        /// Returns a sentence about an ordered limit below what is used already; `nil` if there is nothing to warn of.
        func warning(of limit: Int?) -> String? {
            guard let limit, limit < used else { return nil }
            return "\(budget.text(of: used)) of \(budget.account) are used already: with \(budget.text(of: limit)), no "
                + "further call is made until the next \(budget.span.rawValue)"
        }

        /// Returns when the budget will be used up at the rate so far; `nil` if it lasts until the end of the period.
        func usedUp(asOf date: Date) -> Date? {
            let begin = since.flatMap { try? Date($0, strategy: .iso8601) } ?? period.begin
            let time = date.timeIntervalSince(begin)
            guard used > 0, time > 0, left > 0 else { return nil }
            let end = begin + time * Double(limit) / Double(used)
            return end < period.end ? end : nil
        }
    }

    var lines: [Line]
    private let prices: PriceList
    private let date: Date

    /// - Parameters:
    ///   - budgets: those of these settings. If a member has published another limit, that one is shown.
    ///   - date: the current time.
    init(
        _ ledger: BudgetLedger, budgets: [Budget], calendars: ProviderCalendars, prices: PriceList = .google,
        at date: Date
    ) {
        (self.prices, self.date) = (prices, date)
        let known = Set(budgets.map(\.account))
        let others = ledger.periods.keys.filter { !known.contains($0) }.compactMap { Budget(account: $0) }
        lines = (budgets + others).sorted { $0.account < $1.account }.compactMap { budget -> Line? in
            guard let period = calendars.period(budget.span, of: budget.provider, at: date) else { return nil }
            var line = Line(budget: budget, period: period, limit: budget.limit)
            if let current = ledger.periods[budget.account]?[period.label] {
                line.limit = current.budget
                (line.used, line.reserved) = (current.used, current.reserved)
                (line.made, line.since) = (current.made, current.since)
            } else if !known.contains(budget.account) {
                return nil
            }
            if !budget.reserve.isNone { line.kept = budget.reserve.units(of: line.limit) }
            return line
        }
    }

    // MARK: - Text output

    var text: [String] {
        guard !lines.isEmpty else {
            return [
                "no provider has a budget: set providers.<name>.budgets, such as --providers-google-places-budgets 'all: 300 USD/month'"
            ]
        }
        let kinds = kindLines
        return budgetLines + (kinds.isEmpty ? [] : [""] + kinds)
    }

    private var budgetLines: [String] {
        let showsKept = lines.contains { $0.kept != nil }
        var columns: [TextTable.Column] = [
            "account", "period", .right("budget"), .right("used"), .right("reserved"), .right("left"),
        ]
        if showsKept { columns.append(.right("for interactive")) }
        columns += [.right("used of it"), "since", "next period in", "used up at this rate"]

        var table = TextTable(columns)
        for line in lines {
            let budget = line.budget
            let part = line.limit > 0 ? "\(line.used.saturatingMultiplied(by: 100) / line.limit) %" : "-"
            let usedUp = line.left > 0 ? line.usedUp(asOf: date).map { $0.formatted(.iso8601) } ?? "no" : "now"
            table.add(
                [
                    budget.account, line.period.label, budget.text(of: line.limit), budget.text(of: line.used),
                    budget.text(of: line.reserved), budget.text(of: line.left),
                ] + (showsKept ? [line.kept.map { budget.text(of: $0) } ?? "-"] : []) + [
                    part, line.since ?? line.period.begin.formatted(.iso8601), timeToNextPeriod(line), usedUp,
                ])
        }
        return table.lines
    }

    private var kindLines: [String] {
        var table = TextTable([
            "account", "operation", "price class", .right("used in the period"), .right("at the list price"),
        ])
        var isEmpty = true
        for line in lines {
            for calls in CallsOfKind.mostFirst(line.made) {
                table.add([
                    line.budget.account, calls.operation, calls.priceClass ?? "", line.budget.text(of: calls.count),
                    listCost(of: calls, in: line.budget).map { "\(PriceList.text($0)) \(prices.currency)" } ?? "",
                ])
                isEmpty = false
            }
        }
        return isEmpty ? [] : table.lines
    }

    /// Returns the list price of an account's calls after the free ones, in millionths of the currency; `nil` for an account
    /// in money or of free calls, or without a price.
    private func listCost(of calls: CallsOfKind, in budget: Budget) -> Int? {
        guard budget.unit == .calls, !budget.isAllowance,
            let priceClass = calls.priceClass.flatMap({ PriceClass(rawValue: $0) })
        else { return nil }
        return prices.listCosts(of: [priceClass: calls.count]).first?.amount
    }

    private func timeToNextPeriod(_ line: Line) -> String {
        Duration.seconds(saturating: (line.period.end.timeIntervalSince(date) / 60).rounded(.up) * 60).readable
    }

    // MARK: - JSON output

    /// One JSON object for each account. Amounts of money are in millionths of the currency.
    var json: [String] {
        lines.map { line in
            JSONWriter.objectText(capacity: 256) { json in
                json.member("account", line.budget.account)
                json.member("provider", line.budget.provider.rawValue)
                json.member("unit", line.budget.unitName)
                json.member("period", line.period.label)
                json.member("budget", line.limit)
                json.member("used", line.used)
                json.member("reserved", line.reserved)
                json.member("left", line.left)
                json.member("kept", line.kept)
                json.member("since", line.since ?? line.period.begin.formatted(.iso8601))
                json.member("until", line.period.end.formatted(.iso8601))
                json.member("usedUpAt", line.usedUp(asOf: date)?.formatted(.iso8601))
                json.member("made", calls: line.made) { listCost(of: $0, in: line.budget) }
            }
        }
    }
}

/// The number of calls of one kind. A kind is an operation in one price class.
struct CallsOfKind: Sendable, Hashable {
    /// The kind as written in the fleet topic: `operation/price class`.
    let kind: String
    let operation: String
    /// `nil` if the kind has no price class.
    let priceClass: String?
    let count: Int

    private init(_ kind: String, count: Int) {
        let parts = kind.split(separator: "/", maxSplits: 1).map(String.init)
        self.kind = kind
        operation = parts.first ?? ""
        priceClass = parts.count > 1 ? parts[1] : nil
        self.count = count
    }

    static func inOrder(_ made: [String: Int]) -> [CallsOfKind] {
        made.map { CallsOfKind($0.key, count: $0.value) }.sorted { $0.kind < $1.kind }
    }

    static func mostFirst(_ made: [String: Int]) -> [CallsOfKind] {
        made.map { CallsOfKind($0.key, count: $0.value) }.sorted { ($1.count, $0.kind) < ($0.count, $1.kind) }
    }
}

extension JSONWriter {
    /// Writes a member with one object for each kind, sorted by kind.
    /// - Parameter cost: returns the list price of the calls in millionths of the currency; `nil`: it is left out.
    mutating func member(_ name: StaticString, calls made: [String: Int], cost: (CallsOfKind) -> Int? = { _ in nil }) {
        objects(name, of: CallsOfKind.inOrder(made)) { calls, json in
            json.member("operation", calls.operation)
            json.member("sku", calls.priceClass)
            json.member("calls", calls.count)
            json.member("costMicros", cost(calls))
        }
    }
}
