internal import Basics

/// A member derives from the newest messages which leases it should grant, and when it should publish a message itself.
extension LeaseMember {
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
        let mine = LeasePlan.Member(name: name, own: own.usable(at: now), demand: limits[index].demand)
        let freshness = terms.freshness
        var members = [mine]
        for peer in peers.values {
            guard let state = peer.states[index] else { continue }
            var member = LeasePlan.Member(
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
            leases: isAnyShort && !isPutBack(.nothingLeased) ? LeasePlan(members).leases[name] ?? [] : [],
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
