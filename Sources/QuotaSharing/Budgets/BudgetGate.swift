public import Basics
internal import DequeModule
public import Resilience

/// The failure of a call that gets no permit of the daily budget.
public enum BudgetError: Error, Hashable, Sendable {
    /// Nothing is left today. `retryAfter` is the time until the next day.
    case usedUp(retryAfter: Duration)
    /// The call is of a batch request, and what is left today is kept for interactive ones. `retryAfter` is the time until the
    /// next day; it may be sooner, when members give calls back or a person raises the budget.
    case keptForInteractive(retryAfter: Duration)
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
        let owner: AnyObject?
        /// Says in which line the call waits.
        var requestClass: RequestClass
        var epoch: Int?
        /// The reason for which it gets no permit, where that is not its deadline or its cancellation.
        var refusal: BudgetError?

        init(of requestClass: RequestClass, owner: AnyObject?) {
            self.requestClass = requestClass
            self.owner = owner
        }
    }

    private let member: BudgetMember
    /// Called when the member should tick at once, because more permits are wanted.
    private let wake: () -> Void
    private let index: Int
    private let timekeeper: any Timekeeper
    private var line: Deque<Entry> = []
    /// The calls of batch requests, which get what the others leave.
    private var batchLine: Deque<Entry> = []
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
    ///
    /// A batch request gets none of the calls that are kept for interactive ones.
    public func tryTake(of requestClass: RequestClass = .interactive, at now: Instant) -> Permit? {
        guard line.isEmpty, requestClass == .interactive || batchLine.isEmpty,
            let epoch = member.tryTake(index, of: requestClass, at: now)
        else { return nil }
        if member.wantsMore(index) { wake() }
        return Permit(epoch: epoch)
    }

    /// Takes a permit as soon as the log grants one.
    /// - Parameters:
    ///   - owner: what `promote` finds the call by.
    ///   - deadline: the latest moment for the call to begin.
    public func take(
        of requestClass: RequestClass = .interactive, for owner: AnyObject? = nil, before deadline: Deadline,
        at now: Instant
    ) async throws(BudgetError) -> Permit {
        if let permit = tryTake(of: requestClass, at: now) { return permit }
        if let refusal = refusal(of: requestClass, at: now) { throw refusal }

        let entry = Entry(of: requestClass, owner: owner)
        switch requestClass {
        case .interactive: line.append(entry)
        case .batch: batchLine.append(entry)
        }
        noteWaiting()
        wake()
        let timer = timekeeper.schedule(at: deadline.instant) { [weak entry] in _ = entry?.waiter.settle(.tooLate()) }
        let verdict = await entry.waiter.verdict()
        timer.cancel()
        if verdict.isServed, let epoch = entry.epoch { return Permit(epoch: epoch) }
        switch entry.requestClass {
        case .interactive: line.removeAll { $0 === entry }
        case .batch: batchLine.removeAll { $0 === entry }
        }
        noteWaiting()
        if let refusal = entry.refusal { throw refusal }
        throw Task.isCancelled ? .cancelled : .tooLate
    }

    /// Has a batch call that waits go on waiting as interactive ones do, because an interactive request needs its answer too. Goes
    /// through all batch calls that wait.
    public func promote(_ owner: AnyObject) {
        let promoted = batchLine.filter { $0.owner === owner }
        guard !promoted.isEmpty else { return }

        batchLine.removeAll { $0.owner === owner }
        for entry in promoted {
            entry.requestClass = .interactive
            line.append(entry)
        }
        serve(at: timekeeper.now)
        wake()
    }

    /// Returns why a call gets no permit today; `nil` where it may wait for one.
    private func refusal(of requestClass: RequestClass, at now: Instant) -> BudgetError? {
        if (requestClass == .batch ? batchLine : line).isEmpty, member.isUsedUp(index, at: now) {
            return .usedUp(retryAfter: timeToNextDay(at: now))
        }
        guard requestClass == .batch, member.isKeptForInteractive(index) else { return nil }
        return .keptForInteractive(retryAfter: timeToNextDay(at: now))
    }

    /// Refuses all calls that wait, because the provider must not be asked any more.
    public func refuseAll() {
        for entry in line + batchLine { entry.waiter.settle(.tooLate()) }
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
    public var status: BudgetStatus { member.status(index) }

    // MARK: - The line

    /// Lets waiting calls pass, after a record was read or a day has begun.
    func review(at now: Instant) {
        serve(at: now)
        refuseWhatIsHopeless(at: now)
        if member.hasAnyLeft(index) { onMore?() }
    }

    private func serve(at now: Instant) {
        guard !line.isEmpty || !batchLine.isEmpty else { return }
        while let first = line.first, let epoch = member.tryTake(index, at: now) {
            line.removeFirst()
            hand(epoch, to: first)
        }
        while line.isEmpty, let first = batchLine.first, let epoch = member.tryTake(index, of: .batch, at: now) {
            batchLine.removeFirst()
            hand(epoch, to: first)
        }
        noteWaiting()
    }

    private func hand(_ epoch: Int, to entry: Entry) {
        entry.epoch = epoch
        // The call was cancelled a moment ago, or its time was up: the next may have the permit.
        if !entry.waiter.settle(.served) { member.putBack(index, epoch: epoch) }
    }

    /// Refuses the calls that can have no permit today.
    private func refuseWhatIsHopeless(at now: Instant) {
        guard !line.isEmpty || !batchLine.isEmpty else { return }
        if member.isUsedUp(index, at: now) {
            let refused = [line, batchLine]
            (line, batchLine) = ([], [])
            for entries in refused { refuse(entries, with: .usedUp(retryAfter: timeToNextDay(at: now))) }
        } else if !batchLine.isEmpty, member.isKeptForInteractive(index) {
            let refused = batchLine
            batchLine = []
            refuse(refused, with: .keptForInteractive(retryAfter: timeToNextDay(at: now)))
        }
    }

    private func refuse(_ entries: Deque<Entry>, with refusal: BudgetError) {
        noteWaiting()
        for entry in entries {
            entry.refusal = refusal
            entry.waiter.settle(.tooLate())
        }
    }

    private func noteWaiting() {
        member.setWaiting(line.count + batchLine.count, batch: batchLine.count, of: index)
    }

    private func timeToNextDay(at now: Instant) -> Duration {
        member.timeToNextDay(index, at: now) ?? .seconds(3600)
    }
}

extension Waiter.Verdict {
    fileprivate var isServed: Bool {
        if case .served = self { true } else { false }
    }
}
