public import Basics
internal import DequeModule
public import Resilience

/// The failure of a call that gets no permit of the daily budget.
public enum BudgetError: Error, Hashable, Sendable {
    /// Nothing is left today. `retryAfter` is the time until the next day.
    case usedUp(retryAfter: Duration)
    /// The log did not grant the call before the deadline.
    case tooLate
    /// The waiting task was cancelled.
    case cancelled
}

/// Lets calls to one provider pass while its daily budget lasts. A call takes a permit that its member has reserved,
/// without a lock or an allocation; where none is reserved it waits in line until the log has granted more.
///
/// Not `Sendable`: it belongs to one actor, whose isolation `take` keeps.
public final class BudgetGate {
    /// The permit of one call. It belongs to one day.
    public struct Permit: Sendable, Hashable {
        fileprivate let epoch: Int
    }

    /// A call in line. A class, because its task finds its verdict here.
    private final class Entry {
        let waiter = Waiter()
        var epoch: Int?
        var retryAfter: Duration?
    }

    private let member: BudgetMember
    /// Called when the member should tick at once, because more permits are wanted.
    private let wake: () -> Void
    private let index: Int
    private let timekeeper: any Timekeeper
    private var line: Deque<Entry> = []
    /// Called when permits can be had again after there were none.
    public var onMore: (() -> Void)?

    init(_ member: BudgetMember, index: Int, timekeeper: any Timekeeper, wake: @escaping () -> Void) {
        self.member = member
        self.wake = wake
        self.index = index
        self.timekeeper = timekeeper
    }

    // MARK: - Passing

    /// Takes a permit if one is reserved and no call waits already.
    public func tryTake(at now: Instant) -> Permit? {
        guard line.isEmpty, let epoch = member.tryTake(index, at: now) else { return nil }
        if member.wantsMore(index) { wake() }
        return Permit(epoch: epoch)
    }

    /// Takes a permit as soon as the log grants one.
    /// - Parameter deadline: the latest moment for the call to begin.
    public func take(before deadline: Deadline, at now: Instant) async throws(BudgetError) -> Permit {
        if let permit = tryTake(at: now) { return permit }
        if line.isEmpty, member.isUsedUp(index, at: now) { throw .usedUp(retryAfter: timeToNextDay(at: now)) }

        let entry = Entry()
        line.append(entry)
        noteWaiting()
        wake()
        timekeeper.schedule(at: deadline.instant) { [weak entry] in _ = entry?.waiter.settle(.tooLate()) }

        let verdict = await entry.waiter.verdict()
        if verdict.isServed, let epoch = entry.epoch { return Permit(epoch: epoch) }
        line.removeAll { $0 === entry }
        noteWaiting()
        if let retryAfter = entry.retryAfter { throw .usedUp(retryAfter: retryAfter) }
        throw Task.isCancelled ? .cancelled : .tooLate
    }

    /// Takes back the permit of a call that was not made.
    public func putBack(_ permit: Permit) {
        member.putBack(index, epoch: permit.epoch)
        serve(at: timekeeper.now)
    }

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
    public var status: BudgetStatus { BudgetStatus(member.today(index)) }

    // MARK: - The line

    /// Lets waiting calls pass, after a record was read or a day has begun.
    func review(at now: Instant) {
        serve(at: now)
        if !line.isEmpty, member.isUsedUp(index, at: now) { refuseAll(at: now) }
        if member.hasAnyLeft(index) { onMore?() }
    }

    private func serve(at now: Instant) {
        guard !line.isEmpty else { return }
        while let first = line.first, let epoch = member.tryTake(index, at: now) {
            line.removeFirst()
            first.epoch = epoch
            // The call was cancelled a moment ago, or its time was up: the next may have the permit.
            if !first.waiter.settle(.served) { member.putBack(index, epoch: epoch) }
        }
        noteWaiting()
    }

    private func refuseAll(at now: Instant) {
        let refused = line
        line = []
        noteWaiting()
        for entry in refused {
            entry.retryAfter = timeToNextDay(at: now)
            entry.waiter.settle(.tooLate())
        }
    }

    private func noteWaiting() { member.setWaiting(line.count, of: index) }

    private func timeToNextDay(at now: Instant) -> Duration {
        member.timeToNextDay(index, at: now) ?? .seconds(3600)
    }
}

extension Waiter.Verdict {
    fileprivate var isServed: Bool {
        if case .served = self { true } else { false }
    }
}
