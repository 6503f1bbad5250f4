public import Basics

/// One member of a fleet that shares rate limits by demand: the share that it may use now, and the messages that it
/// publishes.
///
/// A member's partitions give it a share of each limit. It leases the part for which it has no demand to members with
/// more demand, for a second and a half at a time. docs/internals/fleet.md says why the sum never exceeds a limit.
///
/// Does no I/O and reads no clock. Not `Sendable`: it belongs to one owner, which hands it messages and moments.
public final class LeaseMember {
    /// One of the limits that are shared.
    struct Limit {
        var name: String
        var table: LeaseTable
        var demand = LimitDemand.none
        /// The demand in the last published message, so that a change is noticed.
        var publishedDemand = LimitDemand.none
        /// The time at which some member's demand began to exceed its share; `nil` while none does.
        var shortageBegan: Instant?
        /// `LoopShare.prospect`, kept until a partition, a message or this member's demand changes it.
        var prospect: Double?
    }

    /// The newest message of another member.
    struct Peer {
        var message: LeaseMessage
        var received: Instant
        /// The message's state of each of `limits`, in their order.
        var states: [LeaseMessage.Limit?]
    }

    /// The member's name; see `LeaseMessage.sender`.
    public let name: String

    let terms: LeaseTimes
    /// See `LeasePlan.usualBatchFloor`.
    let batchFloor: Double
    private let (busyTick, idleTick): (Duration, Duration)
    var own: OwnShare
    /// A member shares one or two limits, so looking through all is faster than a dictionary.
    var limits: [Limit]
    var peers: [String: Peer] = [:] { didSet { forgetProspects() } }
    /// The time at which each of this member's newest messages was sent, by its number.
    private var sent: [UInt64: Instant] = [:]
    private var number: UInt64 = 0
    var lastSent: Instant?
    var hasNews = true
    /// The usable part of the own share at the last tick.
    private var lastUsable = 0.0
    /// The time of the last plan. In a large fleet a plan costs more than reading a message.
    private var planned: Instant?
    private static let planningPause = Duration.milliseconds(20)

    /// - Parameters:
    ///   - name: unique in the fleet and for this start of the process.
    ///   - limits: the names of the limits that are shared.
    ///   - batchFloor: the part of its own share that a member with batch work keeps for it. `nil`: the usual one.
    public init(
        name: String, limits: [String], batchFloor: Double? = nil, terms: LeaseTimes = LeaseTimes(), at now: Instant
    ) {
        self.name = name
        self.terms = terms
        self.batchFloor = batchFloor ?? LeasePlan.usualBatchFloor
        (busyTick, idleTick) = (terms.busyTick, terms.tick)
        own = OwnShare(terms, at: now)
        self.limits = Set(limits).sorted().map { Limit(name: $0, table: LeaseTable(terms)) }
    }

    /// Uses another name for a limit from now on, because its key was replaced. Leases are kept until they end, so that
    /// the share of a lease to another member is not used meanwhile.
    public func rename(_ limit: String, to new: String) {
        guard limit != new, let old = index(of: limit) else { return }
        limits[old] = Limit(name: new, table: limits[old].table, demand: limits[old].demand)
        limits = limits.enumerated().filter { $0.offset == old || $0.element.name != new }.map(\.element)
        for (sender, peer) in peers { peers[sender]?.states = states(in: peer.message) }
        hasNews = true
    }

    private func index(of limit: String) -> Int? { limits.firstIndex { $0.name == limit } }

    private func states(in message: LeaseMessage) -> [LeaseMessage.Limit?] { limits.map { message.limits[$0.name] } }

    private func forgetProspects() {
        for index in limits.indices { limits[index].prospect = nil }
    }

    /// Returns the relation of a message to this member's limits.
    public func relation(of message: LeaseMessage) -> ScopeRelation {
        if message.limits.isEmpty || limits.contains(where: { message.limits[$0.name] != nil }) { return .own }
        let (named, own) = (message.limits.keys.map(QuotaScope.init), limits.map { QuotaScope(name: $0.name) })
        if named.contains(where: { $0.fleet == nil }) { return .unscoped }

        // Another provider of the same fleet, whose limit is not shared here.
        let isOfFleet = named.contains { scope in
            own.contains { $0.fleet == scope.fleet } && !own.contains { $0.provider == scope.provider }
        }
        return isOfFleet ? .own : .foreign
    }

    // MARK: - Shares

    /// Returns the share of a limit that may be used at a moment, and what is expected of it.
    public func loopShare(of limit: String, at now: Instant) -> LoopShare {
        guard let index = index(of: limit) else { return LoopShare(share: 0, end: own.attentiveUntil, prospect: 0) }
        return LoopShare(
            share: share(of: index, at: now), end: shareEnd(of: index, after: now), prospect: prospect(of: index))
    }

    /// Returns the share of a limit that may be used at a moment, 0 to 1.
    public func share(of limit: String, at now: Instant) -> Double {
        index(of: limit).map { share(of: $0, at: now) } ?? 0
    }

    private func share(of index: Int, at now: Instant) -> Double {
        let (usable, leasedIn) = (own.usable(at: now), limits[index].table.leasedIn(at: now))
        if isPutBack(.lessorKeepsLease) { return min(1, usable + leasedIn) }
        return min(1, max(0, usable - limits[index].table.leasedOut(at: now)) + leasedIn)
    }

    /// Returns `LoopShare.end`.
    private func shareEnd(of index: Int, after now: Instant) -> Instant {
        min(own.attentiveUntil, limits[index].table.ends(after: now) ?? own.attentiveUntil)
    }

    /// Returns `LoopShare.prospect`.
    private func prospect(of index: Int) -> Double {
        if let known = limits[index].prospect { return known }
        let prospect = makeProspect(of: index)
        limits[index].prospect = prospect
        return prospect
    }

    private func makeProspect(of index: Int) -> Double {
        let others = peers.values.compactMap { peer in
            peer.states[index].map { LeasePlan.Member(peer.message, $0) }
        }
        let wish = LimitDemand(1, interactiveTenants: limits[index].demand.interactiveTenants)
        let mine = LeasePlan.Member(name: name, own: own.settled, demand: wish)
        return LeasePlan.divide(among: others + [mine], batchFloor: batchFloor).last?.interactive ?? 0
    }

    /// The time until the next tick is due.
    public var nextTick: Duration { limits.contains { $0.demand.total > 0 } ? busyTick : idleTick }

    /// True while this member may use nothing of any limit: it waits as a new owner does, or it has none of the partitions by which
    /// limits are shared, and no other member has quota to lease out. Such a member has requests of other topics all the same, which
    /// would be refused one after another for want of quota.
    public func isSettling(at now: Instant) -> Bool {
        guard own.owned > 0 || own.partitionCount == 0 else {
            return limits.indices.allSatisfy {
                share(of: $0, at: now) <= LeaseTable.least && prospect(of: $0) <= LeaseTable.least
            }
        }
        return own.owned > 0 && own.usable(at: now) == 0 && limits.allSatisfy { $0.table.leasedIn(at: now) == 0 }
    }

    // MARK: - Events

    /// Takes the partitions that the group gave this member, in place of any others. A loss must be reported here before
    /// the member acknowledges it to the group.
    /// - Parameter wasTaken: true when partitions were taken away without a revocation.
    public func assign(
        _ partitions: some Sequence<Int32>, of count: Int, wasTaken: Bool = false, at now: Instant
    ) {
        if own.assign(partitions, of: count, wasTaken: wasTaken, at: now) { hasNews = true }
        forgetProspects()
    }

    /// Sets what this member could use of a limit.
    public func setDemand(_ demand: LimitDemand, of limit: String) {
        guard let index = index(of: limit) else { return }
        let former = limits[index].demand
        limits[index].demand = demand
        // With batch work or tenants, a prospect depends on this member's own demand.
        let isOfOneKind = demand.batch == 0 && former.batch == 0 && demand.interactiveTenants == 1
        if !isOfOneKind || former.interactiveTenants > 1 { limits[index].prospect = nil }
    }

    /// Takes in a message of the topic, which may be late, doubled, or out of order.
    public func receive(_ message: LeaseMessage, at now: Instant) {
        guard message.sender != name, relation(of: message) == .own else { return }
        if let known = peers[message.sender], known.message.number > message.number { return }
        let states = states(in: message)
        peers[message.sender] = message.isLast ? nil : Peer(message: message, received: now, states: states)

        for (index, state) in states.enumerated() {
            guard let state else { continue }
            for grant in state.grants where grant.lessee == name {
                guard let asked = sent[grant.inReplyTo] else { continue }
                let isLess = limits[index].table.take(
                    grant.share, from: message.sender, number: message.number, asked: asked)
                if isLess { hasNews = true }
            }
            if let acknowledged = state.acknowledged[name] {
                limits[index].table.forgetLeases(to: message.sender, olderThan: acknowledged)
            }
            if let returned = state.returned[name] {
                limits[index].table.endLeases(to: message.sender, upTo: returned)
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

        let views = limits.indices.map { view(of: $0, at: now) }
        guard isTimeToPublish(views, at: now) else { return nil }
        return makeMessage(views, at: now)
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
        forgetProspects()
        number += 1
        return LeaseMessage(
            sender: name, number: number, owned: 0, partitionCount: own.partitionCount, isLast: true)
    }

    // MARK: - Messages

    private func makeMessage(_ views: [View], at now: Instant) -> LeaseMessage {
        number += 1
        sent[number] = now
        sent = sent.filter { now - $0.value < terms.lease }
        (lastSent, hasNews) = (now, false)

        var message = LeaseMessage(
            sender: name, number: number, owned: own.owned, partitionCount: own.partitionCount)
        for (index, view) in views.enumerated() {
            let demand = limits[index].demand
            limits[index].publishedDemand = demand
            // A member that leases out needs no lease, even if it has demand for batch requests.
            let missing = view.isLessor ? 0 : max(0, demand.total - own.usable(at: now))
            let returned = limits[index].table.giveBack(leaving: missing, at: now)
            message.limits[limits[index].name] = LeaseMessage.Limit(
                of: demand, grants: grants(view, index, at: now),
                acknowledged: limits[index].table.acknowledged(at: now), returned: returned)
        }
        return message
    }

    private func grants(_ view: View, _ index: Int, at now: Instant) -> [LeaseMessage.Grant] {
        let spare = own.usable(at: now) - view.kept
        return limits[index].table.leaseOut(view.leases, outOf: spare, number: number, at: now) { lessee in
            peers[lessee]?.message.number
        }
    }
}
