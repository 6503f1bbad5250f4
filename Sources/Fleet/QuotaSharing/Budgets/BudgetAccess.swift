public import Basics

/// One loop's access to a provider's daily call budget. A call takes a permit that its member has reserved, without a
/// lock or an allocation. If none is reserved, the call waits until the log has granted more.
///
/// Not `Sendable`: it belongs to one actor.
public final class BudgetAccess {
    /// The permit of one call. It is valid for one day.
    public struct Permit: Sendable, Hashable {
        fileprivate let epoch: Int
    }

    /// The reason why no call can be made today.
    public enum Refusal: Sendable, Hashable {
        /// The day's budget is used up. `retryAfter` is the time until the next day.
        case usedUp(retryAfter: Duration)
        /// The remaining calls are kept for interactive requests. `retryAfter` is the time until the next day. A call
        /// may be possible sooner, if members return calls or an operator raises the budget.
        case keptForInteractive(retryAfter: Duration)
    }

    private let account: BudgetAccount
    /// Called when the member should tick at once because more permits are needed.
    private let wake: () -> Void
    /// The number and the end of a day whose budget is used up. It stays set until calls are reserved again, because
    /// returned calls may be taken by other members.
    private var usedUp: (day: Int, end: Instant)?
    private var waiting = (all: 0, batch: 0)
    /// Called when permits may have become available, and when the budget is used up.
    public var onChange: (() -> Void)?
    /// Called when a day's budget is used up, with the time until the next day, and with `nil` when calls are possible
    /// again.
    public var onUsedUp: ((Duration?) -> Void)?

    init(_ account: BudgetAccount, wake: @escaping () -> Void) {
        self.account = account
        self.wake = wake
    }

    // MARK: - Calls

    /// Returns true if a permit is reserved. A batch request gets none of the calls that are kept for interactive ones.
    public func canTake(of requestClass: RequestClass = .interactive, at now: Instant) -> Bool {
        account.canTake(of: requestClass, at: now)
    }

    /// Takes a permit, if one is reserved.
    public func take(of requestClass: RequestClass = .interactive, at now: Instant) -> Permit? {
        guard let epoch = account.tryTake(of: requestClass, at: now) else { return nil }
        if account.wantsMore { wake() }
        return Permit(epoch: epoch)
    }

    /// Returns the permit of a call that was not made.
    public func putBack(_ permit: Permit) { account.reservation.putBack(epoch: permit.epoch) }

    /// True until the end of the permit's day.
    public func isCurrent(_ permit: Permit, at now: Instant) -> Bool {
        account.reservation.isCurrent(epoch: permit.epoch, at: now)
    }

    /// Counts a call that begins.
    /// - Parameter kind: the kind under which reports list the call.
    public func noteMade(_ permit: Permit, as kind: String, at now: Instant) {
        account.reservation.noteMade(kind, epoch: permit.epoch, at: now)
    }

    /// The day's budget, as known to the fleet.
    public var status: BudgetStatus { account.status }

    // MARK: - Remaining calls

    /// Returns the reason why a call of the class can get no permit today; `nil` if it may wait for one.
    public func refusal(of requestClass: RequestClass, at now: Instant) -> Refusal? {
        if isUsedUp(at: now) { return .usedUp(retryAfter: timeToNextDay(at: now)) }
        guard requestClass == .batch, account.isKeptForInteractive else { return nil }
        return .keptForInteractive(retryAfter: timeToNextDay(at: now))
    }

    /// Returns the time until which no call is possible; `nil` if calls are possible.
    public func usedUpUntil(at now: Instant) -> Instant? { isUsedUp(at: now) ? now + timeToNextDay(at: now) : nil }

    private func isUsedUp(at now: Instant) -> Bool {
        if let usedUp {
            guard account.reservation.epoch != usedUp.day || now >= usedUp.end || account.canTake(at: now) else {
                return true
            }
            self.usedUp = nil
            onUsedUp?(nil)
        } else if account.isUsedUp(at: now) {
            let time = timeToNextDay(at: now)
            usedUp = (account.reservation.epoch, now + time)
            onUsedUp?(time)
        }
        return usedUp != nil
    }

    private func timeToNextDay(at now: Instant) -> Duration {
        account.reservation.day.map { max(.milliseconds(1), now.duration(to: $0.end)) } ?? .seconds(3600)
    }

    // MARK: - Demand

    /// Reports the number of calls that could begin at once with a permit.
    /// - Parameter batch: the calls among `count` of batch requests.
    public func setWaiting(_ count: Int, batch: Int) {
        let isMore = count > waiting.all
        waiting = (count, batch)
        noteWaiting()
        if isMore { wake() }
    }

    private func noteWaiting() {
        // After a used-up day, one call is requested to find out whether more are available.
        let asks = usedUp != nil && account.hasAnyLeft
        account.setWaiting(max(waiting.all, asks ? 1 : 0), batch: waiting.batch)
    }

    /// Updates the state and calls `onChange`, after a record was read or a day has begun.
    func review(at now: Instant) {
        _ = isUsedUp(at: now)
        noteWaiting()
        onChange?()
    }
}
