internal import Basics
internal import LocationSearch
import QuotaSharing
import Resilience

/// The calls to one provider that wait, and the only place that decides which of them begins next.
///
/// A call waits once: for whatever it lacks, in one line by class and tenant. When its turn comes and nothing is lacking, it gets
/// everything at once. A call that could not begin in time is refused when it comes, and later when the limits have changed.
///
/// Not `Sendable`: it belongs to one actor, whose isolation `grant` keeps. A call that does not wait costs no lock and no
/// allocation.
final class ProviderQueue {
    /// A call that waits.
    final class Call {
        let waiter = Waiter()
        let deadline: Deadline
        /// The moment after which the call is of no use.
        let latest: Instant
        /// What it lacked when it came.
        let need: CallNeed
        var flow: Flow
        var ticket: CallOrder<Call>.Ticket?
        /// Ends the wait at `latest`.
        var timer: ScheduledAction?
        var grant: Grant?
        var refusal: CallFailure?

        init(_ flow: Flow, before deadline: Deadline, latest: Instant, need: CallNeed) {
            self.flow = flow
            self.deadline = deadline
            self.latest = latest
            self.need = need
        }
    }

    /// The calls that are granted or refused in one job of the loop at most. A further job goes on.
    static let mostAtOnce = 64
    /// While calls wait, the queue looks at its limits at least so often.
    private static let longestRest = Duration.seconds(1)
    /// How much later than its turn a request may be asked to wait for it: long enough to keep the rate in use whatever the loop does
    /// meanwhile, short enough that what comes later and is more urgent is not far behind.
    static let shortLine = 0.1

    let limits: ProviderLimits
    let timekeeper: any Timekeeper
    let line: CallOrder<Call>
    /// The calls that lacked a token, and those that lacked a permit.
    var (rateCounts, concurrencyCounts) = (WaitCounts(), WaitCounts())
    /// The next look at the limits.
    private var alarm: (due: Instant, timer: ScheduledAction)?
    private var (isServing, mustServeAgain) = (false, false)
    /// The calls that are still to be looked at because a limit became smaller, the last one first.
    var reviewed: [Call] = []
    /// The flow of the call that was looked at last, and how many of the flow stay before the next one.
    var reviewedFlow: (flow: Flow, kept: Int)?
    /// Called when calls that waited have had their turn, or may have it sooner.
    var onServed: (() -> Void)?

    init(_ limits: ProviderLimits, timekeeper: any Timekeeper, fairness: FairTerms = FairTerms()) {
        self.limits = limits
        self.timekeeper = timekeeper
        line = CallOrder(fairness)
        limits.concurrency.onEnd = { [weak self] in self?.serve() }
        limits.onGivenBack = { [weak self] in self?.serve() }
        limits.budget?.onChange = { [weak self] in self?.serve() }
    }

    // MARK: - Calls

    /// Grants a call that has to wait for nothing.
    /// - Returns: `nil` where the call has to wait.
    /// - Throws: when the provider is not to be asked, or when the call would not be answered before its deadline.
    @inline(__always)
    func grantAtOnce(
        _ requestClass: RequestClass = .interactive, before deadline: Deadline, at now: Instant
    ) throws(CallFailure) -> Grant? {
        if let refusal = refusalAtEntry(at: now) { throw refusal }
        guard line.isEmpty, limits.lacks(requestClass, at: now) == nil else { return nil }

        limits.concurrency.noteTime(before: deadline, at: now)
        if let refusal = limits.tooSlow(before: deadline, at: now) {
            concurrencyCounts.refused += 1
            throw refusal
        }
        return limits.take(requestClass, at: now)
    }

    private func refusalAtEntry(at now: Instant) -> CallFailure? {
        if let rejection = limits.breaker.rejection(at: now) {
            limits.breaker.noteRejected()
            return limits.shut(for: rejection.retryAfter, because: rejection.reason)
        }
        return limits.budget == nil ? nil : limits.refusal(at: now)
    }

    /// Grants a call when its turn has come and nothing is lacking.
    /// - Parameter owner: the request, which says in which line the call waits, and by which `promote` finds it.
    /// - Parameter times: until when the call may begin and must have ended.
    /// - Throws: when the call would begin too late, when the provider is not to be asked any more, and when the task is cancelled.
    @inline(never)
    func grant(for owner: RequestContext?, within times: CallTimes) async throws(CallFailure) -> Grant {
        while true {
            let flow = owner?.flow ?? .standard
            if let grant = try grantAtOnce(flow.requestClass, before: times.deadline, at: timekeeper.now) {
                return grant
            }
            let call = try enter(flow, for: owner, within: times, at: timekeeper.now)
            let verdict = await call.waiter.verdict()
            call.timer?.cancel()
            switch verdict {
            case .served:
                if let grant = call.grant.take(), try isUsable(grant, at: timekeeper.now) { return grant }
            case .tooLate:
                // It was refused as a batch call, and an interactive request has joined it since.
                if call.flow.requestClass == .batch, owner?.flow.requestClass == .interactive { continue }
                throw call.refusal ?? CallFailure(error: .timedOut, cause: .noTime)
            case .cancelled:
                leave(call)
                throw CallFailure(error: .timedOut, cause: .noTime)
            }
        }
    }

    /// Looks once more at a call that was granted a moment ago, because other jobs may have run since.
    /// - Returns: `false` where it has to wait again, for a call of the new day.
    private func isUsable(_ grant: borrowing Grant, at now: Instant) throws(CallFailure) -> Bool {
        let epoch = grant.breakerPermit.epoch
        if let rejection = limits.breaker.rejection(ofCallPermittedIn: epoch, at: now), !isPutBack(.openingUnnoticed) {
            limits.breaker.noteRejected()
            throw limits.shut(for: rejection.retryAfter, because: rejection.reason)
        }
        guard let budget = limits.budget, let permit = grant.turn.budgetPermit else { return true }
        return budget.isCurrent(permit, at: now)
    }

    // MARK: - The line

    private func enter(
        _ flow: Flow, for owner: RequestContext?, within times: CallTimes, at now: Instant
    ) throws(CallFailure) -> Call {
        if flow.requestClass == .batch, let refusal = limits.refusalOfBatch(at: now) { throw refusal }
        let need = limits.lacks(flow.requestClass, at: now) ?? .token
        limits.concurrency.noteTime(before: times.deadline, at: now)
        let latest = latestStart(within: times, need: need, at: now)
        let ahead = line.ahead(of: flow)
        if let refusal = refusal(behind: ahead, latest: latest, need: need, at: now) {
            count(need) { $0.refused += 1 }
            throw refusal
        }

        let call = Call(flow, before: times.deadline, latest: latest, need: need)
        call.ticket = line.append(call, in: flow, for: owner).ticket
        call.timer = timekeeper.schedule(at: latest) { [weak self, weak call] in
            guard let self, let call else { return }
            endOverdue(call)
        }
        count(need) { $0.waited += 1 }
        noteLine(at: now)
        return call
    }

    /// Returns the moment after which a call is of no use.
    ///
    /// A token that comes when no time is left for the call is wasted: it is used, and the call times out all the same. Twice
    /// what calls take at present is kept for the call, and a tenth of the time in any case, but never more than half of it.
    private func latestStart(within times: CallTimes, need: CallNeed, at now: Instant) -> Instant {
        let left = times.deadline.remaining(at: now)
        let kept = min(left / 2, max(left / 10, limits.concurrency.expectedLatency * 2))
        var latest = times.deadline.instant - kept
        if need == .permit {
            let wait = limits.concurrency.longestWait(before: times.deadline, at: now)
            latest = min(latest, now + Duration.seconds(roundedUp: max(0, wait)))
        }
        return times.lastCall.map { min($0, latest) } ?? latest
    }

    /// Returns why a call cannot begin in time; `nil` where it can, as far as that can be foretold.
    private func refusal(behind ahead: Double, latest: Instant, need: CallNeed, at now: Instant) -> CallFailure? {
        let wait = limits.bucket.wait(behind: ahead, at: now)
        guard let wait, now + wait <= latest else { return limits.tooLate(latest: latest, retryAfter: wait, at: now) }
        guard need == .permit else { return nil }

        let seconds = limits.concurrency.wait(behind: ahead)
        guard seconds > now.duration(to: latest).inSeconds else { return nil }
        return limits.tooSlow(retryAfter: seconds.isFinite ? Duration.seconds(roundedUp: seconds) : nil)
    }

    private func endOverdue(_ call: Call) {
        serve()
        guard let ticket = call.ticket, line.contains(ticket) else { return }
        let now = timekeeper.now
        let need = limits.lacks(call.flow.requestClass, at: now) ?? call.need
        let ahead = line.ahead(of: call.flow)
        line.remove(ticket)
        count(need) { $0.refused += 1 }
        end(call, with: limits.overdue(need, behind: ahead, latest: call.latest, at: now))
        noteLine(at: now)
    }

    func end(_ call: Call, with refusal: CallFailure) {
        call.refusal = refusal
        call.waiter.settle(.tooLate())
    }

    private func leave(_ call: Call) {
        guard let ticket = call.ticket, line.remove(ticket) != nil else { return }
        count(call.need) { $0.cancelled += 1 }
        noteLine(at: timekeeper.now)
    }

    /// Has a call that waits go on waiting as an interactive one does, because such a request needs its answer too.
    func promote(_ owner: RequestContext) {
        guard let (call, ticket) = line.move(elementOf: owner, to: owner.flow) else { return }
        (call.flow, call.ticket) = (owner.flow, ticket)
        serve()
    }

    // MARK: - Serving

    /// Grants and refuses what can be granted and must be refused. To be called after every change of a limit.
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
        noteLine(at: now, goesOn: left == 0)
        onServed?()
    }

    /// - Returns: `false` when the next call has to wait.
    private func serveNext(at now: Instant) -> Bool {
        if let refusal = limits.refusal(at: now), !isPutBack(.openingUnnoticed) {
            guard let call = line.popFirst() else { return false }
            if limits.breaker.openUntil(at: now) != nil { limits.breaker.noteRejected() }
            end(call, with: refusal)
            return true
        }
        if let refusal = limits.refusalOfBatch(at: now), let call = line.popFirst(where: { $0 == .batch }) {
            end(call, with: refusal)
            return true
        }
        guard let call = line.popFirst(where: { limits.lacks($0, at: now) == nil }) else { return false }
        if let refusal = limits.tooSlow(before: call.deadline, at: now) {
            concurrencyCounts.refused += 1
            end(call, with: refusal)
        } else {
            call.grant = limits.take(call.flow.requestClass, at: now)
            // Its task was cancelled a moment ago: what it would have had goes to the next one.
            if !call.waiter.settle(.served) { call.grant = nil }
        }
        return true
    }

    /// Tells the limits how much waits, and sets the alarm.
    func noteLine(at now: Instant, goesOn: Bool = false) {
        limits.bucket.isAwaited = !line.isEmpty
        noteBudgetWanted(at: now)
        guard !line.isEmpty else {
            alarm?.timer.cancel()
            (alarm, reviewed) = (nil, [])
            return
        }
        // A token that is there already helps nobody who lacks something else.
        let token = limits.bucket.nextToken(at: now).flatMap { $0 > now ? $0 : nil }
        let rest = now + Self.longestRest
        setAlarm(at: goesOn || !reviewed.isEmpty ? now : min(rest, token ?? rest))
    }

    private func setAlarm(at due: Instant) {
        if isPutBack(.serveForgotten) { return }
        if let alarm, alarm.due <= due { return }
        alarm?.timer.cancel()
        let timer = timekeeper.schedule(at: due) { [weak self] in
            self?.alarm = nil
            self?.goOn()
        }
        alarm = (due, timer)
    }

    private func noteBudgetWanted(at now: Instant) {
        guard let budget = limits.budget else { return }
        // What could not begin at once would be reserved for nobody.
        let soon = min(limits.bucket.supply(within: Self.shortLine), Double(limits.concurrency.room))
        let most = max(1, Int(saturating: soon.rounded(.up)))
        let interactive = min(line.count(of: .interactive), most)
        budget.setWaiting(min(line.count, most), batch: min(line.count(of: .batch), most - interactive))
    }
}
