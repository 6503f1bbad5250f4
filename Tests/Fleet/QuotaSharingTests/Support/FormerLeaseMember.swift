import Basics
import Resilience

@testable import QuotaSharing

/// One member of a fleet that shares rate limits by demand, as it was in the version before classes, to the letter.
///
/// A member's partitions give it a share of each limit. It leases the part for which it has no demand to members with
/// more demand, for a second and a half at a time. docs/internals/fleet.md says why the sum never exceeds a limit.
///
/// Does no I/O and reads no clock. Not `Sendable`: it belongs to one owner, which hands it messages and moments.
final class FormerLeaseMember: LeasingMember {
    /// One of the limits that are shared.
    struct Limit {
        var name: String
        var table: LeaseTable
        var demand = 0.0
        /// The demand in the last published message, so that a change is noticed.
        var publishedDemand = 0.0
        /// The time at which some member's demand began to exceed its share; `nil` while none does.
        var shortageBegan: Instant?
        /// `LoopShare.prospect`, kept until a partition or a message changes it.
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
    let name: String

    let terms: LeaseTimes
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
    init(name: String, limits: [String], terms: LeaseTimes = LeaseTimes(), at now: Instant) {
        self.name = name
        self.terms = terms
        (busyTick, idleTick) = (terms.busyTick, terms.tick)
        own = OwnShare(terms, at: now)
        self.limits = Set(limits).sorted().map { Limit(name: $0, table: LeaseTable(terms)) }
    }

    private func index(of limit: String) -> Int? { limits.firstIndex { $0.name == limit } }

    private func states(in message: LeaseMessage) -> [LeaseMessage.Limit?] { limits.map { message.limits[$0.name] } }

    private func forgetProspects() {
        for index in limits.indices { limits[index].prospect = nil }
    }

    // MARK: - Shares

    /// Returns the share of a limit that may be used at a moment, and what is expected of it.
    func loopShare(of limit: String, at now: Instant) -> LoopShare {
        guard let index = index(of: limit) else { return LoopShare(share: 0, end: own.attentiveUntil, prospect: 0) }
        return LoopShare(
            share: share(of: index, at: now), end: shareEnd(of: index, after: now), prospect: prospect(of: index))
    }

    /// Returns the share of a limit that may be used at a moment, 0 to 1.
    func share(of limit: String, at now: Instant) -> Double {
        index(of: limit).map { share(of: $0, at: now) } ?? 0
    }

    private func share(of index: Int, at now: Instant) -> Double {
        let (usable, leasedIn) = (own.usable(at: now), limits[index].table.leasedIn(at: now))
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
            peer.states[index].map { peer.message.ownShare - $0.demand }
        }
        let spare = others.reduce(0) { $0 + max(0, $1) }
        let mine = 1 - own.settled
        let level = FormerLeasePlan.level(of: others.map { max(0, -$0) } + [mine], sharing: spare)
        return own.settled + min(mine, level)
    }

    /// The time until the next tick is due.
    var nextTick: Duration { limits.contains { $0.demand > 0 } ? busyTick : idleTick }

    /// True while this member has partitions and may use nothing yet, because it waits as a new owner does.
    func isSettling(at now: Instant) -> Bool {
        own.owned > 0 && own.usable(at: now) == 0 && limits.allSatisfy { $0.table.leasedIn(at: now) == 0 }
    }

    // MARK: - Events

    /// Takes the partitions that the group gave this member, in place of any others. A loss must be reported here before
    /// the member acknowledges it to the group.
    /// - Parameter wasTaken: true when partitions were taken away without a revocation.
    func assign(
        _ partitions: some Sequence<Int32>, of count: Int, wasTaken: Bool = false, at now: Instant
    ) {
        if own.assign(partitions, of: count, wasTaken: wasTaken, at: now) { hasNews = true }
        forgetProspects()
    }

    /// Sets the fraction of a limit that this member could use: 0 to 1.
    func setDemand(_ demand: LimitDemand, of limit: String) {
        if let index = index(of: limit) { limits[index].demand = demand.total }
    }

    /// Takes in a message of the topic, which may be late, doubled, or out of order.
    func receive(_ message: LeaseMessage, at now: Instant) {
        guard message.sender != name else { return }
        if let known = peers[message.sender], known.message.number > message.number { return }
        let states = states(in: message)
        peers[message.sender] = message.isLast ? nil : Peer(message: message, received: now, states: states)

        for (index, state) in states.enumerated() {
            guard let state else { continue }
            for grant in state.grants where grant.lessee == name {
                guard let asked = sent[grant.answering] else { continue }
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
    func tick(at now: Instant) -> LeaseMessage? {
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
    func leave(at now: Instant) -> LeaseMessage {
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
            let missing = max(0, demand - own.usable(at: now))
            let returned = limits[index].table.giveBack(leaving: missing, at: now)
            message.limits[limits[index].name] = LeaseMessage.Limit(
                demand: demand, grants: grants(view, index, at: now),
                acknowledged: limits[index].table.acknowledged(at: now), returned: returned)
        }
        return message
    }

    private func grants(_ view: View, _ index: Int, at now: Instant) -> [LeaseMessage.Grant] {
        let spare = own.usable(at: now) - limits[index].demand
        return limits[index].table.leaseOut(view.leases, outOf: spare, number: number, at: now) { lessee in
            peers[lessee]?.message.number
        }
    }
}

extension FormerLeaseMember {
    /// This member's view of one limit, and the consequences.
    struct View {
        /// The leases that this member should grant.
        var leases: [(lessee: String, share: Double)] = []
        /// True when this member's demand exceeds its share.
        var isShort = false
        /// True when some member's share exceeds its demand.
        var hasLessors = false
    }

    /// - Parameter index: of the limit in `limits`.
    func view(of index: Int, at now: Instant) -> View {
        let mine = FormerLeasePlan.Member(name: name, own: own.usable(at: now), demand: limits[index].demand)
        let freshness = terms.freshness
        var members = [mine]
        for peer in peers.values {
            guard let state = peer.states[index] else { continue }
            var member = FormerLeasePlan.Member(
                name: peer.message.sender, own: peer.message.ownShare, demand: state.demand)
            // Members short of quota publish every 0.4 s. One that has been silent for three times that is gone, or is short no more.
            let isFresh = now - peer.received < freshness
            if !isFresh, member.demand > member.own { member.demand = member.own }
            members.append(member)
        }

        let isAnyShort = members.contains { $0.demand > $0.own + LeaseTable.least }
        limits[index].shortageBegan = isAnyShort ? limits[index].shortageBegan ?? now : nil

        // Lessors publish every 0.4 s too while a member is short of quota. One that has been silent for longer is gone.
        if let began = limits[index].shortageBegan, now - began > freshness {
            members.removeAll { member in
                guard let peer = peers[member.name] else { return false }
                return member.own > member.demand && now - peer.received >= freshness
            }
        }

        return View(
            leases: isAnyShort ? FormerLeasePlan(members).leases[name] ?? [] : [],
            isShort: mine.demand > mine.own + LeaseTable.least,
            hasLessors: members.contains { $0.own > $0.demand + LeaseTable.least })
    }

    /// - Parameter views: of all limits, in their order.
    func isTimeToPublish(_ views: [View], at now: Instant) -> Bool {
        guard let lastSent else { return true }
        let silence = now - lastSent
        guard silence >= terms.shortestPause else { return false }
        if silence >= terms.idlePace || hasNews { return true }

        for (limit, view) in zip(limits, views) {
            if (limit.demand - limit.publishedDemand).magnitude > 0.05 { return true }
            if view.isShort, silence >= (view.hasLessors ? terms.pace : terms.slowPace) { return true }
            if !view.leases.isEmpty, silence >= terms.pace || isAwaited(view.leases, of: limit, at: now) { return true }
        }
        return false
    }

    /// True when a lessee waits for more than this member has leased to it, and this member has it, or can ask another
    /// lessee for it.
    private func isAwaited(
        _ leases: [(lessee: String, share: Double)], of limit: Limit, at now: Instant
    ) -> Bool {
        let table = limit.table
        let waitsForMore = leases.contains { $0.share > table.leasedOut(to: $0.lessee, at: now) + Self.noticeable }
        guard waitsForMore else { return false }

        let leasedOut = table.leasedOut(at: now)
        let free = own.usable(at: now) - limit.demand - leasedOut
        let agreed = leases.reduce(0) { $0 + min($1.share, table.newestLease(to: $1.lessee, at: now)) }
        return free > Self.noticeable || table.newestLeases(at: now) > agreed + Self.noticeable
    }

    /// A smaller fraction of a limit is not worth a message before its time.
    private static let noticeable = 0.01
}

struct FormerLeasePlan {
    /// A member's own share and its demand.
    struct Member: Equatable {
        var name: String
        var own: Double
        var demand: Double
    }

    /// The leases that each lessor should grant, by lessee.
    private(set) var leases: [String: [(lessee: String, share: Double)]] = [:]

    /// Gives the spare shares to the members whose demand exceeds their share: equally, but to none more than its demand.
    ///
    /// Lessees and lessors stand in the order of their names along one line, each with its amount, and each lessor leases
    /// to the lessees beside it. So a lessor has few lessees, whatever the size of the fleet.
    init(_ members: [Member]) {
        let members = members.sorted { $0.name < $1.name }
        let lessors = members.map { ($0.name, max(0, $0.own - $0.demand)) }.filter { $0.1 > LeaseTable.least }
        let wishes = members.map { ($0.name, max(0, $0.demand - $0.own)) }.filter { $0.1 > LeaseTable.least }
        guard !lessors.isEmpty, !wishes.isEmpty else { return }

        let spare = lessors.reduce(0) { $0 + $1.1 }
        let level = Self.level(of: wishes.map(\.1), sharing: spare)
        var lessees = wishes.map { ($0.0, min($0.1, level)) }[...]

        for (lessor, share) in lessors {
            var left = share
            while left > LeaseTable.least, let (lessee, wish) = lessees.first {
                let given = min(left, wish)
                leases[lessor, default: []].append((lessee, given))
                left -= given

                lessees[lessees.startIndex].1 -= given
                if lessees[lessees.startIndex].1 <= LeaseTable.least { lessees.removeFirst() }
            }
        }
    }

    /// Returns the largest amount for one wish with which all wishes together get `sum`; infinite when there is enough
    /// for all.
    static func level(of wishes: [Double], sharing sum: Double) -> Double {
        var left = sum
        let sorted = wishes.sorted()
        for (index, wish) in sorted.enumerated() {
            let equal = left / Double(sorted.count - index)
            if wish >= equal { return equal }
            left -= wish
        }
        return .infinity
    }
}
