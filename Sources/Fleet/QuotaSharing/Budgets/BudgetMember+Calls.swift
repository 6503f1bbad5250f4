internal import Basics

/// The calls that a member may make.
extension BudgetMember {
    /// Returns true where a call can be taken at once.
    func canTake(_ index: Int, of requestClass: RequestClass = .interactive, at now: Instant) -> Bool {
        guard accounts[index].reservation.hasCall(at: now) else { return false }
        return requestClass == .interactive || !isKeptForInteractive(index)
    }

    /// The number of the provider's present day.
    func epoch(_ index: Int) -> Int { accounts[index].reservation.epoch }

    /// Takes one call at once.
    /// - Parameter index: of the account in `accounts`.
    /// - Returns: the day it counts for, as a number for `putBack` and `noteMade`; `nil` when none is held.
    @inline(__always)
    func tryTake(_ index: Int, of requestClass: RequestClass = .interactive, at now: Instant) -> Int? {
        if requestClass == .batch, isKeptForInteractive(index) { return nil }
        return accounts[index].reservation.tryTake(of: requestClass, at: now) ? accounts[index].reservation.epoch : nil
    }

    /// Takes back a call that was not made.
    func putBack(_ index: Int, epoch: Int) { accounts[index].reservation.putBack(epoch: epoch) }

    /// True while a call that was taken may still be made: its day lasts.
    func isCurrent(_ index: Int, epoch: Int, at now: Instant) -> Bool {
        accounts[index].reservation.epoch == epoch && accounts[index].reservation.day.map { now < $0.end } ?? false
    }

    /// Counts a call that begins.
    func noteMade(_ index: Int, kind: String, epoch: Int, at now: Instant) {
        accounts[index].reservation.noteMade(kind, epoch: epoch, at: now)
    }

    /// Sets the number of calls that wait.
    /// - Parameter batch: those of `count` that are of batch requests.
    func setWaiting(_ count: Int, batch: Int = 0, of index: Int) {
        accounts[index].reservation.waiting = count
        accounts[index].reservation.waitingBatch = batch
    }

    /// True when no call can be had any more today: none is reserved, asked for or left.
    func isUsedUp(_ index: Int, at now: Instant) -> Bool {
        guard isReady, let day = accounts[index].reservation.day, now < day.end else { return false }
        return accounts[index].reservation.held == 0 && accounts[index].reservation.asked == 0
            && left(index, on: day) == 0
    }

    /// True when another call may be had at once or by asking for it.
    func hasAnyLeft(_ index: Int) -> Bool {
        guard isReady, let day = accounts[index].reservation.day else { return false }
        return accounts[index].reservation.held > 0 || left(index, on: day) > 0
    }

    /// The time until the provider's next day; `nil` before the first look.
    func timeToNextDay(_ index: Int, at now: Instant) -> Duration? {
        accounts[index].reservation.day.map { max(.milliseconds(1), now.duration(to: $0.end)) }
    }

    /// True when a message should be published soon: less than half of the wanted calls are reserved.
    func wantsMore(_ index: Int) -> Bool {
        let (reservation, withBatch) = (accounts[index].reservation, mayReserveForBatch(index))
        let waiting = withBatch ? reservation.waiting : reservation.waiting - reservation.waitingBatch
        return waiting > reservation.asked
            || (reservation.held + reservation.asked) * 2 < wanted(reservation, withBatch: withBatch)
    }
}
