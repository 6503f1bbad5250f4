public import Basics

/// One member of a fleet with daily call budgets: the calls that it may make, and the messages that it publishes.
///
/// A member reserves calls in the log before it makes them, and makes only calls that it has read as granted. So the
/// fleet never makes more calls than a budget has; docs/internals/budgets.md has the rules.
///
/// Does no I/O and reads no clock. Not `Sendable`: it belongs to one owner, which passes it records and times.
public final class BudgetMember {
    private struct Sent {
        var message: BudgetMessage
        var time: Instant
    }

    /// The member's name; see `BudgetMessage.sender`.
    public let name: String
    /// The providers with a budget, by name. Functions about one provider take its index in this array.
    var accounts: [BudgetAccount]
    /// Key replacements that none of this member's confirmed messages contains.
    private var renewals: [BudgetMessage.Renewal] = []
    /// The senders of unanswered questions and orders.
    private var questions: [String] = []

    private let fleet: String?
    private(set) var log: ReplicatedLog<BudgetLedger>
    private var number: UInt64 = 0
    private var lastSent: Instant?
    /// This member's messages that it has not read back, oldest first.
    private var sent: [Sent] = []
    private var timeout: Duration
    /// The time from which this member requests calls again, after the topic was created again.
    var settled: Instant?
    /// The providers whose budget this member has taken to four fifths, each to be reported once.
    private var warnings: [String] = []
    /// The providers without an account because there are too many, which have been reported.
    private var full: Set<String> = []

    /// - Parameters:
    ///   - name: unique in the fleet and for this start of the process.
    ///   - budgets: the calls of a day, by provider.
    ///   - reserves: the calls of a day that are kept for interactive requests, by provider; none if missing.
    ///   - scopes: the account of each provider; the widest if missing.
    ///   - fleet: the fleet whose records apply; `nil`: that of the scopes.
    public init(
        name: String, budgets: [String: Int], reserves: [String: BudgetReserve] = [:],
        scopes: [String: QuotaScope] = [:], fleet: String? = nil, at now: Instant
    ) {
        self.name = name
        accounts = budgets.sorted { $0.key < $1.key }.map { provider, limit in
            BudgetAccount(
                provider, scope: scopes[provider], limit: limit, reserve: reserves[provider] ?? .calls(0), at: now)
        }
        timeout = BudgetTerms.timeout
        self.fleet = fleet ?? scopes.values.compactMap(\.fleet).first
        log = ReplicatedLog(of: name, at: now)
    }

    // MARK: - State

    /// True once the log is read. Before, the remaining calls are not known.
    public var isReady: Bool { log.isReady }

    /// True if the log must be read again from an older record: see `begin`.
    public var needsOlderRecords: Bool { log.needsOlderRecords }

    /// The state of the log; empty until `isReady`.
    public var ledger: BudgetLedger { isReady ? log.state : BudgetLedger() }

    /// Returns the state of a provider's current day; a new one if no call is reserved yet.
    public func today(of provider: String) -> (label: String, day: BudgetLedger.Day)? {
        index(of: provider).flatMap { today($0) }
    }

    func index(of provider: String) -> Int? { accounts.firstIndex { $0.provider == provider } }

    func today(_ index: Int) -> (label: String, day: BudgetLedger.Day)? {
        let account = accounts[index]
        guard let label = account.reservation.day?.label, isReady else { return nil }
        return (label, log.state.day(label, of: account.scope) ?? BudgetLedger.Day(limit: account.reservation.limit))
    }

    /// Returns the providers whose budget this member has taken to four fifths, and those without an account, each
    /// once. In the fleet, one member reports each day and budget.
    public func takeWarnings() -> [String] {
        defer { warnings = [] }
        return warnings
    }

    /// Changes the account of a provider whose key was replaced while this member runs. The next message publishes that
    /// the new key's calls count with the old one's.
    public func renewScope(_ new: QuotaScope, of provider: String) {
        guard let index = index(of: provider), accounts[index].scope != new else { return }
        let former = accounts[index].scope
        if let old = former.key, let key = new.key, new.fleet == former.fleet {
            renewals.append(BudgetMessage.Renewal(provider: provider, fleet: new.fleet, old: old, new: key))
        }
        accounts[index].scope = new
    }

    // MARK: - The log

    /// Begins to read the log, for the first time or again.
    public func begin(_ extent: FleetTopicExtent, at now: Instant) {
        // The result of messages in flight is unknown from now on. The calls that they requested are lost, as in a
        // crash.
        sent = []
        for index in accounts.indices { accounts[index].reservation.forgetAsked() }
        log.begin(extent, at: now)
        if extent.isRemade, log.isReady { settled = now + BudgetTerms.settling }
    }

    /// Processes the next record.
    /// - Parameter message: `nil` for a record that is not about budgets.
    public func read(_ message: BudgetMessage?, at offset: Int64, now: Instant) {
        guard let message = message?.part(for: fleet) else { return log.skip(offset) }
        guard case .applied(let effect, let isSnapshotTakenOver) = log.read(message, at: offset, now: now) else {
            return
        }
        // The ledger that granted these calls did not contain the calls taken earlier in the day.
        if isSnapshotTakenOver {
            for index in accounts.indices { _ = accounts[index].reservation.remove(accounts[index].reservation.held) }
        }
        if effect != nil, questions.count < Self.mostQuestions, isToBeAnswered(message) {
            questions.append(message.sender)
        }
        if let order = message.order { giveUpCalls(beyond: order) }

        if message.sender == name {
            if let effect { settle(message.number, effect: effect, at: now) }
        } else {
            for entry in message.entries where entry.take > 0 && isOwn(entry.scope) {
                if let index = index(of: entry.provider) { accounts[index].others[message.sender] = now }
            }
        }
    }

    /// Processes the grants to a message of this member. Older messages that it has not read back are ignored from now
    /// on.
    private func settle(_ number: UInt64, effect: BudgetLedger.Effect, at now: Instant) {
        warnings += effect.warned
        timeout = BudgetTerms.timeout
        for index in accounts.indices { accounts[index].reservation.noteAnswer(at: now, idle: BudgetTerms.idle) }

        while let oldest = sent.first, oldest.message.number <= number {
            sent.removeFirst()
            if oldest.message.number == number {
                let told = oldest.message.renewals ?? []
                renewals.removeAll { told.contains($0) }
            }
            for (position, entry) in oldest.message.entries.enumerated() {
                guard let index = index(of: entry.provider) else { continue }
                if oldest.message.number < number {
                    accounts[index].reservation.restore(entry, at: now)
                } else {
                    // Another sender may have used this member's name and number.
                    let granted = position < effect.granted.count ? effect.granted[position] : 0
                    accounts[index].reservation.receive(granted, askedFor: entry.take, on: entry.day)
                }
            }
        }
    }

    // MARK: - Messages

    /// Sets the provider's current day. Call it before `tick`.
    public func setDay(_ day: BudgetDay, of provider: String) {
        guard let index = index(of: provider) else { return }
        accounts[index].reservation.begin(day)
    }

    /// Updates the state for the current time, and returns the message that is due. Call it a few times a second, and
    /// at once when a call waits or a record was read.
    /// - Returns: a message to append to the log; `nil` if there is none.
    public func tick(at now: Instant) -> BudgetMessage? {
        for index in accounts.indices { accounts[index].reservation.measurePace(at: now, idle: BudgetTerms.idle) }
        guard isReady else { return nil }
        for index in accounts.indices {
            let provider = accounts[index].provider
            if !isFull(index) {
                full.remove(provider)
            } else if full.insert(provider).inserted {
                warnings.append(provider)
            }
        }
        if let lastSent, lastSent.duration(to: now) < BudgetTerms.shortestPause { return nil }

        // One message at a time, unless it seems to be lost.
        if let newest = sent.last {
            guard newest.time.duration(to: now) >= timeout else { return nil }
            timeout = min(timeout * 2, BudgetTerms.longestTimeout)
            if sent.count >= Self.mostUnread { return repeatNewest(at: now) }
            for index in accounts.indices { accounts[index].reservation.forgetAsked() }
        }

        forgetOthers(at: now)
        let isSnapshotDue = log.isSnapshotDue(at: now, ifOld: log.hasChangedSinceSnapshot)
        let reserves = accounts.indices.map { reservation($0, at: now) }
        let returns = accounts.indices.map { excess($0, at: now) }
        let isReportDue = accounts.contains { account in
            account.reservation.madeSince.map { $0.duration(to: now) >= BudgetTerms.report * slowness } ?? false
        }
        // While messages are unconfirmed, another one is due even if there is nothing new. When it is read back,
        // earlier messages that have not been read are known to be lost, and their contents are published again.
        guard
            !sent.isEmpty || isReportDue || isSnapshotDue || !questions.isEmpty || !renewals.isEmpty
                || reserves.contains(where: { $0 > 0 }) || returns.contains(where: { $0 > 0 })
        else {
            return nil
        }

        var entries: [BudgetMessage.Entry] = []
        for index in accounts.indices {
            entries += self.entries(index, take: reserves[index], giveBack: returns[index])
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
    /// A provider that was not called recently, or whose budget is used up, does not count: it would block the requests
    /// for all others.
    public func isTimedOut(at now: Instant) -> Bool {
        guard let oldest = sent.first, oldest.time.duration(to: now) >= BudgetTerms.timeout else { return false }
        return accounts.indices.contains {
            accounts[$0].reservation.held == 0 && accounts[$0].reservation.isInDemand && !isUsedUp($0, at: now)
        }
    }

    /// Returns the time until the next `tick`, if nothing happens before.
    public func nextTick(at now: Instant) -> Duration {
        // No calls of a used-up day can be reserved, whatever the demand: the usual interval is enough.
        guard isReady, sent.isEmpty, let lastSent,
            accounts.indices.contains(where: { reservation($0, at: now) > 0 })
        else {
            return BudgetTerms.tick
        }
        return min(BudgetTerms.tick, max(.milliseconds(1), BudgetTerms.shortestPause - lastSent.duration(to: now)))
    }

    /// Returns the last message. After that, this member makes no call.
    /// - Returns: `nil` if there is nothing to publish.
    public func leave(at now: Instant) -> BudgetMessage? {
        guard isReady else { return nil }
        let entries = accounts.indices.flatMap { self.entries($0, take: 0, giveBack: accounts[$0].reservation.held) }
        return entries.isEmpty ? nil : send(entries, snapshot: false, at: now)
    }

    private func send(
        _ entries: [BudgetMessage.Entry], snapshot isSnapshot: Bool, at now: Instant
    ) -> BudgetMessage {
        number += 1
        let message = BudgetMessage(
            sender: name, number: number, entries: entries,
            snapshot: isSnapshot ? snapshot : nil,
            renewals: renewals.isEmpty ? nil : renewals, answers: questions.isEmpty ? nil : questions.removeFirst())
        sent.append(Sent(message: message, time: now))
        lastSent = now
        return message
    }

    private var snapshot: BudgetMessage.Snapshot {
        let snapshot = log.snapshot
        return BudgetMessage.Snapshot(offset: snapshot.offset, fleet: fleet, ledger: snapshot.state)
    }

    /// Returns the entries about one provider, one for each day.
    private func entries(_ index: Int, take: Int, giveBack: Int) -> [BudgetMessage.Entry] {
        guard let today = accounts[index].reservation.day?.label else { return [] }
        var made = accounts[index].reservation.takeMade()

        func entry(_ day: String) -> BudgetMessage.Entry {
            BudgetMessage.Entry(
                accounts[index].scope, day: day, limit: accounts[index].reservation.limit,
                made: made.removeValue(forKey: day) ?? [:])
        }
        var now = entry(today)
        now.take = take
        now.giveBack = accounts[index].reservation.remove(giveBack)
        accounts[index].reservation.ask(take)

        let before = made.keys.sorted().map(entry)
        return now.take + now.giveBack > 0 || !now.made.isEmpty ? before + [now] : before
    }
}
