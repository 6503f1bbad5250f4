internal import Basics
internal import DequeModule
internal import LocationSearch
import Resilience

/// Coalesces identical calls that are in flight at the same time. Answers are not kept after the call, because the
/// providers' terms do not allow a cache.
///
/// A query takes part in a call as one of its members, and `onEnd` reports its result. The call belongs to all its members.
/// A member that is cancelled or reaches its deadline leaves without affecting the others. The call is cancelled only when
/// no member is left.
///
/// The call has the deadline and the lifetime of its first member. If it fails for lack of time, the members that have more
/// time make another call together. The deadline of a call in flight cannot be moved. A call that always had the longest
/// possible deadline would wait for limits that should refuse it.
///
/// Not `Sendable`: it belongs to one actor, on which the calls run.
final class SingleFlight {
    struct Statistics: Sendable, Hashable {
        /// The number of calls made.
        var calls = 0
        /// The number of members that shared another member's call.
        var joined = 0
        /// The number of members that made another call, because they had more time than the failed one.
        var again = 0
        /// The number of calls cancelled because no member was left.
        var abandoned = 0
        /// The number of calls in flight now.
        var underWay = 0
    }

    /// The maximum number of members whose end is reported in one job of the loop. A further job continues.
    private static let mostAtOnce = 64

    private let timekeeper: any Timekeeper
    private let sharesCalls: Bool
    private let start: (SharedCall) -> Void
    private let cancel: (SharedCall) -> Void
    private let onEnd: (ProviderQuery, SharedCall) -> Void
    private let onMoreUrgent: (ProviderQuery) -> Void
    private var calls: [ProviderQuery: SharedCall] = [:]
    private var counters = Statistics()
    /// Members whose end has not been reported yet.
    private var ended: Deque<(member: ProviderQuery, call: SharedCall)> = []
    private var (isReporting, willReport) = (false, false)

    /// - Parameters:
    ///   - sharesCalls: `false`: each member makes a separate call.
    ///   - start: makes a call. It sets the call's `result`, and ends with `finish`.
    ///   - cancel: ends a call early, also with `finish`.
    ///   - onEnd: called once per member, with its call, after its `end` was set.
    ///   - onMoreUrgent: called with a call's query when a request of a more urgent class joins the call.
    init(
        timekeeper: any Timekeeper, sharesCalls: Bool = true, start: @escaping (SharedCall) -> Void,
        cancel: @escaping (SharedCall) -> Void, onEnd: @escaping (ProviderQuery, SharedCall) -> Void,
        onMoreUrgent: @escaping (ProviderQuery) -> Void = { _ in }
    ) {
        self.timekeeper = timekeeper
        (self.sharesCalls, self.start, self.cancel) = (sharesCalls, start, cancel)
        (self.onEnd, self.onMoreUrgent) = (onEnd, onMoreUrgent)
    }

    var statistics: Statistics {
        var statistics = counters
        statistics.underWay = calls.count
        return statistics
    }

    /// Makes the call of a query, or joins the call in flight for an equal one.
    func join(_ query: ProviderQuery) {
        if sharesCalls, let call = calls[query] {
            counters.joined += 1
            query.isFirst = false
            add(query, to: call)
            noteUrgency(of: query, for: call)
            setTimers(of: query, in: call)
        } else {
            let call = SharedCall(for: query)
            query.isFirst = true
            add(query, to: call)
            if sharesCalls { calls[query] = call }
            counters.calls += 1
            start(call)
        }
    }

    private func add(_ query: ProviderQuery, to call: SharedCall) {
        query.call = call
        call.members.append(query)
        call.present += 1
    }

    /// A call serves all its members, so it is as urgent as the most urgent one.
    @inline(never)
    private func noteUrgency(of query: ProviderQuery, for call: SharedCall) {
        if query.flow.requestClass == .interactive, call.query.flow.requestClass == .batch { onMoreUrgent(call.query) }
    }

    private func setTimers(of query: ProviderQuery, in call: SharedCall) {
        // The call ends by its own deadline, so only a member that has less time needs a timer.
        if query.deadline < call.deadline {
            query.timers.append(
                timekeeper.schedule(at: query.deadline.instant) { [weak self] in self?.leave(query, as: .timedOut) })
        }
        if let lastCall = query.lastCall, lastCall < query.deadline.instant, call.query.mayCallLater(than: query) {
            query.timers.append(
                timekeeper.schedule(at: lastCall) { [weak self] in
                    if !call.isBilled { self?.leave(query, as: .timedOut) }
                })
        }
    }

    /// Removes a member from its call, for example because the request is no longer wanted. Its end is reported in a
    /// separate job, because the caller may be in the middle of a change. Also, the request that replaces this one (a newer
    /// search of its session) may be about to join the same call.
    func leave(_ query: ProviderQuery, as end: ProviderQuery.End) {
        guard let call = query.call else { return }
        query.leaveCall()
        call.present -= 1
        query.end = end
        ended.append((query, call))
        reportLater()
    }

    /// Cancels a call when its last member has left.
    private func endIfUnwanted(_ call: SharedCall) {
        guard !call.isWanted, call.isInFlight, !call.isCancelled else { return }
        call.isCancelled = true

        // A request that arrives now must not join a call that is being cancelled.
        if calls[call.query] === call { calls[call.query] = nil }
        counters.abandoned += 1
        cancel(call)
    }

    /// Ends a call that has its result, and reports it to its members.
    func finish(_ call: SharedCall) {
        call.isInFlight = false
        if calls[call.query] === call { calls[call.query] = nil }
        for member in call.members where member.call === call {
            member.leaveCall()
            call.present -= 1
            // The last member gets the answer itself and not a copy.
            guard let result = call.present == 0 ? call.result.take() : call.result else { continue }
            member.end = .over(result)
            ended.append((member, call))
        }
        if !isReporting { tell() }
    }

    private func tell() {
        isReporting = true
        var left = Self.mostAtOnce
        while left > 0, let (member, call) = ended.popFirst() {
            left -= 1
            if case .over(let result) = member.end {
                if case .failure(let failure) = result, moreTimeMayHelp(member, after: failure, of: call) {
                    counters.again += 1
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
    private func moreTimeMayHelp(_ query: ProviderQuery, after failure: CallFailure, of call: SharedCall) -> Bool {
        guard failure.lacksTime, !query.search.isCancelled, !query.deadline.hasPassed(at: timekeeper.now) else {
            return false
        }
        return query.deadline > call.deadline || query.mayCallLater(than: call.query)
    }
}
