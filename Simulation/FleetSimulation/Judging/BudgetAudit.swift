import Basics
import LocationSearch
import QuotaSharing

/// An audit of the fleet topic's messages about one account, written from docs/budgets.md and not with the workers' code.
///
/// It computes how many calls each process was granted on each day, and how many calls the day may have.
struct BudgetAudit {
    private struct Day {
        var taken = 0
        /// The number of calls that members have reported.
        var told = 0
        /// The limit that an operator has ordered.
        var ordered: Int?
        /// The sum of the highest budgets before each reset. `highestSince` is the highest one since the last reset.
        var allowedBefore = 0
        var highestSince: Int
    }

    /// A grant to one process, in units.
    struct Grant {
        let time: Instant
        let process: String
        let day: String
        let units: Int
    }

    private(set) var grants: [Grant] = []
    private let account: String
    private let limit: Int
    private var days: [String: Day] = [:]
    private var newest: [String: UInt64] = [:]

    /// - Parameter budget: the same in the settings of all members.
    init(_ budget: Budget) {
        account = budget.account
        limit = budget.limit
    }

    /// Returns the most units of a period that any order of records allows.
    func mostUnits(on day: String) -> Int {
        guard let day = days[day] else { return limit }
        return day.allowedBefore + day.highestSince
    }

    /// Processes the next record of the topic.
    mutating func read(_ message: BudgetMessage, at time: Instant) {
        // A duplicate, or a message older than another one of its sender, has no effect.
        guard message.number > newest[message.sender] ?? 0 else { return }
        newest[message.sender] = message.number
        let process = message.sender.split(separator: "-").dropLast().joined(separator: "-")

        for entry in message.entries where entry.account == account {
            var day = days[entry.period] ?? Day(highestSince: limit)
            day.taken -= min(day.taken, entry.giveBack)
            day.told += entry.made.values.reduce(0, +)
            let granted = min(entry.take, max(0, (day.ordered ?? limit) - day.taken))
            day.taken += granted
            days[entry.period] = day
            grants.append(Grant(time: time, process: process, day: entry.period, units: granted - entry.giveBack))
        }
        if let order = message.order, order.account == account { take(order) }
    }

    private mutating func take(_ order: BudgetMessage.Order) {
        var day = days[order.period] ?? Day(highestSince: limit)
        if let limit = order.limit {
            day.ordered = limit
            day.highestSince = max(day.highestSince, limit)
        }
        if order.isReset {
            day.taken = max(0, day.taken - day.told)
            day.told = 0
            day.allowedBefore += day.highestSince
            day.highestSince = day.ordered ?? limit
        }
        days[order.period] = day
    }
}

extension Judge {
    /// Checks that each call was granted in the topic before it was made, and that the calls of a period do not exceed a budget.
    mutating func judgeBudgets(_ calls: [SimulatedProvider.Call]) {
        world.settleCounts()
        if let limit = plan.callsPerDay {
            let audit = audit(of: Budget(.hotpepper, limit: limit))
            judgeTotals(calls, by: \.day, label: { FleetWorld.label(ofDay: $0) }) { [world] label in
                audit?.mostUnits(on: label) ?? world.mostCallsByOrders(of: limit)
            }
            if let audit { judgeGrants(calls, [(audit.grants, 1)]) }
        }
        guard let month = plan.monthBudget else { return }
        // A budget in money, and the free calls: each call is paid by one of them. Without the whole topic, the days on
        // which the count was lost are known, but not what they have left of the month.
        let accounts = month.budgets.compactMap { budget in
            audit(of: budget).map { (audit: $0, price: budget.units(of: .hotpepper) ?? 1) }
        }
        guard !accounts.isEmpty else { return }
        judgeTotals(calls, by: { MonthBudget.month(ofDay: $0.day) }, label: { MonthBudget.label($0) }) { label in
            accounts.reduce(0) { $0 + $1.audit.mostUnits(on: label) / $1.price }
        }
        judgeGrants(calls, accounts.map { ($0.audit.grants, $0.price) })
    }

    private func audit(of budget: Budget) -> BudgetAudit? {
        guard let log = world.fleetLog else { return nil }
        var audit = BudgetAudit(budget)
        for (time, message) in log {
            if case .budget(let message) = message { audit.read(message, at: time) }
        }
        return audit
    }

    private mutating func judgeTotals(
        _ calls: [SimulatedProvider.Call], by number: (SimulatedProvider.Call) -> Int, label: (Int) -> String,
        most: (String) -> Int
    ) {
        // By the clock of the member that made the call: if it is ahead, its period begins early.
        let counted = calls.filter { call in
            world.budgetCount.counts(call) && !world.wasJustSet(call.member, at: call.time) && !call.isAtTurnOfDay
        }
        let periods = Dictionary(grouping: counted, by: number).mapValues(\.count)
        for (period, count) in periods.sorted(by: { $0.key < $1.key }) {
            let label = label(period)
            let most = most(label)
            if count > most { find(.overBudget, "\(count) calls on \(label), of \(most)") }
        }
    }

    /// - Parameter accounts: the grants of each account that may pay a call, and the units of a call.
    private mutating func judgeGrants(
        _ calls: [SimulatedProvider.Call], _ accounts: [(grants: [BudgetAudit.Grant], price: Int)]
    ) {
        for process in Set(calls.map(\.member)).sorted() {
            let own = accounts.map { ($0.grants.filter { $0.process == process }, $0.price) }
            var next = own.map { $0.0.startIndex }
            var granted = own.map { _ in 0 }
            var made = 0
            for call in calls where call.member == process {
                for (index, (grants, _)) in own.enumerated() {
                    while next[index] < grants.endIndex, grants[next[index]].time <= call.time {
                        granted[index] += max(0, grants[next[index]].units)
                        next[index] += 1
                    }
                }
                made += 1
                let affordable = zip(granted, own).reduce(0) { $0 + $1.0 / $1.1.1 }
                if made > affordable {
                    return find(.notGranted, "call \(made) of \(process), which had been granted \(affordable)")
                }
            }

            // At the end, what was returned counts too.
            let kept = own.reduce(0) { $0 + $1.0.reduce(0) { $0 + $1.units } / $1.1 }
            if made > kept { return find(.notGranted, "\(made) calls of \(process), which had reserved \(kept)") }
        }
    }
}
