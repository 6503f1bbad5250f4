internal import Basics

/// What a member's accounts share: its view of the log.
final class BudgetLog {
    var records: ReplicatedLog<BudgetLedger>
    /// The time from which this member requests calls again, after the topic was created again.
    var settled: Instant?
    /// The factor by which this member publishes less often than in a small fleet, so that the topic's traffic hardly
    /// depends on the size of the fleet.
    var slowness = 1

    init(_ records: ReplicatedLog<BudgetLedger>) { self.records = records }
}

/// A provider with a daily call budget, as one member knows it: the calls that the member may make, and the number of
/// calls that it should reserve.
final class BudgetAccount {
    let provider: String
    /// The account for which the provider's calls count, by the current API key.
    var scope: QuotaScope
    /// The calls of a day that are kept for interactive requests.
    let reserve: BudgetReserve
    var reservation: BudgetReservation
    /// The time of each other member's last reservation, by member name.
    var others: [String: Instant] = [:]
    private let log: BudgetLog

    /// - Parameter scope: `nil`: the provider's widest scope.
    init(
        _ provider: String, scope: QuotaScope?, limit: Int, reserve: BudgetReserve, log: BudgetLog, at now: Instant
    ) {
        self.provider = provider
        self.reserve = reserve
        self.scope = scope ?? QuotaScope(provider: provider)
        self.log = log
        reservation = BudgetReservation(limit: limit, at: now)
    }

    /// The number of members that have reserved calls recently, including this one. They divide the remaining calls.
    var sharers: Int { 1 + others.count }

    /// Removes members that have reserved no calls for `time`.
    func forgetOthers(at now: Instant, after time: Duration) {
        guard others.values.contains(where: { $0.duration(to: now) > time }) else { return }
        others = others.filter { $0.value.duration(to: now) <= time }
    }

    // MARK: - The day

    /// The state of the current day; a new one if no call is reserved yet. `nil` before the log is read.
    var today: (label: String, day: BudgetLedger.Day)? {
        guard let label = reservation.day?.label, log.records.isReady else { return nil }
        return (label, log.records.state.day(label, of: scope) ?? BudgetLedger.Day(limit: reservation.limit))
    }

    /// The provider's budget today, as known to the fleet.
    var status: BudgetStatus {
        var status = BudgetStatus(today)
        if status.day != nil { status.kept = kept }
        status.isFull = isFull
        if status.isFull { status.left = 0 }
        return status
    }

    /// True if there are too many accounts to count the provider's calls on the current day.
    var isFull: Bool {
        guard log.records.isReady, let day = reservation.day else { return false }
        return log.records.state.isFull(for: scope, on: day.label)
    }

    private func left(on day: BudgetDay) -> Int {
        log.records.state.left(of: scope, on: day.label, limit: reservation.limit)
    }

    // MARK: - Calls

    /// Returns true if a call can be taken at once.
    func canTake(of requestClass: RequestClass = .interactive, at now: Instant) -> Bool {
        guard reservation.hasCall(at: now) else { return false }
        return requestClass == .interactive || !isKeptForInteractive
    }

    /// Takes one call at once.
    /// - Returns: the number of the day for which the call counts; `nil` if none is reserved.
    @inline(__always)
    func tryTake(of requestClass: RequestClass = .interactive, at now: Instant) -> Int? {
        if requestClass == .batch, isKeptForInteractive { return nil }
        return reservation.tryTake(of: requestClass, at: now) ? reservation.epoch : nil
    }

    /// Sets the number of waiting calls.
    /// - Parameter batch: the calls among `count` of batch requests.
    func setWaiting(_ count: Int, batch: Int = 0) {
        reservation.waiting = count
        reservation.waitingBatch = batch
    }

    /// True if no further call is possible today: none is reserved, requested or left.
    func isUsedUp(at now: Instant) -> Bool {
        guard log.records.isReady, let day = reservation.day, now < day.end else { return false }
        return reservation.held == 0 && reservation.asked == 0 && left(on: day) == 0
    }

    /// True if another call is possible, at once or after a request.
    var hasAnyLeft: Bool {
        guard log.records.isReady, let day = reservation.day else { return false }
        return reservation.held > 0 || left(on: day) > 0
    }

    // MARK: - Interactive requests

    /// The calls of the current day's budget that are kept for interactive requests, by this member's settings.
    private var kept: Int {
        guard !reserve.isNone else { return 0 }
        let ordered = reservation.day.flatMap { log.records.state.day($0.label, of: scope)?.ordered }
        return reserve.calls(of: ordered ?? reservation.limit)
    }

    /// True if all remaining calls of the day are kept for interactive requests. That includes unreserved calls and
    /// those that this member has reserved. Other members may use the calls that they have reserved.
    var isKeptForInteractive: Bool {
        guard !reserve.isNone, log.records.isReady, let day = reservation.day else { return false }
        let kept = kept
        return kept > 0 && left(on: day).saturatingAdding(reservation.held) <= kept
    }

    /// True if batch calls may be reserved: more calls are left than are kept.
    private var mayReserveForBatch: Bool {
        guard !reserve.isNone, log.records.isReady, let day = reservation.day else { return true }
        let kept = kept
        return kept == 0 || left(on: day) > kept
    }

    // MARK: - The sizes of reservations

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
                scope, day: day, limit: reservation.limit, made: made.removeValue(forKey: day) ?? [:])
        }
        var now = entry(today)
        now.take = take
        now.giveBack = reservation.remove(giveBack)
        reservation.ask(take)

        let before = made.keys.sorted().map(entry)
        return now.take + now.giveBack > 0 || !now.made.isEmpty ? before + [now] : before
    }
}
