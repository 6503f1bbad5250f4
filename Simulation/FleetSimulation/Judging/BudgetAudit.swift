import Basics
import QuotaSharing

/// An audit of the fleet topic's messages about a budget, written from docs/budgets.md and not with the workers' code.
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

    /// A grant of calls to one process.
    struct Grant {
        let time: Instant
        let process: String
        let day: String
        let calls: Int
    }

    private(set) var grants: [Grant] = []
    private let limit: Int
    private var days: [String: Day] = [:]
    private var newest: [String: UInt64] = [:]

    /// - Parameter limit: the daily budget in the settings of all members.
    init(limit: Int) { self.limit = limit }

    /// Returns the largest number of calls of a day that any order of records allows.
    func mostCalls(on day: String) -> Int {
        guard let day = days[day] else { return limit }
        return day.allowedBefore + day.highestSince
    }

    /// Processes the next record of the topic.
    mutating func read(_ message: BudgetMessage, at time: Instant) {
        // A duplicate, or a message older than another one of its sender, has no effect.
        guard message.number > newest[message.sender] ?? 0 else { return }
        newest[message.sender] = message.number
        let process = message.sender.split(separator: "-").dropLast().joined(separator: "-")

        for entry in message.entries {
            var day = days[entry.period] ?? Day(highestSince: limit)
            day.taken -= min(day.taken, entry.giveBack)
            day.told += entry.made.values.reduce(0, +)
            let granted = min(entry.take, max(0, (day.ordered ?? limit) - day.taken))
            day.taken += granted
            days[entry.period] = day
            grants.append(Grant(time: time, process: process, day: entry.period, calls: granted - entry.giveBack))
        }
        if let order = message.order { take(order) }
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
    /// Checks that each call was granted in the topic before it was made, and that the calls of a day do not exceed its budget.
    mutating func judgeBudget(_ calls: [SimulatedProvider.Call], _ budget: Int) {
        world.settleCounts()
        var audit: BudgetAudit?
        if let log = world.fleetLog {
            var whole = BudgetAudit(limit: budget)
            for (time, message) in log {
                if case .budget(let message) = message { whole.read(message, at: time) }
            }
            audit = whole
        }

        // By the clock of the member that made the call: if it is ahead, its day begins early.
        var days: [Int: Int] = [:]
        let counted = calls.filter { call in
            world.budgetCount.counts(call) && !world.wasJustSet(call.member, at: call.time) && !call.isAtTurnOfDay
        }
        for call in counted {
            days[call.day, default: 0] += 1
        }
        for (day, count) in days.sorted(by: { $0.key < $1.key }) {
            let label = FleetWorld.label(ofDay: day)
            let most = audit?.mostCalls(on: label) ?? world.mostCallsByOrders(of: budget)
            if count > most { find(.overBudget, "\(count) calls on day \(day), of \(most)") }
        }

        if let audit { judgeGrants(calls, audit.grants) }
    }

    private mutating func judgeGrants(_ calls: [SimulatedProvider.Call], _ grants: [BudgetAudit.Grant]) {
        for process in Set(calls.map(\.member)).sorted() {
            let own = grants.filter { $0.process == process }
            var next = own.startIndex
            var (granted, made) = (0, 0)
            for call in calls where call.member == process {
                while next < own.endIndex, own[next].time <= call.time {
                    granted += max(0, own[next].calls)
                    next += 1
                }
                made += 1
                if made > granted {
                    return find(.notGranted, "call \(made) of \(process), which had been granted \(granted)")
                }
            }

            // At the end, returned calls count too.
            let kept = own.reduce(0) { $0 + $1.calls }
            if made > kept { return find(.notGranted, "\(made) calls of \(process), which had reserved \(kept)") }
        }
    }
}
