internal import Basics

/// Decides how many calls a member reserves and returns.
extension BudgetAccount {
    /// The number of members that have reserved calls recently, including this one. They divide the remaining calls.
    var sharers: Int { 1 + others.count }

    /// Removes members that have reserved no calls for `time`.
    func forgetOthers(at now: Instant, after time: Duration) {
        guard others.values.contains(where: { $0.duration(to: now) > time }) else { return }
        others = others.filter { $0.value.duration(to: now) <= time }
    }

    /// True if batch calls may be reserved: more calls are left than are kept.
    private var mayReserveForBatch: Bool {
        guard !reserve.isNone, log.records.isReady, let day = reservation.day else { return true }
        let kept = kept
        return kept == 0 || left(on: day) > kept
    }

    /// True if a message should be published soon: less than half of the wanted calls are reserved.
    var wantsMore: Bool {
        let withBatch = mayReserveForBatch
        return reservation.waiting(withBatch: withBatch) > reservation.asked
            || (reservation.held + reservation.asked) * 2 < wanted(withBatch: withBatch)
    }

    /// The number of calls that a member should have reserved or requested.
    /// - Parameter withBatch: false if no more calls may be reserved for batch requests.
    private func wanted(withBatch: Bool) -> Int {
        let pace = reservation.pace
        let calls = withBatch ? pace.perSecond : max(0, pace.perSecond - pace.batchPerSecond)
        return reservation.waiting(withBatch: withBatch)
            + Int(saturating: min(calls * (BudgetTerms.ahead * log.slowness).inSeconds, 1e9).rounded(.up))
    }

    /// True if so few calls of a day are left that no member should reserve more than it needs.
    private func isScarce(_ left: Int) -> Bool { left < reservation.limit / 5 }

    /// Returns the number of calls to reserve: as many as wanted, but at most a small part of the remaining calls. A
    /// crash then loses few calls, and all members get some of the last ones.
    func callsToReserve(at now: Instant) -> Int {
        guard wantsMore, let day = reservation.day, now < day.end else { return 0 }
        if let settled = log.settled, now < settled { return 0 }
        let left = left(on: day)
        guard left > 0 else { return 0 }

        /// Returns the number of calls to reserve, with or without those for batch requests.
        func block(withBatch: Bool, outOf left: Int) -> Int {
            let wanted = wanted(withBatch: withBatch)
            guard left > 0, wanted > 0 else { return 0 }
            let aim = isScarce(left) ? wanted : max(wanted, BudgetTerms.smallestBlock)
            let share = max(1, left / (BudgetTerms.reservedPart * sharers))
            return min(max(0, aim - reservation.held - reservation.asked), share)
        }
        let kept = kept
        let all = block(withBatch: true, outOf: left - kept)
        return kept > 0 ? max(all, block(withBatch: false, outOf: left)) : all
    }

    /// Returns the number of reserved calls that this member does not need and others may.
    func callsToReturn(at now: Instant) -> Int {
        guard reservation.held > 0, let day = reservation.day else { return 0 }

        // The remaining calls are for interactive requests, here or at other members.
        let isKept = isKeptForInteractive
        guard reservation.waiting(withBatch: !isKept) == 0, isKept || isScarce(left(on: day)) else { return 0 }

        let wanted = wanted(withBatch: !isKept)
        if isKept && wanted == 0 || reservation.pace.isIdle(at: now) { return reservation.held }
        return max(0, reservation.held - 2 * wanted - 1)
    }

    // MARK: - Messages

    /// Returns the entries of a message, one for each day. Their calls count as requested, returned and reported.
    func takeEntries(reserving take: Int, returning giveBack: Int) -> [BudgetMessage.Entry] {
        guard let today = reservation.day?.label else { return [] }
        var made = reservation.takeMade()

        func entry(_ day: String) -> BudgetMessage.Entry {
            BudgetMessage.Entry(
                name, day: day, limit: reservation.limit, made: made.removeValue(forKey: day) ?? [:])
        }
        var now = entry(today)
        now.take = take
        now.giveBack = reservation.remove(giveBack)
        reservation.ask(take)

        let before = made.keys.sorted().map(entry)
        return now.take + now.giveBack > 0 || !now.made.isEmpty ? before + [now] : before
    }
}
