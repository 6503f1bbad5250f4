import Basics
import Foundation
import JSON
import LocationSearch
import QuotaSharing

/// The use of each provider's daily budget, as read from the fleet topic.
struct BudgetReport {
    /// The use of one provider's budget on one day.
    struct Line: Sendable, Hashable {
        var provider: ProviderID
        var day: ProviderDays.Day
        /// The number of calls that the budget allows.
        var budget: Int
        var used = 0
        var reserved = 0
        /// The number of calls that these settings reserve for interactive requests; `nil` if they reserve none.
        var kept: Int?
        /// The number of calls made, by operation and price class.
        var made: [String: Int] = [:]
        /// The time from which calls were counted; `nil` if they were counted from the beginning of the day.
        var since: String?

        var left: Int { max(0, budget.saturatingSubtracting(used).saturatingSubtracting(reserved)) }
    }

    let lines: [Line]
    private let date: Date

    /// - Parameters:
    ///   - callsPerDay: the budgets in these settings. If a member has published a different one, that one is shown.
    ///   - reserves: the calls that these settings reserve for interactive requests.
    ///   - date: the current time.
    init(
        _ ledger: BudgetLedger, callsPerDay: [ProviderID: Int],
        reserves: [ProviderID: BudgetReserve] = [:], days: ProviderDays, at date: Date
    ) {
        self.date = date
        lines = ProviderID.allCases.compactMap { provider -> Line? in
            guard let day = days.day(of: provider, at: date) else { return nil }
            var line: Line
            if let known = ledger.days[provider.rawValue]?[day.label] {
                line = Line(
                    provider: provider, day: day, budget: known.budget, used: known.used, reserved: known.reserved,
                    made: known.made, since: known.since)
            } else if let calls = callsPerDay[provider] {
                line = Line(provider: provider, day: day, budget: calls)
            } else {
                return nil
            }
            if let reserve = reserves[provider], !reserve.isNone { line.kept = reserve.calls(of: line.budget) }
            return line
        }
    }

    // MARK: - Text output

    var text: [String] {
        guard !lines.isEmpty else {
            return [
                "no provider has a budget: set providers.<name>.callsPerDay, such as --providers-hotpepper-calls-per-day 3000"
            ]
        }
        let kinds = kindLines
        return budgetLines + (kinds.isEmpty ? [] : [""] + kinds)
    }

    private var budgetLines: [String] {
        let showsKept = lines.contains { $0.kept != nil }
        var columns: [TextTable.Column] = [
            "provider", "day", .right("budget"), .right("used"), .right("reserved"), .right("left"),
        ]
        if showsKept { columns.append(.right("for interactive")) }
        columns += [.right("used of it"), "since", "next day in"]

        var table = TextTable(columns)
        for line in lines {
            let part = line.budget > 0 ? "\(line.used.saturatingMultiplied(by: 100) / line.budget) %" : "-"
            table.add(
                [
                    line.provider.rawValue, line.day.label, line.budget.grouped, line.used.grouped,
                    line.reserved.grouped, line.left.grouped,
                ] + (showsKept ? [line.kept?.grouped ?? "-"] : []) + [
                    part, line.since ?? line.day.begin.formatted(.iso8601), timeToNextDay(line),
                ])
        }
        return table.lines
    }

    private var kindLines: [String] {
        var table = TextTable(["provider", "operation", "price class", .right("calls of the day")])
        var isEmpty = true
        for line in lines {
            for calls in CallsOfKind.mostFirst(line.made) {
                table.add([line.provider.rawValue, calls.operation, calls.priceClass ?? "", calls.count.grouped])
                isEmpty = false
            }
        }
        return isEmpty ? [] : table.lines
    }

    private func timeToNextDay(_ line: Line) -> String {
        Duration.seconds(saturating: (line.day.end.timeIntervalSince(date) / 60).rounded(.up) * 60).readable
    }

    // MARK: - JSON output

    /// One JSON object for each provider.
    var json: [String] {
        lines.map { line in
            JSONWriter.objectText(capacity: 256) { json in
                json.member("provider", line.provider.rawValue)
                json.member("day", line.day.label)
                json.member("budget", line.budget)
                json.member("used", line.used)
                json.member("reserved", line.reserved)
                json.member("left", line.left)
                json.member("kept", line.kept)
                json.member("since", line.since ?? line.day.begin.formatted(.iso8601))
                json.member("until", line.day.end.formatted(.iso8601))
                json.member("made", calls: line.made)
            }
        }
    }
}
