internal import Basics

/// Decides how many units a member reserves and returns.
extension BudgetAccount {
    /// The number of members that have reserved units recently, including this one. They divide what is left.
    var sharers: Int { 1 + others.count }

    /// Removes members that have reserved nothing for `time`.
    func forgetOthers(at now: Instant, after time: Duration) {
        guard others.values.contains(where: { $0.duration(to: now) > time }) else { return }
        others = others.filter { $0.value.duration(to: now) <= time }
    }

    /// True if units for batch calls may be reserved: more are left than are kept.
    private var mayReserveForBatch: Bool {
        guard !budget.reserve.isNone, log.records.isReady, let period = reservation.period else { return true }
        let kept = kept
        return kept == 0 || left(on: period) > kept
    }

    /// True if a message should be published soon: less than half of the wanted units are reserved.
    var wantsMore: Bool {
        let withBatch = mayReserveForBatch
        return reservation.waiting(withBatch: withBatch) > reservation.asked
            || (reservation.held + reservation.asked) * 2 < wanted(withBatch: withBatch)
    }

    /// The number of units that a member should have reserved or requested.
    /// - Parameter withBatch: false if nothing more may be reserved for batch requests.
    private func wanted(withBatch: Bool) -> Int {
        let pace = reservation.pace
        let units = withBatch ? pace.perSecond : max(0, pace.perSecond - pace.batchPerSecond)
        return reservation.waiting(withBatch: withBatch)
            + Int(saturating: min(units * (BudgetTerms.ahead * log.slowness).inSeconds, 1e12).rounded(.up))
    }

    /// True if so little of a period is left that no member should reserve more than it needs.
    private func isScarce(_ left: Int) -> Bool { left < budget.limit / 5 }

    /// Returns the number of units to reserve: as many as wanted, but at most a small part of what is left. A crash then
    /// loses few, and all members get some of the last ones.
    func unitsToReserve(at now: Instant) -> Int {
        guard wantsMore, let period = reservation.period, now < period.end else { return 0 }
        if let settled = log.settled, now < settled { return 0 }
        let left = left(on: period)
        guard left > 0 else { return 0 }

        /// Returns the number of units to reserve, with or without those for batch requests.
        func block(withBatch: Bool, outOf left: Int) -> Int {
            let wanted = wanted(withBatch: withBatch)
            guard left > 0, wanted > 0 else { return 0 }
            let aim = isScarce(left) ? wanted : max(wanted, BudgetTerms.smallestBlock * unitsOfCall.upperBound)
            let share = max(unitsOfCall.upperBound, left / (BudgetTerms.reservedPart * sharers))
            return min(max(0, aim - reservation.held - reservation.asked), share)
        }
        let kept = kept
        let all = block(withBatch: true, outOf: left - kept)
        return kept > 0 ? max(all, block(withBatch: false, outOf: left)) : all
    }

    /// Returns the number of reserved units that this member does not need and others may.
    func unitsToReturn(at now: Instant) -> Int {
        guard reservation.held > 0, let period = reservation.period else { return 0 }

        // What is left is for interactive requests, here or at other members.
        let isKept = isKeptForInteractive
        guard reservation.waiting(withBatch: !isKept) == 0, isKept || isScarce(left(on: period)) else { return 0 }

        let wanted = wanted(withBatch: !isKept)
        if isKept && wanted == 0 || reservation.pace.isIdle(at: now) { return reservation.held }
        return max(0, reservation.held - 2 * wanted - unitsOfCall.upperBound)
    }

    // MARK: - Messages

    /// Returns the entries of a message, one for each period. Their units count as requested, returned and reported.
    func takeEntries(reserving take: Int, returning giveBack: Int) -> [BudgetMessage.Entry] {
        guard let current = reservation.period?.label else { return [] }
        var made = reservation.takeMade()

        func entry(_ period: String) -> BudgetMessage.Entry {
            BudgetMessage.Entry(
                name, period: period, limit: budget.limit, warning: budget.warning,
                made: made.removeValue(forKey: period) ?? [:])
        }
        var now = entry(current)
        now.take = take
        now.giveBack = reservation.remove(giveBack)
        reservation.ask(take)

        let before = made.keys.sorted().map(entry)
        return now.take + now.giveBack > 0 || !now.made.isEmpty ? before + [now] : before
    }
}
