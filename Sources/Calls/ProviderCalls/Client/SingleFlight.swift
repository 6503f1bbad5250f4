internal import Basics
internal import DequeModule
import Resilience

/// Coalesces identical calls that are in flight at the same time. Answers are not kept after the call, because the
/// providers' terms do not allow a cache.
///
/// A request takes part in a call as a `Member`: it has no task, and `onEnd` reports its result. The call has a dedicated
/// task, so that it belongs to all its members. A member that is cancelled or reaches its deadline leaves without affecting
/// the others. The call is cancelled only when no member is left.
///
/// The call has the deadline and the lifetime of its first member. If it fails for lack of time, the members that have more
/// time make another call together. The deadline of a call in flight cannot be moved. A call that always had the longest
/// possible deadline would wait in limiters that should refuse it.
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

    /// The end of a member's part in a call.
    enum End {
        /// `isShared` is true if the call was made for another member.
        case answered(ProviderResponse, isShared: Bool)
        case failed(ProviderFailure, isShared: Bool)
        /// The member's deadline passed; the call continues for the others.
        case timedOut
        case cancelled
    }

    /// A call in flight, and its members.
    final class Call {
        /// The query of the first member, for which the call is made.
        let query: ProviderQuery
        let deadline: Deadline
        var task: Task<Void, Never>?
        fileprivate var members: [Member] = []
        /// The number of members that have not left.
        fileprivate var present = 0
        fileprivate var isUnderWay = true
        fileprivate var isBrokenOff = false

        fileprivate init(for query: ProviderQuery, deadline: Deadline) {
            self.query = query
            self.deadline = deadline
        }

        /// False once all members have left: no further HTTP call may begin.
        var isWanted: Bool { present > 0 }

        /// True once the provider has been called: waiting on costs nothing more.
        fileprivate var isPaid: Bool { query.context?.hasCalled ?? true }
    }

    /// The maximum number of members whose end is reported in one job of the loop. A further job continues.
    private static let mostAtOnce = 64

    private let timekeeper: any Timekeeper
    private let sharesCalls: Bool
    private let start: (Call) -> Void
    private let onEnd: (Member, End) -> Void
    private let onMoreUrgent: (ProviderQuery) -> Void
    private var calls: [ProviderQuery: Call] = [:]
    private var counters = Statistics()
    /// Members whose end has not been reported yet.
    private var ended: Deque<(member: Member, call: Call, end: End)> = []
    private var (isReporting, willReport) = (false, false)

    /// - Parameters:
    ///   - sharesCalls: `false`: each member makes a separate call.
    ///   - start: starts the task that makes a call. The task is stored as the call's `task` and ends with `finish`.
    ///   - onEnd: called once per member, with the end of its part.
    ///   - onMoreUrgent: called with a call's query when a request of a more urgent class joins the call.
    init(
        timekeeper: any Timekeeper, sharesCalls: Bool = true, start: @escaping (Call) -> Void,
        onEnd: @escaping (Member, End) -> Void, onMoreUrgent: @escaping (ProviderQuery) -> Void = { _ in }
    ) {
        self.timekeeper = timekeeper
        self.sharesCalls = sharesCalls
        self.start = start
        self.onEnd = onEnd
        self.onMoreUrgent = onMoreUrgent
    }

    var statistics: Statistics {
        var statistics = counters
        statistics.underWay = calls.count
        return statistics
    }

    private func join(_ member: Member) {
        if sharesCalls, let call = calls[member.query] {
            counters.joined += 1
            member.isFirst = false
            add(member, to: call)
            noteUrgency(of: member.query, for: call)
            setTimers(of: member, in: call)
        } else {
            let call = Call(for: member.query, deadline: member.deadline)
            member.isFirst = true
            add(member, to: call)
            if sharesCalls { calls[member.query] = call }
            counters.calls += 1
            start(call)
        }
    }

    private func add(_ member: Member, to call: Call) {
        member.call = call
        call.members.append(member)
        call.present += 1
    }

    /// A call serves all its members, so it is as urgent as the most urgent one.
    @inline(never)
    private func noteUrgency(of query: ProviderQuery, for call: Call) {
        guard query.flow.requestClass == .interactive, call.query.flow.requestClass == .batch, !call.isPaid else {
            return
        }
        onMoreUrgent(call.query)
    }

    private func setTimers(of member: Member, in call: Call) {
        // The call ends by its own deadline, so only a member that has less time needs a timer.
        if member.deadline < call.deadline {
            member.timers.append(
                timekeeper.schedule(at: member.deadline.instant) { [weak self] in self?.leave(member, as: .timedOut) })
        }
        if let lastCall = member.query.lastCall, lastCall < member.deadline.instant,
            call.query.mayCallLater(than: member.query)
        {
            member.timers.append(
                timekeeper.schedule(at: lastCall) { [weak self] in
                    if !call.isPaid { self?.leave(member, as: .timedOut) }
                })
        }
    }

    /// Removes a member from its call. The end is reported in a separate job, because the caller may be in the middle of a
    /// change. Also, the request that replaces this one (a newer search of its session) may be about to join the same call.
    private func leave(_ member: Member, as end: End) {
        guard let call = member.call else { return }
        member.leaveCall()
        call.present -= 1
        ended.append((member, call, end))
        reportLater()
    }

    /// Cancels a call when its last member has left.
    private func endIfUnwanted(_ call: Call) {
        guard !call.isWanted, call.isUnderWay, !call.isBrokenOff else { return }
        call.isBrokenOff = true

        // A request that arrives now must not join a call that is being cancelled.
        if calls[call.query] === call { calls[call.query] = nil }
        counters.abandoned += 1
        call.task?.cancel()
    }

    /// Ends a call and reports the result to its members.
    func finish(_ call: Call, with result: Result<ProviderResponse, ProviderFailure>) {
        call.isUnderWay = false
        if calls[call.query] === call { calls[call.query] = nil }
        for member in call.members where member.call === call {
            member.leaveCall()
            switch result {
            case .success(let response): ended.append((member, call, .answered(response, isShared: !member.isFirst)))
            case .failure(let failure): ended.append((member, call, .failed(failure, isShared: !member.isFirst)))
            }
        }
        if !isReporting { tell() }
    }

    private func tell() {
        isReporting = true
        var left = Self.mostAtOnce
        while left > 0, let (member, call, end) = ended.popFirst() {
            left -= 1
            switch end {
            case .failed(let failure, _) where moreTimeMayHelp(member, after: failure, of: call):
                counters.again += 1
                join(member)
                continue
            case .answered, .failed: break
            case .timedOut, .cancelled: endIfUnwanted(call)
            }
            onEnd(member, end)
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
    private func moreTimeMayHelp(_ member: Member, after failure: ProviderFailure, of call: Call) -> Bool {
        guard failure.lacksTime, !member.deadline.hasPassed(at: timekeeper.now) else { return false }
        return member.deadline > call.deadline || member.query.mayCallLater(than: call.query)
    }

    /// One request's membership in a call.
    final class Member: ProviderWait {
        let query: ProviderQuery
        let deadline: Deadline
        /// The time at which the request joined.
        let start: Instant
        /// Called with the result.
        let then: (Result<ProviderResponse, ProviderFailure>) -> Void
        private let flight: SingleFlight
        /// The call that the member waits for; `nil` after its end or after the member has left.
        fileprivate var call: Call?
        /// True if the call is made for this member.
        fileprivate var isFirst = false
        /// Timers that end the wait early; most members need none.
        fileprivate var timers: [ScheduledAction] = []

        init(
            of flight: SingleFlight, _ query: ProviderQuery, before deadline: Deadline, since start: Instant,
            then: @escaping (Result<ProviderResponse, ProviderFailure>) -> Void
        ) {
            self.flight = flight
            self.query = query
            self.deadline = deadline
            self.start = start
            self.then = then
        }

        /// Makes the call, or joins the call in flight for an equal query. Called once.
        func begin() { flight.join(self) }

        /// Leaves the call, for example because the request is no longer wanted.
        func cancel() { flight.leave(self, as: .cancelled) }

        fileprivate func leaveCall() {
            call = nil
            for timer in timers { timer.cancel() }
            timers = []
        }
    }
}
