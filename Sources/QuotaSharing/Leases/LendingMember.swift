public import Basics

/// One member of a fleet that shares limits by demand: what it may use now, and what it tells the others.
///
/// A member has the part of each limit that its partitions give it. What it does not need it lends to those who need more,
/// for a second and a half at a time. docs/fleet.md says why the sum never exceeds a limit.
///
/// Does no I/O and reads no clock. Not `Sendable`: it belongs to one owner, which hands it messages and moments.
public final class LendingMember {
    /// What another member said last.
    private struct Peer {
        var message: FleetMessage
        var heard: Instant
    }

    /// The member's name; see `FleetMessage.sender`.
    public let name: String

    private let terms: FleetTerms
    private var own: OwnPart
    private var needs: [String: Double] = [:]
    private var books: [String: LoanBook]
    private var peers: [String: Peer] = [:] { didSet { prospects = [:] } }
    /// What `prospect(of:)` has found, until a partition or what others say changes.
    private var prospects: [String: Double] = [:]
    /// When each of our newest messages was sent, by its number.
    private var sent: [UInt64: Instant] = [:]
    private var number: UInt64 = 0
    private var lastSent: Instant?
    /// What was said last, so that a change is noticed.
    private var saidNeeds: [String: Double] = [:]
    private var hasNews = true
    /// What of the own part could be used at the last look.
    private var lastUsable = 0.0
    /// When it was last thought about what to say. In a large fleet that costs more than to read a message.
    private var planned: Instant?
    private static let planningPause = Duration.milliseconds(20)
    /// Since when somebody lacks something, by limit.
    private var hungerBegan: [String: Instant] = [:]

    /// - Parameters:
    ///   - name: unique in the fleet and for this start of the process.
    ///   - limits: the names of the limits that are shared.
    public init(name: String, limits: [String], terms: FleetTerms = FleetTerms(), at now: Instant) {
        self.name = name
        self.terms = terms
        own = OwnPart(terms, at: now)
        books = Dictionary(limits.map { ($0, LoanBook(terms)) }, uniquingKeysWith: { first, _ in first })
    }

    /// Goes by another name of a limit from now on, because its key was replaced. Nothing that is lent is forgotten: what was
    /// borrowed ends with its time, and what was lent is held back as long.
    public func rename(_ limit: String, to new: String) {
        guard limit != new, let book = books.removeValue(forKey: limit) else { return }
        books[new] = book
        needs[new] = needs.removeValue(forKey: limit)
        hungerBegan[limit] = nil
        saidNeeds[limit] = nil
        hasNews = true
    }

    /// Returns whether a message is about this member's limits.
    public func relation(of message: FleetMessage) -> ScopeRelation {
        if message.limits.isEmpty || message.limits.keys.contains(where: { books[$0] != nil }) { return .own }
        let (named, own) = (message.limits.keys.map(QuotaScope.init), books.keys.map(QuotaScope.init))
        if named.contains(where: { $0.fleet == nil }) { return .unscoped }

        // Another provider of the same fleet, whose limit is not shared here.
        let isOfFleet = named.contains { scope in
            own.contains { $0.fleet == scope.fleet } && !own.contains { $0.provider == scope.provider }
        }
        return isOfFleet ? .own : .foreign
    }

    // MARK: - What may be used

    /// Returns the part of a limit that may be used at a moment, 0 to 1.
    public func part(of limit: String, at now: Instant) -> Double {
        guard let book = books[limit] else { return 0 }
        if isPutBack(.lenderKeepsLoan) { return min(1, own.usable(at: now) + book.borrowed(at: now)) }
        return min(1, max(0, own.usable(at: now) - book.lent(at: now)) + book.borrowed(at: now))
    }

    /// Returns the next moment at which the part may get smaller although nothing happens. Nobody may use the part beyond
    /// that moment without asking again.
    public func partHolds(of limit: String, after now: Instant) -> Instant {
        min(own.attentiveUntil, books[limit]?.ends(after: now) ?? own.attentiveUntil)
    }

    /// Returns the part that this member would have within two seconds if it needed all that it can get, 0 to 1. What it says
    /// is a hope: others may need more by then.
    public func prospect(of limit: String) -> Double {
        if let known = prospects[limit] { return known }
        let prospect = makeProspect(of: limit)
        prospects[limit] = prospect
        return prospect
    }

    private func makeProspect(of limit: String) -> Double {
        let others = peers.values.compactMap { peer in
            peer.message.limits[limit].map { peer.message.ownPart - $0.need }
        }
        let spare = others.reduce(0) { $0 + max(0, $1) }
        let mine = 1 - own.settled
        let level = LoanPlan.level(of: others.map { max(0, -$0) } + [mine], sharing: spare)
        return own.settled + min(mine, level)
    }

    /// The time until the next look at the clock is due.
    public var nextLook: Duration { needs.values.contains { $0 > 0 } ? terms.busyTick : terms.tick }

    /// True while this member has partitions and may use nothing yet, because it waits as a new owner does.
    public func isSettling(at now: Instant) -> Bool {
        own.owned > 0 && own.usable(at: now) == 0 && books.values.allSatisfy { $0.borrowed(at: now) == 0 }
    }

    // MARK: - What happens

    /// Takes the partitions that the group gave this member, in place of any others. Of a loss it must be told before the
    /// member acknowledges it to the group.
    /// - Parameter wasTaken: true when partitions were taken away without this member's word.
    public func assign(
        _ partitions: some Sequence<Int32>, of count: Int, wasTaken: Bool = false, at now: Instant
    ) {
        if own.assign(partitions, of: count, wasTaken: wasTaken, at: now) { hasNews = true }
        prospects = [:]
    }

    /// Says how much of a limit this member could use: 0 to 1.
    public func setNeed(_ need: Double, of limit: String) { needs[limit] = min(max(need, 0), 1) }

    /// Takes a message of the topic, which may be late, doubled, or out of order.
    public func receive(_ message: FleetMessage, at now: Instant) {
        guard message.sender != name, relation(of: message) == .own else { return }
        if let known = peers[message.sender], known.message.number > message.number { return }
        peers[message.sender] = message.isLast ? nil : Peer(message: message, heard: now)

        for (limit, said) in message.limits {
            for grant in said.grants where grant.borrower == name {
                guard let asked = sent[grant.answering] else { continue }
                let isLess = books[limit]?.borrow(
                    grant.part, from: message.sender, number: message.number, asked: asked)
                if isLess == true { hasNews = true }
            }
            if let heeded = said.heeded[name] {
                books[limit]?.forgetLoans(to: message.sender, olderThan: heeded)
            }
            if let returned = said.returned[name] {
                books[limit]?.endLoans(to: message.sender, upTo: returned)
            }
        }
    }

    /// Looks at the clock, and says what is to be said now. To be called at least every `FleetTerms.tick`, and after each
    /// message that was received.
    /// - Returns: a message to send at once; `nil` when it is not time for one.
    public func look(at now: Instant) -> FleetMessage? {
        own.look(at: now)
        noteOwnPart(at: now)
        guard hasNews || planned.map({ now - $0 >= Self.planningPause }) ?? true else { return nil }
        planned = now
        if peers.values.contains(where: { now - $0.heard >= terms.memory }) {
            peers = peers.filter { now - $0.value.heard < terms.memory }
        }

        let plans = books.keys.reduce(into: [:]) { plans, limit in plans[limit] = plan(of: limit, at: now) }
        guard isTimeToSpeak(plans, at: now) else { return nil }
        return speak(plans, at: now)
    }

    /// Has it said at once when partitions may be used that could not: the others took this member for one with nothing to
    /// lend.
    private func noteOwnPart(at now: Instant) {
        let usable = own.usable(at: now)
        if usable > lastUsable { hasNews = true }
        lastUsable = usable
    }

    /// Returns the last message: this member uses nothing from here on.
    public func leave(at now: Instant) -> FleetMessage {
        _ = own.assign([], of: own.partitionCount, wasTaken: false, at: now)
        prospects = [:]
        number += 1
        return FleetMessage(
            sender: name, number: number, owned: 0, partitionCount: own.partitionCount, isLast: true)
    }

    // MARK: - What is said

    /// What this member knows of one limit, and what follows for it.
    private struct View {
        /// What this member should lend.
        var loans: [(borrower: String, part: Double)] = []
        /// True when this member needs more than it has.
        var isHungry = false
        /// True when somebody has something to lend.
        var hasLenders = false
    }

    private func plan(of limit: String, at now: Instant) -> View {
        let mine = LoanPlan.Member(name: name, own: own.usable(at: now), need: needs[limit] ?? 0)
        var members = [mine]
        for peer in peers.values {
            guard let said = peer.message.limits[limit] else { continue }
            var member = LoanPlan.Member(
                name: peer.message.sender, own: peer.message.ownPart, need: said.need)
            // Who lacks something speaks often. One that does not has gone, or needs nothing any more.
            let isFresh = now - peer.heard < terms.freshness
            if !isFresh, member.need > member.own { member.need = member.own }
            members.append(member)
        }

        let isAnyHungry = members.contains { $0.need > $0.own + LoanBook.least }
        hungerBegan[limit] = isAnyHungry ? hungerBegan[limit] ?? now : nil

        // Who has something to lend speaks often as soon as somebody lacks something. One that does not has gone.
        if let began = hungerBegan[limit], now - began > terms.freshness {
            members.removeAll { member in
                guard let peer = peers[member.name] else { return false }
                return member.own > member.need && now - peer.heard >= terms.freshness
            }
        }

        return View(
            loans: isAnyHungry && !isPutBack(.nothingLent) ? LoanPlan(members).loans[name] ?? [] : [],
            isHungry: mine.need > mine.own + LoanBook.least,
            hasLenders: members.contains { $0.own > $0.need + LoanBook.least })
    }

    private func isTimeToSpeak(_ views: [String: View], at now: Instant) -> Bool {
        guard let lastSent else { return true }
        let silence = now - lastSent
        guard silence >= terms.shortestPause else { return false }
        if silence >= terms.idlePace || hasNews { return true }

        for (limit, view) in views {
            let need = needs[limit] ?? 0
            if (need - (saidNeeds[limit] ?? 0)).magnitude > 0.05 { return true }
            if view.isHungry, silence >= (view.hasLenders ? terms.pace : terms.patientPace) { return true }
            if !view.loans.isEmpty, silence >= terms.pace || isWaitedFor(view.loans, limit, at: now) { return true }
        }
        return false
    }

    /// True when a borrower waits for more than it has of us, and we have it, or can ask another borrower for it.
    private func isWaitedFor(
        _ loans: [(borrower: String, part: Double)], _ limit: String, at now: Instant
    ) -> Bool {
        guard let book = books[limit] else { return false }
        let waitsForMore = loans.contains { $0.part > book.lent(to: $0.borrower, at: now) + Self.noticeable }
        guard waitsForMore else { return false }

        let lent = book.lent(at: now)
        let free = own.usable(at: now) - (needs[limit] ?? 0) - lent
        let agreed = loans.reduce(0) { $0 + min($1.part, book.newestLoan(to: $1.borrower, at: now)) }
        return free > Self.noticeable || book.newestLoans(at: now) > agreed + Self.noticeable
    }

    /// Less of a limit than this is not worth a message before its time.
    private static let noticeable = 0.01

    private func speak(_ views: [String: View], at now: Instant) -> FleetMessage {
        number += 1
        sent[number] = now
        sent = sent.filter { now - $0.value < terms.loan }
        (lastSent, hasNews) = (now, false)

        var message = FleetMessage(
            sender: name, number: number, owned: own.owned, partitionCount: own.partitionCount)
        for (limit, view) in views {
            let need = needs[limit] ?? 0
            saidNeeds[limit] = need
            let missing = max(0, need - own.usable(at: now))
            let returned = books[limit]?.giveBack(leaving: missing, at: now) ?? [:]
            message.limits[limit] = FleetMessage.Limit(
                need: need, grants: grants(view, limit, at: now), heeded: books[limit]?.heeded(at: now) ?? [:],
                returned: returned)
        }
        return message
    }

    private func grants(_ view: View, _ limit: String, at now: Instant) -> [FleetMessage.Grant] {
        let spare = own.usable(at: now) - (needs[limit] ?? 0)
        let grants = books[limit]?.lend(view.loans, outOf: spare, number: number, at: now) { borrower in
            peers[borrower]?.message.number
        }
        return grants ?? []
    }
}
