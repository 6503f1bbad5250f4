internal import Basics
internal import LocationSearch
import QuotaSharing
import Resilience

/// The queue of calls to one provider. Only this class decides which call begins next.
///
/// A call waits in a single queue, ordered by class and tenant, for all resources that it lacks. At the head of the queue,
/// it takes all of them at once. A call that could not begin in time is refused on arrival, or later if the limits change.
///
/// Not `Sendable`: it belongs to one actor. A call that does not wait costs no lock and no allocation.
final class ProviderQueue {
    /// A call that waits.
    final class Call {
        /// Called once, when the wait has ended with a grant or a refusal; never after `leave`.
        let onEnd: (Call) -> Void
        let deadline: Deadline
        /// The latest useful start of the call.
        let latest: Instant
        /// The resource that the call lacked on arrival.
        let need: CallNeed
        /// See `CallGroups`.
        let group: Int
        var flow: Flow
        var ticket: CallOrder<Call>.Ticket?
        /// Ends the wait at `latest`.
        var timer: ScheduledAction?
        var grant: Grant?
        var refusal: CallFailure?

        init(
            _ flow: Flow, in group: Int, before deadline: Deadline, latest: Instant, need: CallNeed,
            onEnd: @escaping (Call) -> Void
        ) {
            (self.flow, self.group, self.deadline, self.latest, self.need) = (flow, group, deadline, latest, need)
            self.onEnd = onEnd
        }
    }

    /// The maximum number of calls granted or refused in one job of the loop. A further job continues.
    static let mostAtOnce = 64
    /// The longest time between two checks of the limits while calls wait.
    private static let longestRest = Duration.seconds(1)
    /// The longest expected wait, in seconds, of a queue that counts as short. Long enough to use the whole rate while the
    /// loop is busy. Short enough that later, more urgent calls do not wait behind many others.
    static let shortLine = 0.1

    let limits: ProviderLimits
    let timekeeper: any Timekeeper
    let line: CallOrder<Call>
    /// The numbers of refused calls that lacked a token, and of those that lacked a permit. They only grow.
    var (refusedByRate, refusedByConcurrency) = (0, 0)
    /// The next check of the limits.
    private var alarm: (due: Instant, timer: ScheduledAction)?
    private var (isServing, mustServeAgain) = (false, false)
    /// The calls still to be checked because a limit became smaller, in reverse order.
    var reviewed: [Call] = []
    /// The flow and group of the last checked call, and how many calls of them stay ahead of the next one.
    var reviewedFlow: (flow: Flow, group: Int, kept: Int)?
    /// Called when waiting calls were granted or refused, or may be granted sooner.
    var onServed: (() -> Void)?

    init(_ limits: ProviderLimits, timekeeper: any Timekeeper, fairness: FairTerms = FairTerms()) {
        self.limits = limits
        self.timekeeper = timekeeper
        line = CallOrder(fairness, groups: limits.groups.count)
        limits.concurrency.onEnd = { [weak self] in self?.serve() }
        limits.onGivenBack = { [weak self] in self?.serve() }
        for account in limits.accounts { account.onChange = { [weak self] in self?.serve() } }
    }

    // MARK: - Calls

    /// Grants a call that does not have to wait.
    /// - Returns: `nil` if the call has to wait.
    /// - Throws: if the provider must not be called, or if the call would not be answered before its deadline.
    @inline(__always)
    func grantAtOnce(
        _ requestClass: RequestClass = .interactive, in group: Int = 0, before deadline: Deadline, at now: Instant
    ) throws(CallFailure) -> Grant? {
        if let refusal = refusalAtEntry(of: group, at: now) { throw refusal }
        guard line.isEmpty, limits.lacks(requestClass, in: group, at: now) == nil else { return nil }

        limits.concurrency.noteTime(before: deadline, at: now)
        if let refusal = limits.tooSlow(before: deadline, at: now) {
            refusedByConcurrency += 1
            throw refusal
        }
        return limits.take(requestClass, in: group, at: now)
    }

    private func refusalAtEntry(of group: Int, at now: Instant) -> CallFailure? {
        if let rejection = limits.breaker.rejection(at: now) {
            return limits.shut(for: rejection.retryAfter, because: rejection.reason)
        }
        return limits.budgetRefusal(of: .interactive, in: group, at: now)
    }

    // MARK: - The line

    /// Enters a call for which `grantAtOnce` has just returned `nil`. It waits until it is at the head of the queue and lacks
    /// nothing. A granted call must begin within `onEnd`, before anything else can change the limits.
    /// - Parameter group: see `CallGroups`.
    /// - Parameter owner: the request. It determines the call's flow, and `promote` finds the call by it.
    /// - Parameter lastCall: the latest start of the call; `nil` if only the deadline counts.
    /// - Parameter onEnd: called once, in a later job, when the wait has ended with a grant or a refusal; never after `leave`.
    /// - Throws: if the call would begin too late.
    @inline(never)
    func enter(
        in group: Int = 0, for owner: RequestContext?, before deadline: Deadline, lastCall: Instant?,
        then onEnd: @escaping (Call) -> Void
    ) throws(CallFailure) -> Call {
        let (flow, now) = (owner?.flow ?? .standard, timekeeper.now)
        if flow.requestClass == .batch, let refusal = limits.budgetRefusal(of: .batch, in: group, at: now) {
            throw refusal
        }
        let lack = limits.lacks(flow.requestClass, in: group, at: now)
        let need = lack ?? .token
        limits.concurrency.noteTime(before: deadline, at: now)
        let latest = latestStart(before: deadline, lastCall: lastCall, need: need, at: now)
        if let refusal = refusal(of: flow, in: group, latest: latest, need: need, at: now) {
            countRefusal(need)
            throw refusal
        }

        let call = Call(flow, in: group, before: deadline, latest: latest, need: need, onEnd: onEnd)
        call.ticket = line.append(call, in: flow, group: group, for: owner).ticket
        call.timer = timekeeper.schedule(at: latest) { [weak self, weak call] in
            guard let self, let call else { return }
            endOverdue(call)
        }
        // A call that lacks nothing is granted in the next job. Only calls of other groups have to wait.
        noteLine(at: now, hasMore: lack == nil)
        return call
    }

    /// Returns the latest useful start of a call.
    ///
    /// A token granted when no time is left is wasted, because the call times out. So twice the expected latency is kept
    /// free for the call, and at least a tenth of the time left. At most half of it is kept.
    private func latestStart(
        before deadline: Deadline, lastCall: Instant?, need: CallNeed, at now: Instant
    ) -> Instant {
        let left = deadline.remaining(at: now)
        let kept = min(left / 2, max(left / 10, limits.concurrency.expectedLatency * 2))
        var latest = deadline.instant - kept
        if need == .permit {
            let wait = limits.concurrency.longestWait(before: deadline, at: now)
            latest = min(latest, now + Duration.seconds(roundedUp: max(0, wait)))
        }
        return lastCall.map { min($0, latest) } ?? latest
    }

    /// Returns why a call is not expected to begin in time; `nil` if it is.
    private func refusal(
        of flow: Flow, in group: Int, latest: Instant, need: CallNeed, at now: Instant
    ) -> CallFailure? {
        let wait = wait(of: flow, in: group, at: now)
        guard let wait, now + wait <= latest else { return limits.tooLate(latest: latest, retryAfter: wait, at: now) }
        guard need == .permit else { return nil }

        let seconds = limits.concurrency.wait(behind: line.ahead(of: flow, in: group))
        guard seconds > now.duration(to: latest).inSeconds else { return nil }
        return limits.tooSlow(retryAfter: seconds.isFinite ? Duration.seconds(roundedUp: seconds) : nil)
    }

    /// Returns the time until a call can take its tokens: the provider's, and its method's if limited.
    /// - Parameter position: the number of calls of the flow and group ahead of it; `nil` for a new call.
    /// - Returns: `nil` if neither the present nor the expected share of a limit provides a token.
    func wait(of flow: Flow, in group: Int, behind position: Int? = nil, at now: Instant) -> Duration? {
        var longest = Duration.zero
        for bucket in limits.bucketIndices(of: group) {
            let ahead = line.ahead(of: flow, in: group, at: position) {
                bucket == 0 || limits.groups.all[$0].bucket == bucket
            }
            guard let wait = limits.buckets[bucket].wait(behind: ahead, at: now) else { return nil }
            longest = max(longest, wait)
        }
        return longest
    }

    private func endOverdue(_ call: Call) {
        serve()
        guard let ticket = call.ticket, line.contains(ticket) else { return }
        let now = timekeeper.now
        let (flow, group) = (call.flow, call.group)
        let need = limits.lacks(flow.requestClass, in: group, at: now) ?? call.need
        let wait = wait(of: flow, in: group, at: now)
        let overdue = limits.overdue(
            need, behind: line.ahead(of: flow, in: group), retryAfter: wait, latest: call.latest, at: now)
        line.remove(ticket)
        countRefusal(need)
        end(call, with: overdue)
        noteLine(at: now)
    }

    func end(_ call: Call, with refusal: CallFailure) {
        call.timer?.cancel()
        call.refusal = refusal
        call.onEnd(call)
    }

    /// Removes a call that need not be made any more.
    func leave(_ call: Call) {
        guard let ticket = call.ticket, line.remove(ticket) != nil else { return }
        call.timer?.cancel()
        noteLine(at: timekeeper.now)
    }

    /// Moves a waiting call to the interactive class, because an interactive request needs its answer too.
    func promote(_ owner: RequestContext) {
        guard let (call, ticket) = line.move(elementOf: owner, to: owner.flow) else { return }
        (call.flow, call.ticket) = (owner.flow, ticket)
        serve()
    }

    // MARK: - Serving

    /// Grants and refuses waiting calls as the limits allow. Call this after every change of a limit.
    func serve() {
        guard !line.isEmpty else { return }
        guard !isServing else { return mustServeAgain = true }

        let now = timekeeper.now
        isServing = true
        var left = Self.mostAtOnce
        repeat {
            mustServeAgain = false
            while left > 0, serveNext(at: now) { left -= 1 }
        } while mustServeAgain && left > 0
        isServing = false
        noteLine(at: now, hasMore: left == 0)
        onServed?()
    }

    /// - Returns: `false` if the next call has to wait.
    private func serveNext(at now: Instant) -> Bool {
        if let refusal = limits.refusal(at: now) {
            guard let call = line.popFirst() else { return false }
            end(call, with: refusal)
            return true
        }
        if let call = line.popFirst(where: { limits.budgetRefusal(of: $0, in: $1, at: now) != nil }) {
            let refusal = limits.budgetRefusal(of: call.flow.requestClass, in: call.group, at: now)
            end(call, with: refusal ?? limits.tooLate(latest: call.latest, retryAfter: nil, at: now))
            return true
        }
        guard let call = line.popFirst(where: { limits.lacks($0, in: $1, at: now) == nil }) else { return false }
        if let refusal = limits.tooSlow(before: call.deadline, at: now) {
            refusedByConcurrency += 1
            end(call, with: refusal)
        } else {
            call.timer?.cancel()
            call.grant = limits.take(call.flow.requestClass, in: call.group, at: now)
            call.onEnd(call)
        }
        return true
    }

    /// Updates the limits with the number of waiting calls, and schedules the next check.
    func noteLine(at now: Instant, hasMore: Bool = false) {
        for bucket in limits.buckets.indices { limits.buckets[bucket].isAwaited = !line.isEmpty }
        noteBudgetWanted(at: now)
        guard !line.isEmpty else {
            alarm?.timer.cancel()
            (alarm, reviewed) = (nil, [])
            return
        }
        // A token that is available already does not help a call that lacks another resource.
        let tokens = limits.buckets.indices.compactMap { limits.buckets[$0].nextToken(at: now) }
        let token = tokens.filter { $0 > now }.min()
        let rest = now + Self.longestRest
        setAlarm(at: hasMore || !reviewed.isEmpty ? now : min(rest, token ?? rest))
    }

    private func setAlarm(at due: Instant) {
        if let alarm, alarm.due <= due { return }
        alarm?.timer.cancel()
        let timer = timekeeper.schedule(at: due) { [weak self] in
            self?.alarm = nil
            self?.continueServing()
        }
        alarm = (due, timer)
    }
}
