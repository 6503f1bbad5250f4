internal import Basics

/// Derives from the newest messages which leases the member should grant, and when it should publish a message.
extension LeaseMember {
    /// This member's view of one limit, and the consequences.
    struct View {
        /// The leases that this member should grant.
        var leases: [(lessee: String, share: Double)] = []
        /// The usable share that this member keeps. It may lease out the rest.
        var kept: Double
        /// The part of the usable share that is for this member's interactive requests.
        var keptForInteractive: Double
        /// True if this member's demand exceeds its share.
        var isShort: Bool
        /// True if this member should use less than its own share.
        var isLessor: Bool
        /// True if any member should use less than its own share.
        var hasLessors: Bool
        /// True if any member has batch work, which yields to interactive demand.
        var hasBatch: Bool
    }

    /// - Parameter index: the index of the limit in `limits`.
    func view(of index: Int, at now: Instant) -> View {
        let mine = LeasePlan.Member(name: name, own: own.usable(at: now), demand: limits[index].demand)
        var members = [mine] + peers.values.compactMap { member($0, of: index, at: now) }

        let isAnyShort = members.contains { $0.isShort }
        limits[index].shortageBegan = isAnyShort ? limits[index].shortageBegan ?? now : nil
        let hasBatch = members.contains { $0.demand.batch > 0 }
        guard isAnyShort else {
            return View(
                kept: mine.demand.total, keptForInteractive: mine.demand.interactive, isShort: false,
                isLessor: mine.hasSpare, hasLessors: members.contains { $0.hasSpare }, hasBatch: hasBatch)
        }

        let plan = plan(for: &members, of: index, at: now)
        let target = plan.targets[name] ?? LeasePlan.Target()
        return View(
            leases: plan.leases[name] ?? [], kept: min(mine.own, target.total),
            keptForInteractive: min(mine.own, target.interactive), isShort: mine.isShort, isLessor: plan.isLessor(mine),
            hasLessors: members.contains(where: plan.isLessor), hasBatch: hasBatch)
    }

    /// Returns another member as input for the plan; `nil` if it does not share the limit.
    private func member(_ peer: Peer, of index: Int, at now: Instant) -> LeasePlan.Member? {
        guard let state = peer.states[index] else { return nil }
        var member = LeasePlan.Member(peer.message, state)
        // Members short of quota publish every 0.4 s. A member silent for three times that has gone, or is no longer
        // short.
        if member.demand.total > member.own, now - peer.received >= LeaseTimes.freshness {
            member.demand = member.demand.limited(to: member.own)
        }
        return member
    }

    /// Makes the plan of a limit for which some member is short of quota, without the members that are gone.
    ///
    /// Lessors publish every 0.4 s while a member is short of quota. A member silent for longer than `freshness` is
    /// treated as gone.
    private func plan(for members: inout [LeasePlan.Member], of index: Int, at now: Instant) -> LeasePlan {
        guard let began = limits[index].shortageBegan, now - began > LeaseTimes.freshness else {
            return LeasePlan(members, batchFloor: batchFloor)
        }
        func isSilent(_ member: LeasePlan.Member) -> Bool {
            peers[member.name].map { now - $0.received >= LeaseTimes.freshness } ?? false
        }

        members.removeAll { $0.own > $0.demand.total && isSilent($0) }
        let plan = LeasePlan(members, batchFloor: batchFloor)
        // Members that use their share for less urgent work than others are lessors too.
        let gone = members.filter { plan.isLessor($0) && isSilent($0) }
        guard !gone.isEmpty else { return plan }
        members.removeAll { gone.contains($0) }
        return LeasePlan(members, batchFloor: batchFloor)
    }

    /// - Parameter views: the views of all limits, in their order.
    func isTimeToPublish(_ views: [View], at now: Instant) -> Bool {
        guard let lastSent else { return true }
        let silence = now - lastSent
        guard silence >= LeaseTimes.shortestPause else { return false }
        if silence >= LeaseTimes.idlePace || mustPublish { return true }

        for (limit, view) in zip(limits, views) {
            if isDemandChanged(of: limit, view) || isNeededBack(of: limit, view, at: now) { return true }
            if view.isShort, silence >= (view.hasLessors ? LeaseTimes.pace : LeaseTimes.slowPace) { return true }
            if !view.leases.isEmpty, silence >= LeaseTimes.pace || isAwaited(view, of: limit, at: now) { return true }
        }
        return false
    }

    /// True if the others should receive this member's new demand at once.
    private func isDemandChanged(of limit: Limit, _ view: View) -> Bool {
        let (now, published) = (limit.demand, limit.publishedDemand)
        if (now.total - published.total).magnitude > 0.05 { return true }
        if (now.interactive - published.interactive).magnitude > 0.05 { return true }
        // Few interactive calls may be all that a member needs of the quota that others use for batch.
        return view.hasBatch && now.interactive - published.interactive > 2 * Self.noticeable
    }

    /// True if interactive requests of this member need quota that it has leased to others. It then requests the quota
    /// back at once instead of in the next regular message.
    private func isNeededBack(of limit: Limit, _ view: View, at now: Instant) -> Bool {
        view.hasBatch
            && view.keptForInteractive + limit.table.newestLeases(at: now) > own.usable(at: now) + Self.noticeable
    }

    /// True if a lessee waits for more than this member has leased to it, and this member has it, or can recall it from
    /// another lessee.
    private func isAwaited(_ view: View, of limit: Limit, at now: Instant) -> Bool {
        let table = limit.table
        let waitsForMore = view.leases.contains { $0.share > table.leasedOut(to: $0.lessee, at: now) + Self.noticeable }
        guard waitsForMore else { return false }

        let leasedOut = table.leasedOut(at: now)
        let free = own.usable(at: now) - view.kept - leasedOut
        let agreed = view.leases.reduce(0) { $0 + min($1.share, table.newestLease(to: $1.lessee, at: now)) }
        return free > Self.noticeable || table.newestLeases(at: now) > agreed + Self.noticeable
    }

    /// Changes below this fraction of a limit are not published before the next regular message.
    private static let noticeable = 0.01
}

extension LeasePlan.Member {
    init(_ message: LeaseMessage, _ state: LeaseMessage.Limit) {
        self.init(name: message.sender, own: message.ownShare, demand: state.demand)
    }

    /// True if its demand exceeds its share.
    var isShort: Bool { demand.total > own + LeaseTable.least }

    /// True if its share exceeds its demand.
    var hasSpare: Bool { own > demand.total + LeaseTable.least }
}

extension LimitDemand {
    /// Returns the demand reduced to a share, interactive requests first.
    fileprivate func limited(to share: Double) -> LimitDemand {
        LimitDemand(
            min(total, share), interactive: min(interactive, share), interactiveTenants: interactiveTenants,
            batchTenants: batchTenants)
    }
}
