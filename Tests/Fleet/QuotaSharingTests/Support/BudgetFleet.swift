import Basics
import LocationSearch
import TestSupport

@testable import QuotaSharing

/// Members that share budgets, and the log between them, in steps of 20 ms. Each period has `dayLength`.
final class BudgetFleet {
    static let account = "hotpepper"
    private static let step = Duration.milliseconds(20)

    let dayLength: Duration
    /// The calls that come to each member for each of its first accounts, per second.
    var demand = 0.0
    /// The number of accounts for which calls come.
    var accountsInDemand = 1
    /// Returns how long the copies of a message travel to the log; none: the message is lost.
    var delays: () -> [Duration] = { [.zero] }
    private(set) var members: [BudgetMember] = []
    private(set) var elapsed = Duration.zero
    private(set) var messages = 0
    private(set) var warnings = 0
    /// The number of units used, by period.
    private(set) var calls: [String: Int] = [:]
    private(set) var log: [BudgetMessage] = []
    /// Returns the units of the next call.
    var unitsOfCall: () -> Int = { 1 }
    private let budgets: [Budget]
    private let start = Instant.now
    private var unwritten: [(due: Duration, message: BudgetMessage)] = []
    /// For each member: the offset of the next record, and each account's waiting calls, with the fraction of one to come.
    private var next: [Int] = []
    private var waiting: [[Double]] = []
    private var crashed: Set<Int> = []

    convenience init(of count: Int, budget: Int, dayLength: Duration) {
        self.init(of: count, [Budget(.hotpepper, limit: budget)], dayLength: dayLength)
    }

    init(of count: Int, _ budgets: [Budget], dayLength: Duration) {
        (self.budgets, self.dayLength) = (budgets, dayLength)
        for _ in 0..<count { join(newest: 0) }
    }

    /// The label of the current period.
    var period: String { "period \(1000 + Int(elapsed / dayLength))" }

    /// Adds a member.
    /// - Parameter records: the number of records that it reads at first.
    func join(newest records: Int) {
        let member = BudgetMember(name: "m\(members.count)-0", budgets: budgets, at: start + elapsed)
        let first = max(0, log.count - records)
        members.append(member)
        next.append(first)
        waiting.append(budgets.map { _ in 0 })
        member.begin(FleetTopicExtent(first: Int64(first), end: Int64(log.count), oldest: 0), at: start + elapsed)
    }

    /// Ends a member without a last message.
    func crash(_ index: Int) { crashed.insert(index) }

    func run(until seconds: Double) {
        while elapsed < .seconds(seconds) { step() }
    }

    private func step() {
        elapsed += Self.step
        log += unwritten.filter { $0.due <= elapsed }.map(\.message)
        unwritten.removeAll { $0.due <= elapsed }
        for index in members.indices where !crashed.contains(index) { step(index) }
    }

    private func step(_ index: Int) {
        let (member, now) = (members[index], start + elapsed)
        let dayEnd = start + dayLength * (Int(elapsed / dayLength) + 1)
        for account in member.accounts { account.reservation.begin(BudgetPeriod(label: period, end: dayEnd)) }
        for offset in next[index]..<log.count { member.read(log[offset], at: Int64(offset), now: now) }
        next[index] = log.count

        for (position, account) in member.accounts.prefix(accountsInDemand).enumerated() {
            makeCalls(on: account, waiting: &waiting[index][position], at: now)
        }

        if let message = member.tick(at: now) {
            messages += 1
            unwritten += delays().map { (elapsed + $0, message) }
        }
        warnings += member.takeWarnings().count
    }

    private func makeCalls(on account: BudgetAccount, waiting: inout Double, at now: Instant) {
        waiting = min(30, waiting + demand * Self.step.inSeconds)
        var units = unitsOfCall()
        while waiting >= 1, let permit = account.take(units, at: now) {
            account.noteMade(permit, as: "search", at: now)
            waiting -= 1
            calls[period, default: 0] += units
            units = unitsOfCall()
        }
        account.setWaiting(Int(waiting) * units)
    }
}
