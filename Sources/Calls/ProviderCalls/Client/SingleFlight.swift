internal import Basics
internal import DequeModule
internal import LocationSearch
import Resilience

/// Coalesces identical calls that are in flight at the same time. Answers are not kept after the call, because the
/// providers' terms do not allow a cache.
///
/// A search takes part in a call as one of its members, and `onEnd` reports its result. The call belongs to all its members.
/// A member that is cancelled or reaches its deadline leaves without affecting the others. The call is cancelled only when
/// no member is left.
///
/// The call has the deadlines of its first member. If it fails for lack of time, the members that have more time make
/// another call together. The latest possible deadline would keep a call waiting for a limit that should have refused it.
///
/// Not `Sendable`: it belongs to one actor, on which the calls run.
final class SingleFlight {
    /// The maximum number of members whose end is reported in one job of the loop. A further job continues.
    private static let mostAtOnce = 64

    private let timekeeper: any Timekeeper
    private let sharesCalls: Bool
    private let start: (SharedCall) -> Void
    private let cancel: (SharedCall) -> Void
    private let onEnd: (ProviderSearch, SharedCall) -> Void
    private let onMoreUrgent: (ProviderSearch) -> Void
    private var calls: [SharedCall.Key: SharedCall] = [:]
    /// The number of members that shared another member's call.
    private(set) var joined = 0
    /// Members whose end has not been reported yet.
    private var ended: Deque<(member: ProviderSearch, call: SharedCall)> = []
    private var (isReporting, willReport) = (false, false)

    /// - Parameters:
    ///   - sharesCalls: `false`: each member makes a separate call.
    ///   - start: makes a call. It sets the call's `result`, and ends with `finish`.
    ///   - cancel: ends a call early, also with `finish`.
    ///   - onEnd: called once per member, with its call, after its `end` was set.
    ///   - onMoreUrgent: called with a call's search when a request of a more urgent class joins the call.
    init(
        timekeeper: any Timekeeper, sharesCalls: Bool = true, start: @escaping (SharedCall) -> Void,
        cancel: @escaping (SharedCall) -> Void, onEnd: @escaping (ProviderSearch, SharedCall) -> Void,
        onMoreUrgent: @escaping (ProviderSearch) -> Void = { _ in }
    ) {
        self.timekeeper = timekeeper
        (self.sharesCalls, self.start, self.cancel) = (sharesCalls, start, cancel)
        (self.onEnd, self.onMoreUrgent) = (onEnd, onMoreUrgent)
    }

    /// Makes the call of a search, or joins the call in flight for an equal one.
    func join(_ search: ProviderSearch) {
        let key = sharesCalls ? SharedCall.Key(search) : nil
        if let key, let call = calls[key] {
            joined += 1
            add(search, to: call)
            noteUrgency(of: search, for: call)
            if call.isBilled, call.isInherited { search.context?.noteCall(at: timekeeper.now) }
            setTimers(of: search, in: call)
        } else {
            let call = SharedCall(for: search, key: key)
            add(search, to: call)
            if let key { calls[key] = call }
            start(call)
        }
    }

    private func add(_ search: ProviderSearch, to call: SharedCall) {
        search.membership.call = call
        call.members.append(search)
        call.present += 1
    }

    /// A call serves all its members, so it is as urgent as the most urgent one.
    @inline(never)
    private func noteUrgency(of search: ProviderSearch, for call: SharedCall) {
        if search.flow.requestClass == .interactive, call.search.flow.requestClass == .batch {
            onMoreUrgent(call.search)
        }
    }

    private func setTimers(of search: ProviderSearch, in call: SharedCall) {
        // The call ends by its own deadline, so only a member that has less time needs a timer.
        if search.deadline < call.deadline {
            search.membership.timers.append(
                timekeeper.schedule(at: search.deadline.instant) { [weak self] in self?.leave(search, as: .timedOut) })
        }
        if let lastCall = search.lastCall, lastCall < search.deadline.instant, call.search.mayCallLater(than: search) {
            search.membership.timers.append(
                timekeeper.schedule(at: lastCall) { [weak self] in
                    if !call.isBilled { self?.leave(search, as: .timedOut) }
                })
        }
    }

    /// Removes a member from its call, for example because the request is no longer wanted. Its end is reported in a
    /// separate job, because the caller may be in the middle of a change. Also, the request that replaces this one (a newer
    /// search of its session) may be about to join the same call.
    func leave(_ search: ProviderSearch, as end: SharedCall.End) {
        guard let call = search.membership.call else { return }
        search.membership.leave()
        call.present -= 1
        search.membership.end = end
        if call.isBilled, call.search === search { call.noteCallOfHeirs(at: timekeeper.now) }
        ended.append((search, call))
        reportLater()
    }

    /// Cancels a call when its last member has left.
    private func endIfUnwanted(_ call: SharedCall) {
        guard !call.isWanted, call.state == .inFlight else { return }
        call.state = .cancelled

        // A request that arrives now must not join a call that is being cancelled.
        forget(call)
        cancel(call)
    }

    private func forget(_ call: SharedCall) {
        if let key = call.key, calls[key] === call { calls[key] = nil }
    }

    /// Ends a call that has its result, and reports it to its members.
    func finish(_ call: SharedCall) {
        if call.state == .inFlight { call.state = .ended }
        forget(call)
        for member in call.members where member.membership.call === call {
            member.membership.leave()
            call.present -= 1
            // The last member gets the answer itself and not a copy.
            guard let result = call.present == 0 ? call.result.take() : call.result else { continue }
            member.membership.end = .over(result)
            ended.append((member, call))
        }
        if !isReporting { tell() }
    }

    private func tell() {
        isReporting = true
        var left = Self.mostAtOnce
        while left > 0, let (member, call) = ended.popFirst() {
            left -= 1
            if case .over(let result) = member.membership.end {
                if case .failure(let failure) = result, moreTimeMayHelp(member, after: failure, of: call) {
                    join(member)
                    continue
                }
            } else {
                endIfUnwanted(call)
            }
            onEnd(member, call)
        }
        isReporting = false
        if !ended.isEmpty { reportLater() }
    }

    private func reportLater() {
        guard !willReport, !isReporting else { return }
        willReport = true
        timekeeper.schedule(at: timekeeper.now) { [weak self] in
            guard let self else { return }
            willReport = false
            tell()
        }
    }

    /// Returns whether the member has more time than the call, which failed for lack of time.
    private func moreTimeMayHelp(_ search: ProviderSearch, after failure: CallFailure, of call: SharedCall) -> Bool {
        guard failure.lacksTime, !search.isCancelled, !search.deadline.hasPassed(at: timekeeper.now) else {
            return false
        }
        return search.deadline > call.deadline || search.mayCallLater(than: call.search)
    }
}
