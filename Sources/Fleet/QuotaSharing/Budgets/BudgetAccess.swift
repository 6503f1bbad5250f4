public import Basics

/// One loop's part of a provider's daily budget. A call takes a permit that its member has reserved, without a lock or an
/// allocation; where none is reserved the call has to wait until the log has granted more.
///
/// Not `Sendable`: it belongs to one actor.
public final class BudgetAccess {
    /// The permit of one call. It belongs to one day.
    public struct Permit: Sendable, Hashable {
        fileprivate let epoch: Int
    }

    /// Why no call can be had today.
    public enum Refusal: Sendable, Hashable {
        /// Nothing is left. `retryAfter` is the time until the next day.
        case usedUp(retryAfter: Duration)
        /// What is left is kept for interactive requests. `retryAfter` is the time until the next day; it may be sooner, when members
        /// give calls back or a person raises the budget.
        case keptForInteractive(retryAfter: Duration)
    }

    private let member: BudgetMember
    /// Called when the member should tick at once, because more permits are wanted.
    private let wake: () -> Void
    private let index: Int
    /// The day of which nothing is left, by its number, and its end. It stays noted until calls are reserved again: what others give
    /// back may be taken by others still.
    private var usedUp: (day: Int, end: Instant)?
    private var waiting = (all: 0, batch: 0)
    /// Called when permits may have come, and when nothing is left.
    public var onChange: (() -> Void)?
    /// Called when nothing is left of a day, with the time until the next one, and with `nil` when calls can be had again.
    public var onUsedUp: ((Duration?) -> Void)?

    init(_ member: BudgetMember, index: Int, wake: @escaping () -> Void) {
        self.member = member
        self.wake = wake
        self.index = index
    }

    // MARK: - Calls

    /// Returns true where a permit is reserved. A batch request gets none of the calls that are kept for interactive ones.
    public func canTake(of requestClass: RequestClass = .interactive, at now: Instant) -> Bool {
        member.canTake(index, of: requestClass, at: now)
    }

    /// Takes a permit, if one is reserved.
    public func take(of requestClass: RequestClass = .interactive, at now: Instant) -> Permit? {
        guard let epoch = member.tryTake(index, of: requestClass, at: now) else { return nil }
        if member.wantsMore(index) { wake() }
        return Permit(epoch: epoch)
    }

    /// Takes back the permit of a call that was not made.
    public func putBack(_ permit: Permit) { member.putBack(index, epoch: permit.epoch) }

    /// True while the day lasts to which a permit belongs.
    public func isCurrent(_ permit: Permit, at now: Instant) -> Bool {
        member.isCurrent(index, epoch: permit.epoch, at: now)
    }

    /// Counts a call that begins.
    /// - Parameter kind: the name under which the call counts where the calls of a day are shown.
    public func noteMade(_ permit: Permit, as kind: String, at now: Instant) {
        member.noteMade(index, kind: kind, epoch: permit.epoch, at: now)
    }

    /// The day's budget as the fleet knows it.
    public var status: BudgetStatus { member.status(index) }

    // MARK: - What is left

    /// Returns why a call of the class can have no permit today; `nil` where it may wait for one.
    public func refusal(of requestClass: RequestClass, at now: Instant) -> Refusal? {
        if isUsedUp(at: now) { return .usedUp(retryAfter: timeToNextDay(at: now)) }
        guard requestClass == .batch, member.isKeptForInteractive(index) else { return nil }
        return .keptForInteractive(retryAfter: timeToNextDay(at: now))
    }

    /// Returns the moment until which no call can be had at all; `nil` where one can.
    public func usedUpUntil(at now: Instant) -> Instant? { isUsedUp(at: now) ? now + timeToNextDay(at: now) : nil }

    private func isUsedUp(at now: Instant) -> Bool {
        if let usedUp {
            guard member.epoch(index) != usedUp.day || now >= usedUp.end || member.canTake(index, at: now) else {
                return true
            }
            self.usedUp = nil
            onUsedUp?(nil)
        } else if member.isUsedUp(index, at: now) {
            let time = timeToNextDay(at: now)
            usedUp = (member.epoch(index), now + time)
            onUsedUp?(time)
        }
        return usedUp != nil
    }

    private func timeToNextDay(at now: Instant) -> Duration {
        member.timeToNextDay(index, at: now) ?? .seconds(3600)
    }

    // MARK: - What is wanted

    /// Tells the member how many calls could begin at once if they had a permit.
    /// - Parameter batch: those of `count` that are of batch requests.
    public func setWaiting(_ count: Int, batch: Int) {
        let isMore = count > waiting.all
        waiting = (count, batch)
        noteWaiting()
        if isMore { wake() }
    }

    private func noteWaiting() {
        // After a day that was used up one call asks whether there is more.
        let asks = usedUp != nil && member.hasAnyLeft(index)
        member.setWaiting(max(waiting.all, asks ? 1 : 0), batch: waiting.batch, of: index)
    }

    /// Looks at what has changed, after a record was read or a day has begun.
    func review(at now: Instant) {
        _ = isUsedUp(at: now)
        noteWaiting()
        onChange?()
    }
}
