internal import Basics

/// The calls that a member may make.
extension BudgetMember {
    /// Returns true if a call can be taken at once.
    func canTake(_ index: Int, of requestClass: RequestClass = .interactive, at now: Instant) -> Bool {
        guard accounts[index].reservation.hasCall(at: now) else { return false }
        return requestClass == .interactive || !isKeptForInteractive(index)
    }

    /// The number of the provider's current day.
    func epoch(_ index: Int) -> Int { accounts[index].reservation.epoch }

    /// Takes one call at once.
    /// - Parameter index: the index of the account in `accounts`.
    /// - Returns: the number of the day for which the call counts, for `putBack` and `noteMade`; `nil` if none is
    ///   reserved.
    @inline(__always)
    func tryTake(_ index: Int, of requestClass: RequestClass = .interactive, at now: Instant) -> Int? {
        if requestClass == .batch, isKeptForInteractive(index) { return nil }
        return accounts[index].reservation.tryTake(of: requestClass, at: now) ? accounts[index].reservation.epoch : nil
    }

    /// Returns a call that was not made.
    func putBack(_ index: Int, epoch: Int) { accounts[index].reservation.putBack(epoch: epoch) }

    /// True while a taken call may be made, which is until the end of its day.
    func isCurrent(_ index: Int, epoch: Int, at now: Instant) -> Bool {
        accounts[index].reservation.epoch == epoch && accounts[index].reservation.day.map { now < $0.end } ?? false
    }

    /// Counts a call that begins.
    func noteMade(_ index: Int, kind: String, epoch: Int, at now: Instant) {
        accounts[index].reservation.noteMade(kind, epoch: epoch, at: now)
    }

    /// Sets the number of waiting calls.
    /// - Parameter batch: the calls among `count` of batch requests.
    func setWaiting(_ count: Int, batch: Int = 0, of index: Int) {
        accounts[index].reservation.waiting = count
        accounts[index].reservation.waitingBatch = batch
    }

    /// True if no further call is possible today: none is reserved, requested or left.
    func isUsedUp(_ index: Int, at now: Instant) -> Bool {
        guard isReady, let day = accounts[index].reservation.day, now < day.end else { return false }
        return accounts[index].reservation.held == 0 && accounts[index].reservation.asked == 0
            && left(index, on: day) == 0
    }

    /// True if another call is possible, at once or after a request.
    func hasAnyLeft(_ index: Int) -> Bool {
        guard isReady, let day = accounts[index].reservation.day else { return false }
        return accounts[index].reservation.held > 0 || left(index, on: day) > 0
    }

    /// The time until the provider's next day; `nil` before the day is set.
    func timeToNextDay(_ index: Int, at now: Instant) -> Duration? {
        accounts[index].reservation.day.map { max(.milliseconds(1), now.duration(to: $0.end)) }
    }

    /// True if a message should be published soon: less than half of the wanted calls are reserved.
    func wantsMore(_ index: Int) -> Bool {
        let (reservation, withBatch) = (accounts[index].reservation, mayReserveForBatch(index))
        let waiting = withBatch ? reservation.waiting : reservation.waiting - reservation.waitingBatch
        return waiting > reservation.asked
            || (reservation.held + reservation.asked) * 2 < wanted(reservation, withBatch: withBatch)
    }
}
