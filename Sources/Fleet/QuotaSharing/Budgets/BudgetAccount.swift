public import Basics

/// What a member's accounts share: its view of the log.
final class BudgetLog {
    var records: ReplicatedLog<BudgetLedger>
    /// The time from which this member requests calls again, after the topic was created again.
    var settled: Instant?
    /// The factor by which this member publishes less often than in a small fleet, so that the topic's traffic hardly
    /// depends on the size of the fleet.
    var slowness = 1
    /// Called when the member should tick at once because more permits are needed. Not called again before that tick.
    var onWant: (() -> Void)?
    var isWoken = false

    init(_ records: ReplicatedLog<BudgetLedger>) { self.records = records }

    func wake() {
        guard !isWoken else { return }
        isWoken = true
        onWant?()
    }
}

/// The account of a budget, as one loop knows it. A call takes a permit, which is for one or more of the units that the
/// member has reserved, without a lock or an allocation. If too few are reserved, it waits until the log has granted more.
///
/// Not `Sendable`: it belongs to one actor.
public final class BudgetAccount {
    /// The permit of one call. It is valid for one period.
    public struct Permit: Sendable, Hashable {
        let epoch: Int
        let units: Int
    }

    /// The reason why no call can be made in this period.
    public struct Refusal: Sendable, Hashable {
        /// True if the rest of the budget is kept for interactive requests. A call may then be possible before the next period,
        /// if members return units or an operator raises the budget. False if the budget is used up.
        public let isKeptForInteractive: Bool
        /// The time until the next period.
        public let retryAfter: Duration
    }

    public let budget: Budget
    let name: String
    /// The fewest and the most units of a call.
    let unitsOfCall: ClosedRange<Int>
    var reservation: BudgetReservation
    /// The time of each other member's last reservation, by member name.
    var others: [String: Instant] = [:]
    /// The count and the ordered budget for which reserved calls were dropped. A reset begins another count.
    var reduced: (period: String, since: String?, budget: Int)?
    let log: BudgetLog
    /// The number and the end of a period whose budget is used up. It stays set until calls are reserved again, because
    /// returned calls may be taken by other members.
    private var usedUp: (period: Int, end: Instant)?
    private var waiting = (all: 0, batch: 0)
    /// Called when permits may have become available, and when the budget is used up.
    public var onChange: (() -> Void)?
    /// Called when a period's budget is used up, with the time until the next period, and with `nil` when calls are possible
    /// again.
    public var onUsedUp: ((Duration?) -> Void)?

    init(_ budget: Budget, log: BudgetLog, at now: Instant) {
        self.budget = budget
        name = budget.account
        unitsOfCall = budget.unitsOfCall
        self.log = log
        reservation = BudgetReservation(at: now)
    }

    // MARK: - Calls

    /// Returns true if a permit is reserved. A batch request gets none of the units that are kept for interactive ones.
    public func canTake(_ units: Int = 1, of requestClass: RequestClass = .interactive, at now: Instant) -> Bool {
        guard reservation.has(units, at: now) else { return false }
        return requestClass == .interactive || !isKeptForInteractive
    }

    /// Takes a permit, if one is reserved.
    public func take(_ units: Int = 1, of requestClass: RequestClass = .interactive, at now: Instant) -> Permit? {
        if requestClass == .batch, isKeptForInteractive { return nil }
        guard reservation.tryTake(units, of: requestClass, at: now) else { return nil }
        if wantsMore { log.wake() }
        return Permit(epoch: reservation.epoch, units: units)
    }

    /// Returns the permit of a call that was not made.
    public func putBack(_ permit: Permit) { reservation.putBack(permit.units, epoch: permit.epoch) }

    /// Counts a call that begins.
    /// - Parameter kind: the kind under which reports list the call.
    public func noteMade(_ permit: Permit, as kind: String, at now: Instant) {
        reservation.noteMade(permit.units, as: kind, epoch: permit.epoch, at: now)
    }

    // MARK: - The period

    /// The state of the current period; a new one if nothing is reserved yet. `nil` before the log is read.
    var current: (label: String, period: BudgetLedger.Period)? {
        guard let label = reservation.period?.label, log.records.isReady else { return nil }
        return (label, log.records.state.periods[name]?[label] ?? BudgetLedger.Period(limit: budget.limit))
    }

    /// The period's budget, as known to the fleet.
    public func status(at now: Instant) -> BudgetStatus {
        var status = BudgetStatus(budget, current)
        guard status.period != nil else { return status }
        status.kept = kept
        status.timeLeft = timeToNextPeriod(at: now)
        return status
    }

    func left(on period: BudgetPeriod) -> Int {
        log.records.state.left(of: name, on: period.label, limit: budget.limit)
    }

    /// The units of the current period's budget that are kept for interactive requests, by this member's settings.
    var kept: Int {
        guard !budget.reserve.isNone else { return 0 }
        let ordered = reservation.period.flatMap { log.records.state.periods[name]?[$0.label]?.ordered }
        return budget.reserve.units(of: ordered ?? budget.limit)
    }

    /// True if all remaining units of the period are kept for interactive requests. That includes unreserved units and
    /// those that this member has reserved. Other members may use what they have reserved.
    var isKeptForInteractive: Bool {
        guard !budget.reserve.isNone, log.records.isReady, let period = reservation.period else { return false }
        let kept = kept
        return kept > 0 && left(on: period).saturatingAdding(reservation.held) <= kept
    }

    // MARK: - What is left

    /// Returns the reason why a call of the class can get no permit in this period; `nil` if it may wait for one.
    /// - Parameter units: those of the call.
    public func refusal(_ units: Int = 1, of requestClass: RequestClass, at now: Instant) -> Refusal? {
        let isUsedUp = noteUsedUp(at: now) || isUsedUp(for: units, at: now)
        guard isUsedUp || requestClass == .batch && isKeptForInteractive else { return nil }
        return Refusal(isKeptForInteractive: !isUsedUp, retryAfter: timeToNextPeriod(at: now))
    }

    /// Returns the time until which no call is possible; `nil` if calls are possible.
    public func usedUpUntil(at now: Instant) -> Instant? { noteUsedUp(at: now) ? now + timeToNextPeriod(at: now) : nil }

    /// True if no further call is possible in this period: too little is reserved and left, and nothing is requested.
    func isUsedUp(at now: Instant) -> Bool { isUsedUp(for: unitsOfCall.lowerBound, at: now) }

    private func isUsedUp(for units: Int, at now: Instant) -> Bool {
        guard log.records.isReady, reservation.asked == 0, let period = reservation.period, now < period.end else {
            return false
        }
        return reservation.held < units && reservation.held.saturatingAdding(left(on: period)) < units
    }

    /// Updates `usedUp`.
    /// - Returns: true while no call is possible.
    private func noteUsedUp(at now: Instant) -> Bool {
        if let usedUp {
            guard reservation.epoch != usedUp.period || now >= usedUp.end || canTake(unitsOfCall.lowerBound, at: now)
            else { return true }
            self.usedUp = nil
            onUsedUp?(nil)
        } else if isUsedUp(at: now) {
            let time = timeToNextPeriod(at: now)
            usedUp = (reservation.epoch, now + time)
            onUsedUp?(time)
        }
        return usedUp != nil
    }

    private func timeToNextPeriod(at now: Instant) -> Duration {
        reservation.period.map { max(.milliseconds(1), now.duration(to: $0.end)) } ?? .seconds(3600)
    }

    // MARK: - Demand

    /// Reports the units of the calls that could begin at once with a permit.
    /// - Parameter batch: the units among them of batch requests.
    public func setWaiting(_ units: Int, batch: Int = 0) {
        let isMore = units > waiting.all
        waiting = (units, batch)
        noteWaiting()
        if isMore { log.wake() }
    }

    /// After the budget was used up, one call is requested to find out whether more are available.
    private func noteWaiting() {
        let asks = usedUp != nil && hasAnyLeft ? unitsOfCall.lowerBound : 0
        (reservation.waiting, reservation.waitingBatch) = (max(waiting.all, asks), waiting.batch)
    }

    /// True if another call is possible, at once or after a request.
    var hasAnyLeft: Bool {
        guard log.records.isReady, let period = reservation.period else { return false }
        return reservation.held.saturatingAdding(left(on: period)) >= unitsOfCall.lowerBound
    }

    /// Updates the state and calls `onChange`, after a record was read or a period has begun.
    func review(at now: Instant) {
        _ = noteUsedUp(at: now)
        noteWaiting()
        onChange?()
    }
}
