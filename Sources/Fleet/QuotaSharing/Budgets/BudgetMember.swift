public import Basics

/// One member of a fleet with daily call budgets: the calls that it may make, and the messages that it publishes.
///
/// A member reserves calls in the log before it makes them, and makes only calls that it has read as granted. So the
/// fleet never makes more calls than a budget has; docs/budgets.md says why.
///
/// Does no I/O and reads no clock. Not `Sendable`: it belongs to one owner, which hands it records and moments.
public final class BudgetMember {
    private struct Sent {
        var message: BudgetMessage
        var time: Instant
    }

    /// The member's name; see `BudgetMessage.sender`.
    public let name: String
    /// The providers that have a budget, in the order of their names. Functions that are about one of them take its index.
    var accounts: [BudgetAccount]
    /// Replacements of keys that are in no message of this member that it has read back.
    private var renewals: [BudgetMessage.Renewal] = []
    /// The senders of questions and orders that are still to be answered.
    private var questions: [String] = []

    let terms: BudgetTerms
    var log: BudgetLog
    private var number: UInt64 = 0
    private var lastSent: Instant?
    /// This member's messages that it has not read back yet, oldest first.
    private var sent: [Sent] = []
    private var timeout: Duration
    /// The moment from which this member asks for calls again, after the topic was made again.
    var settled: Instant?
    /// The providers of whose daily budget four fifths are taken since a message of this member, each to be reported
    /// once.
    private var warnings: [String] = []
    /// The providers that have no account because there are too many, and of which that is reported.
    private var full: Set<String> = []

    /// - Parameters:
    ///   - name: unique in the fleet and for this start of the process.
    ///   - budgets: the calls of a day, by provider.
    ///   - reserves: the calls of a day that are kept for interactive requests; none of a provider that is missing.
    ///   - scopes: the account of each provider; one that is missing has the widest.
    ///   - fleet: the fleet whose records count; `nil`: that of the scopes.
    public init(
        name: String, budgets: [String: Int], reserves: [String: BudgetReserve] = [:],
        scopes: [String: QuotaScope] = [:], fleet: String? = nil, terms: BudgetTerms = BudgetTerms(), at now: Instant
    ) {
        self.name = name
        self.terms = terms
        accounts = budgets.sorted { $0.key < $1.key }.map { provider, limit in
            BudgetAccount(
                provider, scope: scopes[provider], limit: limit, reserve: reserves[provider] ?? .calls(0), at: now)
        }
        timeout = terms.timeout
        log = BudgetLog(of: name, fleet: fleet ?? scopes.values.compactMap(\.fleet).first, terms: terms, at: now)
    }

    // MARK: - State

    /// True once the log is read: before, the remaining calls are not known.
    public var isReady: Bool { log.isReady }

    /// True when the log must be read from an older record on: see `begin`.
    public var needsOlderRecords: Bool { log.needsOlderRecords }

    /// The state of the log; empty until `isReady`.
    public var ledger: BudgetLedger { isReady ? log.ledger : BudgetLedger() }

    /// Returns the state of a provider's present day; a new one where no call is reserved yet.
    public func today(of provider: String) -> (label: String, day: BudgetLedger.Day)? {
        index(of: provider).flatMap { today($0) }
    }

    func index(of provider: String) -> Int? { accounts.firstIndex { $0.provider == provider } }

    func today(_ index: Int) -> (label: String, day: BudgetLedger.Day)? {
        let account = accounts[index]
        guard let label = account.reservation.day?.label, isReady else { return nil }
        return (label, log.ledger.day(label, of: account.scope) ?? BudgetLedger.Day(limit: account.reservation.limit))
    }

    /// Returns the providers of whose budget four fifths were taken by this member, each once. Over the fleet there is one
    /// such member for each day and budget.
    public func takeWarnings() -> [String] {
        defer { warnings = [] }
        return warnings
    }

    /// Takes the account of a provider whose key was replaced while this member runs. The next message tells the fleet
    /// that the new key's calls count with the old one's.
    public func renewScope(_ new: QuotaScope, of provider: String) {
        guard let index = index(of: provider), accounts[index].scope != new else { return }
        let former = accounts[index].scope
        if let old = former.key, let key = new.key, new.fleet == former.fleet {
            renewals.append(BudgetMessage.Renewal(provider: provider, fleet: new.fleet, old: old, new: key))
        }
        accounts[index].scope = new
    }

    // MARK: - The log

    /// Begins to read the log, or begins anew.
    public func begin(_ extent: FleetTopicExtent, at now: Instant) {
        // The fate of messages under way is not known any more. The calls that they asked for are lost, as in a crash.
        sent = []
        for index in accounts.indices { accounts[index].reservation.forgetAsked() }
        log.begin(extent, at: now)
        if extent.isRemade, log.isReady { settled = now + terms.settling }
    }

    /// Takes the next record.
    /// - Parameter message: `nil` for a record that is not about budgets.
    public func read(_ message: BudgetMessage?, at offset: Int64, now: Instant) {
        guard let message else { return log.skip(offset, now: now) }
        if let applied = log.read(message, at: offset, now: now) { take(applied, of: message, now: now) }
    }

    /// Takes in the consequence of a record of the log.
    private func take(_ applied: BudgetLog.Applied, of message: BudgetMessage, now: Instant) {
        // These calls were granted by a ledger that did not know what was taken earlier in the day.
        if applied.isSnapshotTakenOver {
            for index in accounts.indices { _ = accounts[index].reservation.remove(accounts[index].reservation.held) }
        }
        if applied.effect != nil, questions.count < Self.mostQuestions, isToBeAnswered(message) {
            questions.append(message.sender)
        }
        if let order = message.order { giveUpCalls(beyond: order) }

        if message.sender == name {
            guard let effect = applied.effect else { return }
            settle(message.number, effect: effect, at: now)
        } else {
            for entry in message.entries where entry.take > 0 && isOwn(entry.scope) {
                if let index = index(of: entry.provider) { accounts[index].others[message.sender] = now }
            }
        }
    }

    /// Takes in the grants to a message of this member. Older messages that it has not read back are ignored from now on.
    private func settle(_ number: UInt64, effect: BudgetLedger.Effect, at now: Instant) {
        warnings += effect.warned
        timeout = terms.timeout
        for index in accounts.indices { accounts[index].reservation.noteAnswer(at: now, idle: terms.idle) }

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
                    // The record may be another's, under this member's name and number.
                    let granted = position < effect.granted.count ? effect.granted[position] : 0
                    accounts[index].reservation.receive(granted, askedFor: entry.take, on: entry.day)
                }
            }
        }
    }

    // MARK: - Messages

    /// Takes the provider's day, in place of the one before. To be called before `tick`.
    public func setDay(_ day: BudgetDay, of provider: String) {
        guard let index = index(of: provider) else { return }
        accounts[index].reservation.begin(day)
    }

    /// Looks at the clock, and returns the message that is due. To be called a few times a second, and at once when a
    /// call waits or a record was read.
    /// - Returns: a message to append to the log; `nil` when there is none.
    public func tick(at now: Instant) -> BudgetMessage? {
        for index in accounts.indices { accounts[index].reservation.measurePace(at: now, idle: terms.idle) }
        guard isReady else { return nil }
        for index in accounts.indices {
            let provider = accounts[index].provider
            if !isFull(index) {
                full.remove(provider)
            } else if full.insert(provider).inserted {
                warnings.append(provider)
            }
        }
        if let lastSent, lastSent.duration(to: now) < terms.shortestPause { return nil }

        // One message at a time, unless it seems to be lost.
        if let newest = sent.last {
            guard newest.time.duration(to: now) >= timeout else { return nil }
            timeout = min(timeout * 2, terms.longestTimeout)
            if sent.count >= Self.mostUnread { return repeatNewest(at: now) }
            for index in accounts.indices { accounts[index].reservation.forgetAsked() }
        }

        forgetOthers(at: now)
        let reserves = accounts.indices.map { reservation($0, at: now) }
        let returns = accounts.indices.map { excess($0, at: now) }
        let isReportDue = accounts.contains { account in
            account.reservation.madeSince.map { $0.duration(to: now) >= terms.report * slowness } ?? false
        }
        // While messages have not come back, another one is due even if there is nothing new: once that one has come back, the
        // earlier ones are known to be lost, and their contents are published again.
        guard
            !sent.isEmpty || isReportDue || log.isSnapshotDue(at: now) || !questions.isEmpty || !renewals.isEmpty
                || reserves.contains(where: { $0 > 0 }) || returns.contains(where: { $0 > 0 })
        else {
            return nil
        }

        var entries: [BudgetMessage.Entry] = []
        for index in accounts.indices {
            entries += self.entries(index, take: reserves[index], giveBack: returns[index])
        }
        return send(entries, snapshot: log.isSnapshotDue(at: now), at: now)
    }

    /// The most messages that are remembered until they are read back. Beyond it the newest is published again, because a
    /// topic that takes nothing for a day would else cost memory all day.
    private static let mostUnread = 8

    private func repeatNewest(at now: Instant) -> BudgetMessage? {
        guard let newest = sent.popLast() else { return nil }
        sent.append(Sent(message: newest.message, time: now))
        lastSent = now
        return newest.message
    }

    /// True while this member's messages do not come back and more calls are needed: requests that began now would wait
    /// in vain.
    ///
    /// A provider that was not asked of late, or whose day has nothing left, does not count: it would hold up the
    /// requests of all others.
    public func isTimedOut(at now: Instant) -> Bool {
        guard let oldest = sent.first, oldest.time.duration(to: now) >= terms.timeout else { return false }
        return accounts.indices.contains {
            accounts[$0].reservation.held == 0 && accounts[$0].reservation.isInDemand && !isUsedUp($0, at: now)
        }
    }

    /// The time until `tick` should be called, if nothing happens before.
    public func nextTick(at now: Instant) -> Duration {
        // Of a used-up day nothing can be reserved, however much is wanted: the usual tick is enough.
        guard isReady, sent.isEmpty, let lastSent,
            accounts.indices.contains(where: { reservation($0, at: now) > 0 })
        else {
            return terms.tick
        }
        return min(terms.tick, max(.milliseconds(1), terms.shortestPause - lastSent.duration(to: now)))
    }

    /// Returns the last message: this member makes no call from here on.
    /// - Returns: `nil` when there is nothing to say.
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
            snapshot: isSnapshot ? log.snapshot : nil,
            renewals: renewals.isEmpty ? nil : renewals, answers: questions.isEmpty ? nil : questions.removeFirst())
        sent.append(Sent(message: message, time: now))
        lastSent = now
        return message
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
