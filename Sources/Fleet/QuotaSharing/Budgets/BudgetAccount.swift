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

/// An account with a daily call budget, as one loop knows it. A call takes a permit that the member has reserved,
/// without a lock or an allocation. If none is reserved, the call waits until the log has granted more.
///
/// Not `Sendable`: it belongs to one actor.
public final class BudgetAccount {
    /// The permit of one call. It is valid for one day.
    public struct Permit: Sendable, Hashable {
        let epoch: Int
    }

    /// The reason why no call can be made today.
    public enum Refusal: Sendable, Hashable {
        /// The day's budget is used up. `retryAfter` is the time until the next day.
        case usedUp(retryAfter: Duration)
        /// The remaining calls are kept for interactive requests. `retryAfter` is the time until the next day. A call
        /// may be possible sooner, if members return calls or an operator raises the budget.
        case keptForInteractive(retryAfter: Duration)
    }

    let name: String
    /// The calls of a day that are kept for interactive requests.
    let reserve: BudgetReserve
    var reservation: BudgetReservation
    /// The time of each other member's last reservation, by member name.
    var others: [String: Instant] = [:]
    let log: BudgetLog
    /// The number and the end of a day whose budget is used up. It stays set until calls are reserved again, because
    /// returned calls may be taken by other members.
    private var usedUp: (day: Int, end: Instant)?
    private var waiting = (all: 0, batch: 0)
    /// Called when permits may have become available, and when the budget is used up.
    public var onChange: (() -> Void)?
    /// Called when a day's budget is used up, with the time until the next day, and with `nil` when calls are possible
    /// again.
    public var onUsedUp: ((Duration?) -> Void)?

    init(_ name: String, limit: Int, reserve: BudgetReserve, log: BudgetLog, at now: Instant) {
        self.name = name
        self.reserve = reserve
        self.log = log
        reservation = BudgetReservation(limit: limit, at: now)
    }

    // MARK: - Calls

    /// Returns true if a permit is reserved. A batch request gets none of the calls that are kept for interactive ones.
    public func canTake(of requestClass: RequestClass = .interactive, at now: Instant) -> Bool {
        guard reservation.hasCall(at: now) else { return false }
        return requestClass == .interactive || !isKeptForInteractive
    }

    /// Takes a permit, if one is reserved.
    public func take(of requestClass: RequestClass = .interactive, at now: Instant) -> Permit? {
        if requestClass == .batch, isKeptForInteractive { return nil }
        guard reservation.tryTake(of: requestClass, at: now) else { return nil }
        if wantsMore { log.wake() }
        return Permit(epoch: reservation.epoch)
    }

    /// Returns the permit of a call that was not made.
    public func putBack(_ permit: Permit) { reservation.putBack(epoch: permit.epoch) }

    /// True until the end of the permit's day.
    public func isCurrent(_ permit: Permit, at now: Instant) -> Bool {
        reservation.isCurrent(epoch: permit.epoch, at: now)
    }

    /// Counts a call that begins.
    /// - Parameter kind: the kind under which reports list the call.
    public func noteMade(_ permit: Permit, as kind: String, at now: Instant) {
        reservation.noteMade(kind, epoch: permit.epoch, at: now)
    }

    // MARK: - The day

    /// The state of the current day; a new one if no call is reserved yet. `nil` before the log is read.
    var today: (label: String, day: BudgetLedger.Day)? {
        guard let label = reservation.day?.label, log.records.isReady else { return nil }
        return (label, log.records.state.days[name]?[label] ?? BudgetLedger.Day(limit: reservation.limit))
    }

    /// The day's budget, as known to the fleet.
    public var status: BudgetStatus {
        var status = BudgetStatus(today)
        if status.day != nil { status.kept = kept }
        return status
    }

    func left(on day: BudgetDay) -> Int {
        log.records.state.left(of: name, on: day.label, limit: reservation.limit)
    }

    /// The calls of the current day's budget that are kept for interactive requests, by this member's settings.
    var kept: Int {
        guard !reserve.isNone else { return 0 }
        let ordered = reservation.day.flatMap { log.records.state.days[name]?[$0.label]?.ordered }
        return reserve.calls(of: ordered ?? reservation.limit)
    }

    /// True if all remaining calls of the day are kept for interactive requests. That includes unreserved calls and
    /// those that this member has reserved. Other members may use the calls that they have reserved.
    var isKeptForInteractive: Bool {
        guard !reserve.isNone, log.records.isReady, let day = reservation.day else { return false }
        let kept = kept
        return kept > 0 && left(on: day).saturatingAdding(reservation.held) <= kept
    }

    // MARK: - Remaining calls

    /// Returns the reason why a call of the class can get no permit today; `nil` if it may wait for one.
    public func refusal(of requestClass: RequestClass, at now: Instant) -> Refusal? {
        if noteUsedUp(at: now) { return .usedUp(retryAfter: timeToNextDay(at: now)) }
        guard requestClass == .batch, isKeptForInteractive else { return nil }
        return .keptForInteractive(retryAfter: timeToNextDay(at: now))
    }

    /// Returns the time until which no call is possible; `nil` if calls are possible.
    public func usedUpUntil(at now: Instant) -> Instant? { noteUsedUp(at: now) ? now + timeToNextDay(at: now) : nil }

    /// True if no further call is possible today: none is reserved, requested or left.
    func isUsedUp(at now: Instant) -> Bool {
        guard log.records.isReady, let day = reservation.day, now < day.end else { return false }
        return reservation.held == 0 && reservation.asked == 0 && left(on: day) == 0
    }

    /// Updates `usedUp`.
    /// - Returns: true while no call is possible.
    private func noteUsedUp(at now: Instant) -> Bool {
        if let usedUp {
            guard reservation.epoch != usedUp.day || now >= usedUp.end || canTake(at: now) else { return true }
            self.usedUp = nil
            onUsedUp?(nil)
        } else if isUsedUp(at: now) {
            let time = timeToNextDay(at: now)
            usedUp = (reservation.epoch, now + time)
            onUsedUp?(time)
        }
        return usedUp != nil
    }

    private func timeToNextDay(at now: Instant) -> Duration {
        reservation.day.map { max(.milliseconds(1), now.duration(to: $0.end)) } ?? .seconds(3600)
    }

    // MARK: - Demand

    /// Reports the number of calls that could begin at once with a permit.
    /// - Parameter batch: the calls among `count` of batch requests.
    public func setWaiting(_ count: Int, batch: Int = 0) {
        let isMore = count > waiting.all
        waiting = (count, batch)
        noteWaiting()
        if isMore { log.wake() }
    }

    private func noteWaiting() {
        // After a used-up day, one call is requested to find out whether more are available.
        let asks = usedUp != nil && hasAnyLeft
        (reservation.waiting, reservation.waitingBatch) = (max(waiting.all, asks ? 1 : 0), waiting.batch)
    }

    /// True if another call is possible, at once or after a request.
    var hasAnyLeft: Bool {
        guard log.records.isReady, let day = reservation.day else { return false }
        return reservation.held > 0 || left(on: day) > 0
    }

    /// Updates the state and calls `onChange`, after a record was read or a day has begun.
    func review(at now: Instant) {
        _ = noteUsedUp(at: now)
        noteWaiting()
        onChange?()
    }
}
