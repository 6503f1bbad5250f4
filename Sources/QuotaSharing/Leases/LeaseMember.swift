public import Basics

/// One member of a fleet that shares rate limits by demand: the share that it may use now, and the messages that it
/// publishes.
///
/// A member's partitions give it a share of each limit. It leases the part for which it has no demand to members with
/// more demand, for a second and a half at a time. docs/fleet.md says why the sum never exceeds a limit.
///
/// Does no I/O and reads no clock. Not `Sendable`: it belongs to one owner, which hands it messages and moments.
public final class LeaseMember {
    /// The newest message of another member.
    private struct Peer {
        var message: LeaseMessage
        var received: Instant
    }

    /// The member's name; see `LeaseMessage.sender`.
    public let name: String

    private let terms: LeaseTimes
    private var own: OwnShare
    private var demands: [String: Double] = [:]
    private var tables: [String: LeaseTable]
    private var peers: [String: Peer] = [:] { didSet { prospects = [:] } }
    /// The results of `prospect(of:)`, kept until a partition or a message changes them.
    private var prospects: [String: Double] = [:]
    /// The time at which each of this member's newest messages was sent, by its number.
    private var sent: [UInt64: Instant] = [:]
    private var number: UInt64 = 0
    private var lastSent: Instant?
    /// The demands in the last published message, so that a change is noticed.
    private var publishedDemands: [String: Double] = [:]
    private var hasNews = true
    /// The usable part of the own share at the last tick.
    private var lastUsable = 0.0
    /// The time of the last plan. In a large fleet a plan costs more than reading a message.
    private var planned: Instant?
    private static let planningPause = Duration.milliseconds(20)
    /// The time at which some member's demand began to exceed its share, by limit.
    private var shortageBegan: [String: Instant] = [:]

    /// - Parameters:
    ///   - name: unique in the fleet and for this start of the process.
    ///   - limits: the names of the limits that are shared.
    public init(name: String, limits: [String], terms: LeaseTimes = LeaseTimes(), at now: Instant) {
        self.name = name
        self.terms = terms
        own = OwnShare(terms, at: now)
        tables = Dictionary(limits.map { ($0, LeaseTable(terms)) }, uniquingKeysWith: { first, _ in first })
    }

    /// Uses another name for a limit from now on, because its key was replaced. Leases are kept until they end, so that
    /// the share of a lease to another member is not used meanwhile.
    public func rename(_ limit: String, to new: String) {
        guard limit != new, let table = tables.removeValue(forKey: limit) else { return }
        tables[new] = table
        demands[new] = demands.removeValue(forKey: limit)
        shortageBegan[limit] = nil
        publishedDemands[limit] = nil
        hasNews = true
    }

    /// Returns the relation of a message to this member's limits.
    public func relation(of message: LeaseMessage) -> ScopeRelation {
        if message.limits.isEmpty || message.limits.keys.contains(where: { tables[$0] != nil }) { return .own }
        let (named, own) = (message.limits.keys.map(QuotaScope.init), tables.keys.map(QuotaScope.init))
        if named.contains(where: { $0.fleet == nil }) { return .unscoped }

        // Another provider of the same fleet, whose limit is not shared here.
        let isOfFleet = named.contains { scope in
            own.contains { $0.fleet == scope.fleet } && !own.contains { $0.provider == scope.provider }
        }
        return isOfFleet ? .own : .foreign
    }

    // MARK: - Shares

    /// Returns the share of a limit that may be used at a moment, 0 to 1.
    public func share(of limit: String, at now: Instant) -> Double {
        guard let table = tables[limit] else { return 0 }
        if isPutBack(.lessorKeepsLease) { return min(1, own.usable(at: now) + table.leasedIn(at: now)) }
        return min(1, max(0, own.usable(at: now) - table.leasedOut(at: now)) + table.leasedIn(at: now))
    }

    /// Returns the next moment at which the share may shrink although no message arrives. The share must not be used
    /// beyond that moment without asking again.
    public func shareEnd(of limit: String, after now: Instant) -> Instant {
        min(own.attentiveUntil, tables[limit]?.ends(after: now) ?? own.attentiveUntil)
    }

    /// Returns the share that this member would have within two seconds if it had demand for all that it can get, 0 to 1.
    /// It is an estimate: other members may have more demand by then.
    public func prospect(of limit: String) -> Double {
        if let known = prospects[limit] { return known }
        let prospect = makeProspect(of: limit)
        prospects[limit] = prospect
        return prospect
    }

    private func makeProspect(of limit: String) -> Double {
        let others = peers.values.compactMap { peer in
            peer.message.limits[limit].map { peer.message.ownShare - $0.demand }
        }
        let spare = others.reduce(0) { $0 + max(0, $1) }
        let mine = 1 - own.settled
        let level = LeasePlan.level(of: others.map { max(0, -$0) } + [mine], sharing: spare)
        return own.settled + min(mine, level)
    }

    /// The time until the next tick is due.
    public var nextTick: Duration { demands.values.contains { $0 > 0 } ? terms.busyTick : terms.tick }

    /// True while this member has partitions and may use nothing yet, because it waits as a new owner does.
    public func isSettling(at now: Instant) -> Bool {
        own.owned > 0 && own.usable(at: now) == 0 && tables.values.allSatisfy { $0.leasedIn(at: now) == 0 }
    }

    // MARK: - Events

    /// Takes the partitions that the group gave this member, in place of any others. A loss must be reported here before
    /// the member acknowledges it to the group.
    /// - Parameter wasTaken: true when partitions were taken away without a revocation.
    public func assign(
        _ partitions: some Sequence<Int32>, of count: Int, wasTaken: Bool = false, at now: Instant
    ) {
        if own.assign(partitions, of: count, wasTaken: wasTaken, at: now) { hasNews = true }
        prospects = [:]
    }

    /// Sets the fraction of a limit that this member could use: 0 to 1.
    public func setDemand(_ demand: Double, of limit: String) { demands[limit] = min(max(demand, 0), 1) }

    /// Takes in a message of the topic, which may be late, doubled, or out of order.
    public func receive(_ message: LeaseMessage, at now: Instant) {
        guard message.sender != name, relation(of: message) == .own else { return }
        if let known = peers[message.sender], known.message.number > message.number { return }
        peers[message.sender] = message.isLast ? nil : Peer(message: message, received: now)

        for (limit, said) in message.limits {
            for grant in said.grants where grant.lessee == name {
                guard let asked = sent[grant.answering] else { continue }
                let isLess = tables[limit]?.take(
                    grant.share, from: message.sender, number: message.number, asked: asked)
                if isLess == true { hasNews = true }
            }
            if let acknowledged = said.acknowledged[name] {
                tables[limit]?.forgetLeases(to: message.sender, olderThan: acknowledged)
            }
            if let returned = said.returned[name] {
                tables[limit]?.endLeases(to: message.sender, upTo: returned)
            }
        }
    }

    /// Looks at the clock, and returns the message that is due. To be called at least every `LeaseTimes.tick`, and after
    /// each message that was received.
    /// - Returns: a message to send at once; `nil` when it is not time for one.
    public func tick(at now: Instant) -> LeaseMessage? {
        own.tick(at: now)
        noteOwnShare(at: now)
        guard hasNews || planned.map({ now - $0 >= Self.planningPause }) ?? true else { return nil }
        planned = now
        if peers.values.contains(where: { now - $0.received >= terms.memory }) {
            peers = peers.filter { now - $0.value.received < terms.memory }
        }

        let plans = tables.keys.reduce(into: [:]) { plans, limit in plans[limit] = plan(of: limit, at: now) }
        guard isTimeToPublish(plans, at: now) else { return nil }
        return makeMessage(plans, at: now)
    }

    /// Publishes at once when partitions become usable: until then the others take this member for one without a share to
    /// lease out.
    private func noteOwnShare(at now: Instant) {
        let usable = own.usable(at: now)
        if usable > lastUsable { hasNews = true }
        lastUsable = usable
    }

    /// Returns the last message: this member uses nothing from here on.
    public func leave(at now: Instant) -> LeaseMessage {
        _ = own.assign([], of: own.partitionCount, wasTaken: false, at: now)
        prospects = [:]
        number += 1
        return LeaseMessage(
            sender: name, number: number, owned: 0, partitionCount: own.partitionCount, isLast: true)
    }

    // MARK: - Messages

    /// This member's view of one limit, and the consequences.
    private struct View {
        /// The leases that this member should grant.
        var leases: [(lessee: String, share: Double)] = []
        /// True when this member's demand exceeds its share.
        var isShort = false
        /// True when some member's share exceeds its demand.
        var hasLessors = false
    }

    private func plan(of limit: String, at now: Instant) -> View {
        let mine = LeasePlan.Member(name: name, own: own.usable(at: now), demand: demands[limit] ?? 0)
        var members = [mine]
        for peer in peers.values {
            guard let said = peer.message.limits[limit] else { continue }
            var member = LeasePlan.Member(
                name: peer.message.sender, own: peer.message.ownShare, demand: said.demand)
            // Members short of quota publish every 0.4 s. One that is silent for longer is gone, or has no more demand.
            let isFresh = now - peer.received < terms.freshness
            if !isFresh, member.demand > member.own { member.demand = member.own }
            members.append(member)
        }

        let isAnyShort = members.contains { $0.demand > $0.own + LeaseTable.least }
        shortageBegan[limit] = isAnyShort ? shortageBegan[limit] ?? now : nil

        // Lessors publish every 0.4 s too while a member is short of quota. One that is silent for longer is gone.
        if let began = shortageBegan[limit], now - began > terms.freshness {
            members.removeAll { member in
                guard let peer = peers[member.name] else { return false }
                return member.own > member.demand && now - peer.received >= terms.freshness
            }
        }

        return View(
            leases: isAnyShort && !isPutBack(.nothingLeased) ? LeasePlan(members).leases[name] ?? [] : [],
            isShort: mine.demand > mine.own + LeaseTable.least,
            hasLessors: members.contains { $0.own > $0.demand + LeaseTable.least })
    }

    private func isTimeToPublish(_ views: [String: View], at now: Instant) -> Bool {
        guard let lastSent else { return true }
        let silence = now - lastSent
        guard silence >= terms.shortestPause else { return false }
        if silence >= terms.idlePace || hasNews { return true }

        for (limit, view) in views {
            let demand = demands[limit] ?? 0
            if (demand - (publishedDemands[limit] ?? 0)).magnitude > 0.05 { return true }
            if view.isShort, silence >= (view.hasLessors ? terms.pace : terms.slowPace) { return true }
            if !view.leases.isEmpty, silence >= terms.pace || isAwaited(view.leases, limit, at: now) { return true }
        }
        return false
    }

    /// True when a lessee waits for more than this member has leased to it, and this member has it, or can ask another
    /// lessee for it.
    private func isAwaited(
        _ leases: [(lessee: String, share: Double)], _ limit: String, at now: Instant
    ) -> Bool {
        guard let table = tables[limit] else { return false }
        let waitsForMore = leases.contains { $0.share > table.leasedOut(to: $0.lessee, at: now) + Self.noticeable }
        guard waitsForMore else { return false }

        let leasedOut = table.leasedOut(at: now)
        let free = own.usable(at: now) - (demands[limit] ?? 0) - leasedOut
        let agreed = leases.reduce(0) { $0 + min($1.share, table.newestLease(to: $1.lessee, at: now)) }
        return free > Self.noticeable || table.newestLeases(at: now) > agreed + Self.noticeable
    }

    /// A smaller fraction of a limit is not worth a message before its time.
    private static let noticeable = 0.01

    private func makeMessage(_ views: [String: View], at now: Instant) -> LeaseMessage {
        number += 1
        sent[number] = now
        sent = sent.filter { now - $0.value < terms.lease }
        (lastSent, hasNews) = (now, false)

        var message = LeaseMessage(
            sender: name, number: number, owned: own.owned, partitionCount: own.partitionCount)
        for (limit, view) in views {
            let demand = demands[limit] ?? 0
            publishedDemands[limit] = demand
            let missing = max(0, demand - own.usable(at: now))
            let returned = tables[limit]?.giveBack(leaving: missing, at: now) ?? [:]
            message.limits[limit] = LeaseMessage.Limit(
                demand: demand, grants: grants(view, limit: limit, at: now),
                acknowledged: tables[limit]?.acknowledged(at: now) ?? [:],
                returned: returned)
        }
        return message
    }

    private func grants(_ view: View, limit: String, at now: Instant) -> [LeaseMessage.Grant] {
        let spare = own.usable(at: now) - (demands[limit] ?? 0)
        let grants = tables[limit]?.leaseOut(view.leases, outOf: spare, number: number, at: now) { lessee in
            peers[lessee]?.message.number
        }
        return grants ?? []
    }
}
