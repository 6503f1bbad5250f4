public import Basics

/// One member of a fleet with budgets: what its calls may use, and the messages that it publishes.
///
/// A member reserves units in the log before it uses them, and uses only what it has read as granted. So the fleet never
/// uses more than a budget has; docs/internals/budgets.md has the rules.
///
/// Does no I/O and reads no clock. Not `Sendable`: it belongs to one owner, which passes it records and times.
public final class BudgetMember {
    private struct Sent {
        var message: BudgetMessage
        var time: Instant
    }

    /// The member's name; see `BudgetMessage.sender`.
    public let name: String
    /// The accounts, in the order of their names.
    public let accounts: [BudgetAccount]
    private let byName: [String: BudgetAccount]
    /// The senders of unanswered questions and orders.
    private var questions: [String] = []
    /// The most of them; operators send fewer.
    private static let mostQuestions = 16

    private let log: BudgetLog
    private var number: UInt64 = 0
    private var lastSent: Instant?
    /// This member's messages that it has not read back, oldest first.
    private var sent: [Sent] = []
    private var timeout: Duration
    /// The accounts for which this member has caused a warning, each to be reported once.
    private var warnings: [String] = []

    /// - Parameters:
    ///   - name: unique in the fleet and for this start of the process.
    ///   - budgets: one for each account; of two for the same account, the first one counts.
    public init(name: String, budgets: [Budget], at now: Instant) {
        self.name = name
        let log = BudgetLog(ReplicatedLog(of: name, at: now))
        self.log = log
        let accounts = budgets.map { BudgetAccount($0, log: log, at: now) }
        byName = Dictionary(accounts.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
        self.accounts = byName.values.sorted { $0.name < $1.name }
        timeout = BudgetTerms.timeout
    }

    // MARK: - State

    /// True once the log is read. Before, the remaining calls are not known.
    public var isReady: Bool { log.records.isReady }

    /// True if the log must be read again from an older record: see `begin`.
    public var needsOlderRecords: Bool { log.records.needsOlderRecords }

    /// The state of the log; empty until `isReady`.
    public var ledger: BudgetLedger { isReady ? log.records.state : BudgetLedger() }

    /// Returns an account; `nil` if it has no budget.
    public func account(_ name: String) -> BudgetAccount? { byName[name] }

    /// Sets what is called when `tick` should be called at once. It is not called again before that.
    public func onWant(_ wake: @escaping () -> Void) { log.onWant = wake }

    /// Returns the accounts for which this member has caused a warning, each once. In the fleet, one member reports each
    /// period of a budget.
    public func takeWarnings() -> [String] {
        defer { warnings = [] }
        return warnings
    }

    // MARK: - The log

    /// Begins to read the log, for the first time or again.
    public func begin(_ extent: FleetTopicExtent, at now: Instant) {
        // The result of messages in flight is unknown from now on. The calls that they requested are lost, as in a
        // crash.
        sent = []
        for account in accounts { account.reservation.forgetAsked() }
        log.records.begin(extent, at: now)
        if extent.isRemade, isReady { log.settled = now + BudgetTerms.settling }
        review(at: now)
    }

    /// Processes the next record.
    /// - Parameter message: `nil` for a record that is not about budgets.
    public func read(_ message: BudgetMessage?, at offset: Int64, now: Instant) {
        let wasReady = isReady
        // A budget may have been lowered while the topic was read again.
        defer { if !wasReady, isReady { accounts.forEach(dropExcess) } }
        guard let message else { return log.records.skip(offset) }
        guard case .applied(let effect, let isSnapshotTakenOver) = log.records.read(message, at: offset, now: now)
        else {
            return
        }
        // The ledger that granted these calls did not contain the calls taken earlier in the period.
        if isSnapshotTakenOver {
            for account in accounts { _ = account.reservation.remove(account.reservation.held) }
        }
        if effect != nil, questions.count < Self.mostQuestions, isToBeAnswered(message) {
            questions.append(message.sender)
        }
        if let order = message.order, order.limit != nil { account(order.account).map(dropExcess) }

        if message.sender == name {
            if let effect { settle(message.number, effect: effect, at: now) }
        } else {
            for entry in message.entries where entry.take > 0 {
                account(entry.account)?.others[message.sender] = now
            }
            noteSharers()
        }
    }

    /// True for a question about a budget of this member, and for an order that this member applies.
    private func isToBeAnswered(_ message: BudgetMessage) -> Bool {
        if let question = message.question { return account(question) != nil }
        guard let order = message.order else { return false }
        return account(order.account)?.reservation.period?.label == order.period
    }

    /// Drops the reserved calls that exceed an ordered budget, once for each order. They still count as taken.
    private func dropExcess(of account: BudgetAccount) {
        guard let (label, period) = account.current, let budget = period.ordered else { return }
        if let reduced = account.reduced, reduced == (label, period.since, budget) { return }
        account.reduced = (label, period.since, budget)
        _ = account.reservation.remove(max(0, period.taken.saturatingSubtracting(budget)))
    }

    /// Processes the grants to a message of this member. Older messages that it has not read back are ignored from now
    /// on.
    private func settle(_ number: UInt64, effect: BudgetLedger.Effect, at now: Instant) {
        warnings += effect.warned
        timeout = BudgetTerms.timeout
        for account in accounts { account.reservation.noteAnswer(at: now) }

        while let oldest = sent.first, oldest.message.number <= number {
            sent.removeFirst()
            for (position, entry) in oldest.message.entries.enumerated() {
                guard let account = account(entry.account) else { continue }
                if oldest.message.number < number {
                    account.reservation.restore(entry, at: now)
                } else {
                    // Another sender may have used this member's name and number.
                    let granted = position < effect.granted.count ? effect.granted[position] : 0
                    account.reservation.receive(granted, askedFor: entry.take, on: entry.period)
                }
            }
        }
    }

    // MARK: - Messages

    /// Releases waiting calls for which permits have become available. Call it after `read`, once for any number of
    /// records.
    public func review(at now: Instant) {
        for account in accounts { account.review(at: now) }
    }

    /// Updates the state for the current time, and returns the message that is due. Call it a few times a second, and
    /// at once when a call waits or a record was read.
    /// - Parameter period: returns the current period of a budget; `nil`: it stays.
    /// - Returns: a message to append to the log; `nil` if there is none.
    public func tick(at now: Instant, _ period: (Budget) -> BudgetPeriod? = { _ in nil }) -> BudgetMessage? {
        log.isWoken = false
        for account in accounts {
            if let period = period(account.budget) { account.reservation.begin(period) }
        }
        review(at: now)
        for account in accounts { account.reservation.pace.measure(at: now) }
        guard isReady else { return nil }
        if let lastSent, lastSent.duration(to: now) < BudgetTerms.shortestPause { return nil }

        // One message at a time, unless it seems to be lost.
        if let newest = sent.last {
            guard newest.time.duration(to: now) >= timeout else { return nil }
            timeout = min(timeout * 2, BudgetTerms.longestTimeout)
            if sent.count >= Self.mostUnread { return repeatNewest(at: now) }
            for account in accounts { account.reservation.forgetAsked() }
        }

        let memory = BudgetTerms.memory * log.slowness
        for account in accounts { account.forgetOthers(at: now, after: memory) }
        noteSharers()
        let isSnapshotDue = log.records.isSnapshotDue(at: now, ifOld: !log.records.state.periods.isEmpty)
        let reserves = accounts.map { $0.unitsToReserve(at: now) }
        let returns = accounts.map { $0.unitsToReturn(at: now) }
        let isReportDue = accounts.contains { account in
            account.reservation.madeSince.map { $0.duration(to: now) >= BudgetTerms.report * log.slowness } ?? false
        }
        // While messages are unconfirmed, another one is due even if there is nothing new. When it is read back,
        // earlier messages that have not been read are known to be lost, and their contents are published again.
        guard
            !sent.isEmpty || isReportDue || isSnapshotDue || !questions.isEmpty || reserves.contains(where: { $0 > 0 })
                || returns.contains(where: { $0 > 0 })
        else {
            return nil
        }

        let entries = accounts.indices.flatMap {
            accounts[$0].takeEntries(reserving: reserves[$0], returning: returns[$0])
        }
        return send(entries, snapshot: isSnapshotDue, at: now)
    }

    /// The most messages that are remembered until they are read back. Beyond it, the newest is published again.
    /// Otherwise memory would grow for as long as the topic cannot be written.
    private static let mostUnread = 8

    private func repeatNewest(at now: Instant) -> BudgetMessage? {
        guard let newest = sent.popLast() else { return nil }
        sent.append(Sent(message: newest.message, time: now))
        lastSent = now
        return newest.message
    }

    /// True while this member's messages are not read back and more calls are needed. Requests that began now would
    /// wait without result.
    ///
    /// An account that was not used recently, or whose budget is used up, does not count: it would block the requests
    /// for all others.
    public func isTimedOut(at now: Instant) -> Bool {
        guard let oldest = sent.first, oldest.time.duration(to: now) >= BudgetTerms.timeout else { return false }
        return accounts.contains {
            $0.reservation.held < $0.unitsOfCall.upperBound && $0.reservation.isInDemand && !$0.isUsedUp(at: now)
        }
    }

    /// Returns the time until the next `tick`, if nothing happens before.
    public func nextTick(at now: Instant) -> Duration {
        // No calls of a used-up period can be reserved, whatever the demand: the usual interval is enough.
        guard isReady, sent.isEmpty, let lastSent,
            accounts.contains(where: { $0.unitsToReserve(at: now) > 0 })
        else {
            return BudgetTerms.tick
        }
        return min(BudgetTerms.tick, max(.milliseconds(1), BudgetTerms.shortestPause - lastSent.duration(to: now)))
    }

    /// Returns the last message. After that, this member makes no call.
    /// - Returns: `nil` if there is nothing to publish.
    public func leave(at now: Instant) -> BudgetMessage? {
        guard isReady else { return nil }
        let entries = accounts.flatMap { $0.takeEntries(reserving: 0, returning: $0.reservation.held) }
        return entries.isEmpty ? nil : send(entries, snapshot: false, at: now)
    }

    private func send(_ entries: [BudgetMessage.Entry], snapshot isSnapshot: Bool, at now: Instant) -> BudgetMessage {
        number += 1
        let message = BudgetMessage(
            sender: name, number: number, entries: entries, snapshot: isSnapshot ? snapshot : nil,
            answers: questions.isEmpty ? nil : questions.removeFirst())
        sent.append(Sent(message: message, time: now))
        lastSent = now
        return message
    }

    private var snapshot: BudgetMessage.Snapshot {
        let snapshot = log.records.snapshot
        return BudgetMessage.Snapshot(offset: snapshot.offset, ledger: snapshot.state)
    }

    private func noteSharers() {
        let sharers = accounts.lazy.map(\.sharers).max() ?? 1
        log.slowness = max(1, sharers / BudgetTerms.membersAtFullPace)
    }
}
