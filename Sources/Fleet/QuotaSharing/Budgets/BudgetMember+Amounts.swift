internal import Basics

/// The sizes of reservations, and the rate of messages.
extension BudgetMember {
    /// The factor by which this member publishes less often than in a small fleet, so that the topic's traffic hardly
    /// depends on the size of the fleet.
    var slowness: Int { max(1, (accounts.map(\.sharers).max() ?? 1) / BudgetTerms.membersAtFullPace) }

    func forgetOthers(at now: Instant) {
        let memory = BudgetTerms.memory * slowness
        for index in accounts.indices { accounts[index].forgetOthers(at: now, after: memory) }
    }

    /// The number of calls that a member should have reserved or requested.
    /// - Parameter withBatch: false if no more calls may be reserved for batch requests.
    func wanted(_ reservation: BudgetReservation, withBatch: Bool) -> Int {
        let waiting = withBatch ? reservation.waiting : reservation.waiting - reservation.waitingBatch
        let pace = withBatch ? reservation.pace : max(0, reservation.pace - reservation.batchPace)
        return waiting + Int(saturating: min(pace * (BudgetTerms.ahead * slowness).inSeconds, 1e9).rounded(.up))
    }

    /// True if so few calls of a day are left that no member should reserve more than it needs.
    func isScarce(_ left: Int, of reservation: BudgetReservation) -> Bool { left < reservation.limit / 5 }

    func left(_ index: Int, on day: BudgetDay) -> Int {
        log.state.left(of: accounts[index].scope, on: day.label, limit: accounts[index].reservation.limit)
    }

    /// Returns the number of calls to reserve: as many as wanted, but at most a small part of the remaining calls. A
    /// crash then loses few calls, and all members get some of the last ones.
    func reservation(_ index: Int, at now: Instant) -> Int {
        guard wantsMore(index), let day = accounts[index].reservation.day, now < day.end else { return 0 }
        if let settled, now < settled { return 0 }
        let (reservation, left) = (accounts[index].reservation, left(index, on: day))
        guard left > 0 else { return 0 }

        /// Returns the number of calls to reserve, with or without those for batch requests.
        func block(withBatch: Bool, outOf left: Int) -> Int {
            let wanted = wanted(reservation, withBatch: withBatch)
            guard left > 0, wanted > 0 else { return 0 }
            let aim = isScarce(left, of: reservation) ? wanted : max(wanted, BudgetTerms.smallestBlock)
            let share = max(1, left / (BudgetTerms.reservedPart * accounts[index].sharers))
            return min(max(0, aim - reservation.held - reservation.asked), share)
        }
        let kept = kept(index)
        let all = block(withBatch: true, outOf: left - kept)
        return kept > 0 ? max(all, block(withBatch: false, outOf: left)) : all
    }

    /// Returns the number of reserved calls that this member does not need and others may.
    func excess(_ index: Int, at now: Instant) -> Int {
        let reservation = accounts[index].reservation
        guard reservation.held > 0, let day = reservation.day else { return 0 }

        // The remaining calls are for interactive requests, here or at other members.
        let isKept = isKeptForInteractive(index)
        let waiting = isKept ? reservation.waiting - reservation.waitingBatch : reservation.waiting
        guard waiting == 0, isKept || isScarce(left(index, on: day), of: reservation) else { return 0 }

        let wanted = wanted(reservation, withBatch: !isKept)
        if isKept && wanted == 0 || reservation.lastTake.duration(to: now) >= BudgetTerms.idle { return reservation.held }
        return max(0, reservation.held - 2 * wanted - 1)
    }
}
