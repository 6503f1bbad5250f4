public import Basics

/// One member of a fleet that goes by daily budgets: the calls it may make, and what it tells the others.
///
/// A member reserves calls in the log before it makes them. All that it may make it has read there, granted, so the fleet
/// never makes more calls than a budget has; docs/budgets.md says why.
///
/// Does no I/O and reads no clock. Not `Sendable`: it belongs to one owner, which hands it records and moments.
public final class BudgetMember {
    /// How much of the log is read.
    private enum Reading {
        case notBegun
        /// Reads what was there when it began; nothing is known before the end.
        case history
        /// The history that was read holds no state, and there is an older one.
        case tooShort
        case live
    }

    private struct Sent {
        var message: BudgetMessage
        var time: Instant
    }

    /// The member's name; see `BudgetMessage.sender`.
    public let name: String
    /// The providers that have a budget, in the order of their names.
    public let providers: [String]
    /// The account of each of them, by the key that is in use.
    private var scopes: [QuotaScope]
    /// Replacements of keys that no message of ours has been read back with.
    private var renewals: [BudgetMessage.Renewal] = []
    /// The senders of questions that are still to be answered.
    private var questions: [String] = []

    private let terms: BudgetTerms
    private let random: Double
    private var reservations: [BudgetReservation]
    private var ledgerRead = BudgetLedger()
    /// What was known before the log was begun anew, until it is read again.
    private var ledgerBefore: BudgetLedger?
    private var reading = Reading.notBegun
    private var history = BudgetHistory(first: 0, end: 0, oldest: 0)
    /// The offset of the last record that was read.
    private var lastOffset: Int64 = -1
    private var number: UInt64 = 0
    private var lastSent: Instant?
    /// Our messages that have not come back yet, oldest first.
    private var sent: [Sent] = []
    private var timeout: Duration
    /// When each other member reserved last, by provider.
    private var others: [String: [String: Instant]] = [:]
    private var base: (offset: Int64, time: Instant)
    private var hasChangedSinceBase = false
    /// True while the state stands nowhere in the topic, because that was made anew.
    private var isBaseLost = false
    /// What was read of a topic in which no state stands yet: the first that comes there is taken over. `nil` once one stands
    /// there.
    private var stateless: BudgetHistory?
    /// Providers of whose budget four fifths were taken by a message of ours, to be told once.
    private var warnings: [String] = []

    /// - Parameters:
    ///   - name: unique in the fleet and for this start of the process.
    ///   - budgets: the calls of a day, by provider.
    ///   - scopes: the account of each provider; one that is missing has the widest.
    public init(
        name: String, budgets: [String: Int], scopes: [String: QuotaScope] = [:], terms: BudgetTerms = BudgetTerms(),
        at now: Instant
    ) {
        self.name = name
        self.terms = terms
        providers = budgets.keys.sorted()
        self.scopes = providers.map { scopes[$0] ?? QuotaScope(provider: $0) }
        reservations = providers.map { BudgetReservation(limit: budgets[$0] ?? 0, at: now) }
        timeout = terms.timeout
        base = (-1, now)
        // Spreads members without a source of randomness: one of them writes the state before the others would.
        random = Double(name.utf8.reduce(5381) { ($0 &* 33) ^ UInt32(truncatingIfNeeded: $1) } % 1000) / 1000
    }

    // MARK: - What is known

    /// True once the log is read: before, nobody knows what is left.
    public var isReady: Bool {
        if case .live = reading { true } else { false }
    }

    /// True when the log must be read from an older record on: see `begin`.
    public var needsOlderRecords: Bool {
        if case .tooShort = reading { true } else { false }
    }

    /// What the log says; empty until `isReady`.
    public var ledger: BudgetLedger { isReady ? ledgerRead : BudgetLedger() }

    /// Returns the state of a provider's present day. Where nobody has reserved a call yet nothing is taken.
    public func today(of provider: String) -> (label: String, day: BudgetLedger.Day)? {
        providers.firstIndex(of: provider).flatMap { today($0) }
    }

    func today(_ index: Int) -> (label: String, day: BudgetLedger.Day)? {
        guard let label = reservations[index].day?.label, isReady else { return nil }
        return (label, ledgerRead.day(label, of: scopes[index]) ?? BudgetLedger.Day(limit: reservations[index].limit))
    }

    /// Returns the providers of whose budget four fifths were taken by this member, each once. Over the fleet there is one
    /// such member for each day and budget.
    public func takeWarnings() -> [String] {
        defer { warnings = [] }
        return warnings
    }

    /// Returns whether a message is about this member's accounts.
    public func relation(of message: BudgetMessage) -> ScopeRelation {
        let named =
            message.entries.map(\.scope) + [message.order?.scope].compactMap(\.self)
            + (message.renewals ?? []).map { QuotaScope(provider: $0.provider, fleet: $0.fleet) }
        guard !named.isEmpty else { return .own }
        if named.contains(where: { $0.fleet == nil }) {
            return scopes.contains { $0.fleet == nil } ? .own : .unscoped
        }
        return named.contains(where: isOwn) ? .own : .foreign
    }

    /// Returns true for an account of this member, and for a provider of its fleet of which it keeps no budget.
    private func isOwn(_ scope: QuotaScope) -> Bool {
        guard let index = providers.firstIndex(of: scope.provider) else {
            return scopes.first.map { $0.fleet == scope.fleet } ?? false
        }
        return scope.fleet == scopes[index].fleet
            && (scope.key == nil || ledgerRead.isSameAccount(scope, scopes[index]))
    }

    /// Takes the account of a provider whose key was replaced while this member runs. The fleet is told with the next message
    /// that the new key's calls count with the old one's.
    public func renewScope(_ new: QuotaScope, of provider: String) {
        guard let index = providers.firstIndex(of: provider), scopes[index] != new else { return }
        if let old = scopes[index].key, let key = new.key, new.fleet == scopes[index].fleet {
            renewals.append(BudgetMessage.Renewal(provider: provider, fleet: new.fleet, old: old, new: key))
        }
        scopes[index] = new
    }

    // MARK: - Calls

    /// Takes one call at once.
    /// - Parameter index: of the provider in `providers`.
    /// - Returns: the day it counts for, as a number for `putBack` and `noteMade`; `nil` when none is held.
    @inline(__always)
    func tryTake(_ index: Int, at now: Instant) -> Int? {
        reservations[index].tryTake(at: now) ? reservations[index].epoch : nil
    }

    /// Takes back a call that was not made.
    func putBack(_ index: Int, epoch: Int) { reservations[index].putBack(epoch: epoch) }

    /// True while a call that was taken may still be made: its day lasts.
    func isCurrent(_ index: Int, epoch: Int, at now: Instant) -> Bool {
        reservations[index].epoch == epoch && reservations[index].day.map { now < $0.end } ?? false
    }

    /// Counts a call that begins.
    func noteMade(_ index: Int, _ kind: String, epoch: Int, at now: Instant) {
        reservations[index].noteMade(kind, epoch: epoch, at: now)
    }

    /// Says how many calls wait.
    func setWaiting(_ count: Int, of index: Int) { reservations[index].waiting = count }

    /// True when no call can be had any more today: nothing is held, asked for or left.
    func isUsedUp(_ index: Int, at now: Instant) -> Bool {
        guard isReady, let day = reservations[index].day, now < day.end else { return false }
        return reservations[index].held == 0 && reservations[index].asked == 0
            && left(index, on: day) == 0
    }

    /// True when another call may be had at once or by asking for it.
    func hasAnyLeft(_ index: Int) -> Bool {
        guard isReady, let day = reservations[index].day else { return false }
        return reservations[index].held > 0 || left(index, on: day) > 0
    }

    /// The time until the provider's next day; `nil` before the first look.
    func timeToNextDay(_ index: Int, at now: Instant) -> Duration? {
        reservations[index].day.map { max(.milliseconds(1), now.duration(to: $0.end)) }
    }

    /// True when something is to be said soon: less than half of what is wanted is there.
    func wantsMore(_ index: Int) -> Bool {
        let reservation = reservations[index]
        return reservation.waiting > reservation.asked
            || (reservation.held + reservation.asked) * 2 < wanted(reservation)
    }

    // MARK: - The log

    /// Begins to read the log, or begins anew.
    /// - Parameters:
    ///   - first: the offset of the first record to come; `end` where there is none.
    ///   - end: one past the newest record there is.
    ///   - oldest: the offset of the oldest record there is.
    ///   - isRemade: true when the topic was deleted and made again, so that nothing of what was read stands in it any more.
    public func begin(
        first: Int64, end: Int64, oldest: Int64, isRemade: Bool = false, at now: Instant
    ) {
        // What became of messages under way cannot be told any more. What they asked for is lost, as in a crash.
        sent = []
        for index in reservations.indices { reservations[index].forgetAsked() }
        lastOffset = first.saturatingSubtracting(1)

        if isReady { ledgerBefore = ledgerRead }
        // The new topic knows nothing of the day so far. Members that do go on from there, and write it down.
        if isRemade, let known = ledgerBefore {
            (ledgerRead, ledgerBefore, reading) = (known, nil, .live)
            base = (lastOffset, now)
            (hasChangedSinceBase, isBaseLost) = (true, true)
            stateless = BudgetHistory(first: first, end: end, oldest: oldest)
            return
        }

        history = BudgetHistory(first: first, end: end, oldest: oldest)
        ledgerRead = BudgetLedger()
        base = (lastOffset, now)
        reading = .history
        endHistory(at: now)
    }

    /// Takes the next record.
    /// - Parameter message: `nil` for a record that says nothing about budgets.
    public func read(_ message: BudgetMessage?, at offset: Int64, now: Instant) {
        guard offset > lastOffset else { return }
        lastOffset = offset

        switch reading {
        case .notBegun, .tooShort: return
        case .history:
            history.note(offset)
            if let message { history.add(message, at: offset) }
            endHistory(at: now)
        case .live:
            if let message { apply(message, at: offset, now: now) }
        }
    }

    private func endHistory(at now: Instant) {
        guard lastOffset + 1 >= history.end else { return }
        guard !history.isTooShort else { return reading = .tooShort }

        ledgerRead = history.ledger
        ledgerBefore = nil
        reading = .live
        stateless = history.baseOffset == nil ? history : nil
        if let offset = history.baseOffset { base = (offset, now) }
        hasChangedSinceBase = true
        history = BudgetHistory(first: 0, end: 0, oldest: 0)
    }

    private func apply(_ message: BudgetMessage, at offset: Int64, now: Instant) {
        if message.base != nil {
            base = (offset, now)
            (hasChangedSinceBase, isBaseLost) = (false, false)
        }
        if !message.entries.isEmpty || message.order != nil { hasChangedSinceBase = true }
        if isPutBack(.orderIgnored), message.order != nil, random < 0.5 { return }
        let effect = ledgerRead.apply(message, at: offset)
        takeOverState(from: message, at: offset)
        if let question = message.question, effect != nil, isAbout(question), questions.count < Self.mostQuestions {
            questions.append(message.sender)
        }

        if message.sender == name {
            guard let effect else { return }
            settle(message.number, effect, at: now)
        } else {
            for entry in message.entries where entry.take > 0 && isOwn(entry.scope) {
                others[entry.provider, default: [:]][message.sender] = now
            }
        }
    }

    /// Takes over the first state that is written to a topic that held none.
    ///
    /// In a topic that was read from its beginning that changes nothing. In one that was made anew, a member that began before
    /// the others had written the day's count down takes nothing for counted. What it was given by that count it gives up.
    private func takeOverState(from message: BudgetMessage, at offset: Int64) {
        guard stateless != nil else { return }
        stateless?.note(offset)
        stateless?.add(message, at: offset)
        guard let known = stateless, known.baseOffset != nil else { return }

        stateless = nil
        guard known.ledger != ledgerRead else { return }
        ledgerRead = known.ledger
        for index in reservations.indices { _ = reservations[index].remove(reservations[index].held) }
    }

    /// More questions at once come from no person.
    private static let mostQuestions = 16

    private func isAbout(_ question: BudgetMessage.Question) -> Bool {
        providers.firstIndex(of: question.provider).map { scopes[$0].fleet == question.fleet } ?? false
    }

    /// Takes what a message of ours was given. Older ones that have not come back are ignored from now on.
    private func settle(_ number: UInt64, _ effect: BudgetLedger.Effect, at now: Instant) {
        warnings += effect.warned
        timeout = terms.timeout
        for index in reservations.indices { reservations[index].noteAnswer(at: now, idle: terms.idle) }

        while let oldest = sent.first, oldest.message.number <= number {
            sent.removeFirst()
            if oldest.message.number == number {
                let told = oldest.message.renewals ?? []
                renewals.removeAll { told.contains($0) }
            }
            for (position, entry) in oldest.message.entries.enumerated() {
                guard let index = providers.firstIndex(of: entry.provider) else { continue }
                if oldest.message.number < number {
                    reservations[index].restore(entry, at: now)
                } else {
                    reservations[index].receive(effect.granted[position], askedFor: entry.take, on: entry.day)
                }
            }
        }
    }

    // MARK: - What is said

    /// Takes the provider's day, in place of the one before. To be called before `tick`.
    public func setDay(_ day: BudgetDay, of provider: String) {
        guard let index = providers.firstIndex(of: provider) else { return }
        reservations[index].begin(day)
    }

    /// Looks at the clock, and says what is to be said now. To be called a few times a second, and at once when a call waits
    /// or a record was read.
    /// - Returns: a message to append to the log; `nil` when there is none.
    public func tick(at now: Instant) -> BudgetMessage? {
        for index in reservations.indices { reservations[index].measurePace(at: now, idle: terms.idle) }
        guard isReady else { return nil }
        if let lastSent, lastSent.duration(to: now) < terms.shortestPause { return nil }

        // One message at a time, unless it seems to be lost.
        if let newest = sent.last {
            guard newest.time.duration(to: now) >= timeout else { return nil }
            timeout = min(timeout * 2, terms.longestTimeout)
            if sent.count >= Self.mostUnread { return repeatNewest(at: now) }
            for index in reservations.indices { reservations[index].forgetAsked() }
        }

        forgetOthers(at: now)
        let reserves = reservations.indices.map { reservation($0, at: now) }
        let returns = reservations.indices.map { excess($0, at: now) }
        let isReportDue = reservations.contains { reservation in
            reservation.madeSince.map { $0.duration(to: now) >= terms.report * slowness } ?? false
        }
        // The next message that comes back tells that those before it are lost, and what they said is said again.
        guard
            !sent.isEmpty || isReportDue || isBaseDue(at: now) || !questions.isEmpty || !renewals.isEmpty
                || reserves.contains(where: { $0 > 0 }) || returns.contains(where: { $0 > 0 })
        else {
            return nil
        }

        var entries: [BudgetMessage.Entry] = []
        for index in reservations.indices {
            entries += self.entries(index, take: reserves[index], giveBack: returns[index])
        }
        return send(entries, base: isBaseDue(at: now), at: now)
    }

    /// So many messages that do not come back are remembered. In place of a further one, the newest is said again: a topic
    /// that takes nothing for a day would else cost memory all day.
    private static let mostUnread = 8

    private func repeatNewest(at now: Instant) -> BudgetMessage? {
        guard let newest = sent.popLast() else { return nil }
        sent.append(Sent(message: newest.message, time: now))
        lastSent = now
        return newest.message
    }

    /// True while our messages do not come back and calls are lacking: what begins then would wait in vain.
    ///
    /// A provider that nobody has asked for of late, or whose day has nothing left, lacks none: it would else hold up the
    /// requests of all others.
    public func isTimedOut(at now: Instant) -> Bool {
        guard let oldest = sent.first, oldest.time.duration(to: now) >= terms.timeout else { return false }
        return reservations.indices.contains {
            reservations[$0].held == 0 && reservations[$0].isInDemand && !isUsedUp($0, at: now)
        }
    }

    /// The time until `tick` should be called, if nothing happens before.
    public func nextTick(at now: Instant) -> Duration {
        // A day that is used up has nothing to ask for, however much is wanted: then the clock is looked at as usual.
        guard isReady, sent.isEmpty, let lastSent,
            reservations.indices.contains(where: { reservation($0, at: now) > 0 })
        else {
            return terms.tick
        }
        return min(terms.tick, max(.milliseconds(1), terms.shortestPause - lastSent.duration(to: now)))
    }

    /// Returns the last message: this member makes no call from here on.
    /// - Returns: `nil` when there is nothing to say.
    public func leave(at now: Instant) -> BudgetMessage? {
        guard isReady else { return nil }
        let entries = reservations.indices.flatMap { self.entries($0, take: 0, giveBack: reservations[$0].held) }
        return entries.isEmpty ? nil : send(entries, base: false, at: now)
    }

    private func send(
        _ entries: [BudgetMessage.Entry], base isBase: Bool, at now: Instant
    ) -> BudgetMessage {
        number += 1
        let message = BudgetMessage(
            sender: name, number: number, entries: entries,
            base: isBase ? BudgetMessage.Base(offset: lastOffset, ledger: ledgerRead) : nil,
            renewals: renewals.isEmpty ? nil : renewals, answers: questions.isEmpty ? nil : questions.removeFirst())
        sent.append(Sent(message: message, time: now))
        lastSent = now
        return message
    }

    /// Returns what is to be said of one provider, one entry a day.
    private func entries(_ index: Int, take: Int, giveBack: Int) -> [BudgetMessage.Entry] {
        guard let today = reservations[index].day?.label else { return [] }
        var made = reservations[index].takeMade()

        func entry(_ day: String) -> BudgetMessage.Entry {
            BudgetMessage.Entry(
                scopes[index], day: day, limit: reservations[index].limit, made: made.removeValue(forKey: day) ?? [:])
        }
        var now = entry(today)
        now.take = take
        now.giveBack = reservations[index].remove(giveBack)
        reservations[index].ask(take)

        let before = made.keys.sorted().map(entry)
        return now.take + now.giveBack > 0 || !now.made.isEmpty ? before + [now] : before
    }

    // MARK: - How much

    /// The number of members that have reserved calls of late, this one among them.
    private func sharers(of provider: String) -> Int { 1 + (others[provider]?.count ?? 0) }

    /// By how much more slowly than in a small fleet this member speaks, so that the topic carries about as much whatever the
    /// size of the fleet.
    private var slowness: Int { max(1, (providers.map { sharers(of: $0) }.max() ?? 1) / terms.talkers) }

    private func forgetOthers(at now: Instant) {
        let memory = terms.memory * slowness
        for (provider, members) in others where members.contains(where: { $0.value.duration(to: now) > memory }) {
            others[provider] = members.filter { $0.value.duration(to: now) <= memory }
        }
    }

    /// The calls that a member would like to hold, those that are asked for included.
    private func wanted(_ reservation: BudgetReservation) -> Int {
        reservation.waiting
            + Int(saturating: min(reservation.pace * (terms.ahead * slowness).inSeconds, 1e9).rounded(.up))
    }

    /// True while so little is left of a day that nobody should hold more than needed.
    private func isScarce(_ left: Int, of reservation: BudgetReservation) -> Bool { left < reservation.limit / 5 }

    private func left(_ index: Int, on day: BudgetDay) -> Int {
        ledgerRead.left(of: scopes[index], on: day.label, limit: reservations[index].limit)
    }

    /// Returns how many calls to ask for: what is wanted, but a small part of what is left, so that little is stranded by a
    /// crash and all members have the last calls in turn.
    private func reservation(_ index: Int, at now: Instant) -> Int {
        guard wantsMore(index), let day = reservations[index].day, now < day.end else { return 0 }
        let (reservation, left) = (reservations[index], left(index, on: day))
        guard left > 0 else { return 0 }

        let aim = isScarce(left, of: reservation) ? wanted(reservation) : max(wanted(reservation), terms.smallestBlock)
        let share = max(1, left / (terms.reserve * sharers(of: providers[index])))
        return min(max(0, aim - reservation.held - reservation.asked), share)
    }

    /// Returns how many calls are held that this member does not need and others may.
    private func excess(_ index: Int, at now: Instant) -> Int {
        let reservation = reservations[index]
        guard reservation.held > 0, reservation.waiting == 0, let day = reservation.day,
            isScarce(left(index, on: day), of: reservation)
        else {
            return 0
        }
        if reservation.lastTake.duration(to: now) >= terms.idle { return reservation.held }
        return max(0, reservation.held - 2 * wanted(reservation) - 1)
    }

    /// Returns true when this member should write the state. Each waits a little longer than the one before, so that one does.
    private func isBaseDue(at now: Instant) -> Bool {
        let (records, time) = (lastOffset.saturatingSubtracting(base.offset), base.time.duration(to: now))
        return isBaseLost || Double(records) >= Double(terms.baseRecords) * (1 + random / 4)
            || hasChangedSinceBase && time >= terms.baseAge * (1 + random / 4)
    }
}
