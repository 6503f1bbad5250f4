internal import Basics

/// The leases of one limit that a member has granted and received.
///
/// The sum over the fleet stays within the limit although no member computes it. A lessor uses less from the time of
/// the grant until the lessee can no longer use the lease, even if messages are lost. A lessee counts the lease from
/// the time of its request, which precedes the grant.
struct LeaseTable {
    /// A share of the limit, until a time of this member's clock.
    struct Lease: Equatable {
        var share: Double
        var end: Instant
        /// The number of the lessor's message.
        var number: UInt64
    }

    /// The leases that each lessee may still use. A lessee that has not read a newer, smaller grant may use the older
    /// one, so the largest lease that has not ended counts.
    private var leasedOut: [String: [Lease]] = [:]
    /// The lease from each lessor: its newest grant counts.
    private var leasedIn: [String: Lease] = [:]

    // MARK: - Leases to others

    /// Returns the share that a lessee may use at a time.
    func leasedOut(to lessee: String, at now: Instant) -> Double {
        leasedOut[lessee, default: []].lazy.filter { $0.end > now }.map(\.share).max() ?? 0
    }

    /// Returns the share that all lessees together may use at a time.
    func leasedOut(at now: Instant) -> Double {
        leasedOut.keys.reduce(0) { $0 + leasedOut(to: $1, at: now) }
    }

    /// Returns the share of the newest grant to a lessee. The lessee may use more until it has read that grant.
    func newestLease(to lessee: String, at now: Instant) -> Double {
        leasedOut[lessee]?.last { $0.end > now }?.share ?? 0
    }

    /// Returns the share of the newest grants to all lessees together.
    func newestLeases(at now: Instant) -> Double {
        leasedOut.keys.reduce(0) { $0 + newestLease(to: $1, at: now) }
    }

    /// Grants the wished leases as far as quota is available, and recalls leases that are not wished with a share of 0.
    /// - Parameters:
    ///   - wishes: the share that each lessee should have.
    ///   - spare: the own share minus the own demand, including what is leased out now.
    ///   - number: the number of the message with the grants.
    ///   - inReplyTo: returns the number of a lessee's newest message; `nil` if none is known.
    mutating func leaseOut(
        _ wishes: [(lessee: String, share: Double)], outOf spare: Double, number: UInt64,
        at now: Instant, inReplyTo: (String) -> UInt64?
    ) -> [LeaseMessage.Grant] {
        forgetEnded(at: now)
        var free = max(0, spare - leasedOut(at: now))
        let others = leasedOut.keys.filter { name in !wishes.contains { $0.lessee == name } }.sorted()
        var grants: [LeaseMessage.Grant] = []

        for (lessee, wish) in wishes + others.map({ (lessee: $0, share: 0) }) {
            guard let answered = inReplyTo(lessee) else { continue }
            let current = leasedOut(to: lessee, at: now)
            let share = min(wish, current + min(max(0, wish - current), free))
            guard share > Self.least || current > 0 else { continue }

            free -= max(0, share - current)
            leasedOut[lessee, default: []].append(
                Lease(share: share, end: now + LeaseTimes.lessorLease, number: number))
            grants.append(LeaseMessage.Grant(lessee: lessee, inReplyTo: answered, share: share))
        }
        return grants
    }

    /// Ends the leases older than message `number`, which the lessee has acknowledged: it uses no older grant.
    mutating func endLeases(to lessee: String, olderThan number: UInt64) {
        leasedOut[lessee]?.removeAll { $0.number < number }
    }

    /// Ends all leases that the lessee has returned, up to message `number`.
    mutating func endLeases(to lessee: String, upTo number: UInt64) {
        leasedOut[lessee]?.removeAll { $0.number <= number }
    }

    /// The smallest share that is leased.
    static let least = 1e-6

    private mutating func forgetEnded(at now: Instant) {
        for lessee in leasedOut.keys {
            leasedOut[lessee]?.removeAll { $0.end <= now }
            if leasedOut[lessee]?.isEmpty == true { leasedOut[lessee] = nil }
        }
        leasedIn = leasedIn.filter { $0.value.end > now }
    }

    // MARK: - Leases from others

    /// Applies a lessor's newest grant. An older grant changes nothing.
    /// - Parameters:
    ///   - number: the number of the lessor's message.
    ///   - share: the granted share.
    ///   - requestTime: the time of this member's clock when it sent the message that the grant answers.
    /// - Returns: true if the share is less than before: the lessor waits for the acknowledgement.
    mutating func applyGrant(of share: Double, from lessor: String, number: UInt64, requestTime: Instant) -> Bool {
        let former = leasedIn[lessor]
        if let former, former.number >= number { return false }
        leasedIn[lessor] = Lease(share: share, end: requestTime + LeaseTimes.lease, number: number)
        return share < former?.share ?? 0
    }

    /// Returns whole leases that are not needed.
    /// - Parameter needed: the share that must remain.
    /// - Returns: by lessor, the number of the newest message whose lease is returned.
    mutating func returnLeases(leaving needed: Double, at now: Instant) -> [String: UInt64] {
        var left = leasedIn(at: now)
        var returned: [String: UInt64] = [:]
        let leases = leasedIn.filter { $0.value.end > now && $0.value.share > 0 }.sorted { $0.key < $1.key }
        for (lessor, lease) in leases where left - lease.share >= needed {
            left -= lease.share
            // The number is kept, so that a late older grant changes nothing.
            leasedIn[lessor]?.share = 0
            returned[lessor] = lease.number
        }
        return returned
    }

    /// By lessor: the number of the newest message whose grant has not ended.
    func acknowledged(at now: Instant) -> [String: UInt64] {
        leasedIn.filter { $0.value.end > now }.mapValues(\.number)
    }

    /// Returns the share that leases from others add at a time.
    func leasedIn(at now: Instant) -> Double {
        leasedIn.values.lazy.filter { $0.end > now }.reduce(0) { $0 + $1.share }
    }

    /// Returns the next time at which a lease from another member ends.
    func ends(after now: Instant) -> Instant? {
        leasedIn.values.lazy.map(\.end).filter { $0 > now }.min()
    }
}
