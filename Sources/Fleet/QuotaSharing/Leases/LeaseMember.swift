public import Basics

/// One member of a fleet that shares rate limits by demand: the share that it may use now, and the messages that it
/// publishes.
///
/// A member's partitions give it a share of each limit. It leases the part for which it has no demand to members with
/// more demand. Each lease lasts 1.5 s. docs/internals/fleet.md explains why the sum never exceeds a limit.
///
/// Does no I/O and reads no clock. Not `Sendable`: it belongs to one owner, which passes it messages and times.
public final class LeaseMember {
    /// A shared limit.
    struct Limit {
        var name: String
        var table: LeaseTable
        var demand = LimitDemand.none
        /// The demand in the last published message, to detect a change.
        var publishedDemand = LimitDemand.none
        /// The time since which some member's demand has exceeded its share; `nil` if there is no shortage.
        var shortageBegan: Instant?
        /// The cached `LoopShare.prospect`, until a partition, a message or the number of tenants changes it.
        var prospect: Double?
    }

    /// The newest message of another member.
    struct Peer {
        var message: LeaseMessage
        var received: Instant
        /// The state of each of `limits` in the message, in their order.
        var states: [LeaseMessage.Limit?]
    }

    /// The member's name; see `LeaseMessage.sender`.
    public let name: String

    /// See `LeasePlan.usualBatchFloor`.
    let batchFloor: Double
    var own: OwnShare
    /// An array, because a member shares one or two limits and a linear search is faster than a dictionary.
    var limits: [Limit]
    var peers: [String: Peer] = [:] { didSet { forgetProspects() } }
    /// The times at which this member sent its recent messages, by their numbers.
    private var sent: [UInt64: Instant] = [:]
    private var number: UInt64 = 0
    var lastSent: Instant?
    /// True if the others must receive a message as soon as `LeaseTimes.shortestPause` permits.
    var mustPublish = true
    /// The usable part of the own share at the last tick.
    private var lastUsable = 0.0
    /// The time of the last plan. In a large fleet, a plan costs more than reading a message.
    private var planned: Instant?
    private static let planningPause = Duration.milliseconds(20)

    /// - Parameters:
    ///   - name: unique in the fleet and for this start of the process.
    ///   - limits: the names of the shared limits.
    ///   - batchFloor: the fraction of a share that its owner keeps for its batch work. `nil`: the default.
    public init(name: String, limits: [String], batchFloor: Double? = nil, at now: Instant) {
        self.name = name
        self.batchFloor = batchFloor ?? LeasePlan.usualBatchFloor
        own = OwnShare(at: now)
        self.limits = Set(limits).sorted().map { Limit(name: $0, table: LeaseTable()) }
    }

    private func index(of limit: String) -> Int? { limits.firstIndex { $0.name == limit } }

    private func states(in message: LeaseMessage) -> [LeaseMessage.Limit?] { limits.map { message.limits[$0.name] } }

    private func forgetProspects() {
        for index in limits.indices { limits[index].prospect = nil }
    }

    // MARK: - Shares

    /// Returns the share of a limit that may be used now, and its expected development.
    public func loopShare(of limit: String, at now: Instant) -> LoopShare {
        guard let index = index(of: limit) else { return LoopShare(share: 0, end: own.tickDeadline, prospect: 0) }
        let end = min(own.tickDeadline, limits[index].table.ends(after: now) ?? own.tickDeadline)
        return LoopShare(share: share(of: index, at: now), end: end, prospect: prospect(of: index))
    }

    /// Returns the share of a limit that may be used now, 0 to 1.
    private func share(of index: Int, at now: Instant) -> Double {
        let (usable, leasedIn) = (own.usable(at: now), limits[index].table.leasedIn(at: now))
        return min(1, max(0, usable - limits[index].table.leasedOut(at: now)) + leasedIn)
    }

    /// Returns `LoopShare.prospect`.
    private func prospect(of index: Int) -> Double {
        if let known = limits[index].prospect { return known }
        let others = peers.values.compactMap { peer in
            peer.states[index].map { LeasePlan.Member(peer.message, $0) }
        }
        let wish = LimitDemand(1, interactiveTenants: limits[index].demand.interactiveTenants)
        let mine = LeasePlan.Member(name: name, own: own.settled, demand: wish)
        let prospect = LeasePlan.divide(among: others + [mine], batchFloor: batchFloor).last?.interactive ?? 0
        limits[index].prospect = prospect
        return prospect
    }

    /// The time until the next tick.
    public var nextTick: Duration { limits.contains { $0.demand.total > 0 } ? LeaseTimes.busyTick : LeaseTimes.tick }

    /// True while this member may use no part of any limit. Either it waits as a new owner does, or it owns no
    /// partitions of the shared topic and no other member has quota to lease out. Requests of other topics must wait
    /// meanwhile; otherwise each would be refused for lack of quota.
    public func isSettling(at now: Instant) -> Bool {
        guard own.owned > 0 || own.partitionCount == 0 else {
            return limits.indices.allSatisfy {
                share(of: $0, at: now) <= LeaseTable.least && prospect(of: $0) <= LeaseTable.least
            }
        }
        return own.owned > 0 && own.usable(at: now) == 0 && limits.allSatisfy { $0.table.leasedIn(at: now) == 0 }
    }

    // MARK: - Events

    /// Sets the partitions assigned to this member, replacing the previous ones. Report a revocation here before the
    /// member acknowledges it to the group.
    /// - Parameter wasTaken: true if partitions were lost without a revocation.
    public func assign(_ partitions: some Sequence<Int32>, of count: Int, wasTaken: Bool = false, at now: Instant) {
        if own.assign(partitions, of: count, wasTaken: wasTaken, at: now) { mustPublish = true }
        forgetProspects()
    }

    /// Sets this member's demand for a limit.
    public func setDemand(_ demand: LimitDemand, of limit: String) {
        guard let index = index(of: limit) else { return }
        // Of this member's own demand, the prospect depends on the tenants only.
        if demand.interactiveTenants != limits[index].demand.interactiveTenants { limits[index].prospect = nil }
        limits[index].demand = demand
    }

    /// Processes a message of the topic, which may be late, duplicated, or out of order.
    public func receive(_ message: LeaseMessage, at now: Instant) {
        guard message.sender != name else { return }
        if let known = peers[message.sender], known.message.number > message.number { return }
        let states = states(in: message)
        peers[message.sender] = message.isLast ? nil : Peer(message: message, received: now, states: states)

        for (index, state) in states.enumerated() {
            guard let state else { continue }
            for grant in state.grants where grant.lessee == name {
                guard let requestTime = sent[grant.inReplyTo] else { continue }
                let isLess = limits[index].table.applyGrant(
                    of: grant.share, from: message.sender, number: message.number, requestTime: requestTime)
                if isLess { mustPublish = true }
            }
            if let acknowledged = state.acknowledged[name] {
                limits[index].table.endLeases(to: message.sender, olderThan: acknowledged)
            }
            if let returned = state.returned[name] { limits[index].table.endLeases(to: message.sender, upTo: returned) }
        }
    }

    /// Updates the state for the current time, and returns the message that is due. Call it at least every
    /// `LeaseTimes.tick`, and after each received message.
    /// - Returns: a message to publish at once; `nil` if none is due.
    public func tick(at now: Instant) -> LeaseMessage? {
        own.tick(at: now)
        noteOwnShare(at: now)
        guard mustPublish || planned.map({ now - $0 >= Self.planningPause }) ?? true else { return nil }
        planned = now
        if peers.values.contains(where: { now - $0.received >= LeaseTimes.memory }) {
            peers = peers.filter { now - $0.value.received < LeaseTimes.memory }
        }

        let views = limits.indices.map { view(of: $0, at: now) }
        guard isTimeToPublish(views, at: now) else { return nil }
        return makeMessage(views, at: now)
    }

    /// Makes a message due when partitions become usable. Until then, the others assume that this member has no share
    /// to lease out.
    private func noteOwnShare(at now: Instant) {
        let usable = own.usable(at: now)
        if usable > lastUsable { mustPublish = true }
        lastUsable = usable
    }

    /// Returns the last message. After that, this member uses no quota.
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
        sent = sent.filter { now - $0.value < LeaseTimes.lease }
        (lastSent, mustPublish) = (now, false)

        var message = LeaseMessage(
            sender: name, number: number, owned: own.owned, partitionCount: own.partitionCount)
        for (index, view) in views.enumerated() {
            let demand = limits[index].demand
            limits[index].publishedDemand = demand
            // A lessor needs no lease, even if it has demand for batch requests.
            let missing = view.isLessor ? 0 : max(0, demand.total - own.usable(at: now))
            let returned = limits[index].table.returnLeases(leaving: missing, at: now)
            message.limits[limits[index].name] = LeaseMessage.Limit(
                demand: demand, grants: grants(view, index, at: now),
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
