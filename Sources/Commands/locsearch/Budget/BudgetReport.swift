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
        /// The digest of the API key. It distinguishes the accounts when a provider has several keys.
        var key: String?
        var day: ProviderDays.Day
        /// The number of calls that the budget allows; `nil` if neither the settings nor a member defines a budget.
        var budget: Int?
        var used = 0
        var reserved = 0
        /// The number of calls that these settings reserve for interactive requests; `nil` if they reserve none.
        var kept: Int?
        /// The number of calls made, by operation and price class.
        var made: [String: Int] = [:]
        /// The time from which calls were counted; `nil` if they were counted from the beginning of the day.
        var since: String?

        var left: Int? { budget.map { max(0, $0.saturatingSubtracting(used).saturatingSubtracting(reserved)) } }
    }

    let lines: [Line]
    private let date: Date

    /// - Parameters:
    ///   - fleet: the digest of the fleet whose budgets are shown.
    ///   - callsPerDay: the budgets in these settings. If a member has published a different one, that one is shown.
    ///   - reserves: the calls that these settings reserve for interactive requests.
    ///   - date: the current time.
    init(
        _ ledger: BudgetLedger, fleet: String? = nil, callsPerDay: [ProviderID: Int],
        reserves: [ProviderID: BudgetReserve] = [:], days: ProviderDays, at date: Date
    ) {
        self.date = date
        lines = ProviderID.allCases.flatMap { provider -> [Line] in
            guard let day = days.day(of: provider, at: date) else { return [] }
            let known = ledger.accounts(of: provider.rawValue, fleet: fleet).compactMap { account in
                account.days[day.label].map { known in
                    Line(
                        provider: provider, key: account.key, day: day, budget: known.budget, used: known.used,
                        reserved: known.reserved, made: known.made, since: known.since)
                }
            }
            let settings = callsPerDay[provider].map { [Line(provider: provider, day: day, budget: $0)] } ?? []
            return (known.isEmpty ? settings : known).map { line in
                guard let reserve = reserves[provider], !reserve.isNone else { return line }
                var line = line
                line.kept = line.budget.map { reserve.calls(of: $0) }
                return line
            }
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
            let name = line.provider.rawValue + (showsKeys ? line.key.map { " (key \($0))" } ?? "" : "")
            let part = line.budget.map { $0 > 0 ? "\(line.used.saturatingMultiplied(by: 100) / $0) %" : "-" }
            table.add(
                [
                    name, line.day.label, line.budget?.grouped ?? "none", line.used.grouped,
                    line.reserved.grouped, line.left?.grouped ?? "-",
                ] + (showsKept ? [line.kept?.grouped ?? "-"] : []) + [
                    part ?? "-", line.since ?? line.day.begin.formatted(.iso8601), timeToNextDay(line),
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

    /// True if a provider has accounts for several keys. This happens for the rest of a day on which workers were
    /// restarted with another key.
    private var showsKeys: Bool { Set(lines.map(\.provider)).count < lines.count }

    // MARK: - JSON output

    /// One JSON object for each provider.
    var json: [String] {
        lines.map { line in
            JSONWriter.objectText(capacity: 256) { json in
                json.member("provider", line.provider.rawValue)
                json.member("key", line.key)
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
