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
    private final class Call {
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
    private static let mostAtOnce = 64
    /// While calls wait, the queue looks at its limits at least so often.
    private static let longestRest = Duration.seconds(1)
    /// How much later than its turn a request may be asked to wait for it: long enough to keep the rate in use whatever the loop does
    /// meanwhile, short enough that what comes later and is more urgent is not far behind.
    private static let shortLine = 0.1

    let limits: ProviderLimits
    private let timekeeper: any Timekeeper
    private let line: CallOrder<Call>
    private var rate = RateBucket.Statistics()
    private var concurrency = ConcurrencyLimit.Statistics()
    /// The next look at the limits.
    private var alarm: (due: Instant, timer: ScheduledAction)?
    private var (isServing, mustServeAgain) = (false, false)
    /// The calls that are still to be looked at because a limit became smaller, the last one first.
    private var reviewed: [Call] = []
    /// The flow of the call that was looked at last, and how many of the flow stay before the next one.
    private var reviewedFlow: (flow: Flow, kept: Int)?
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
            concurrency.refused += 1
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
        if let rejection = limits.breaker.rejection(ofCallPermittedIn: epoch, at: now) {
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
            countRefusal(for: need)
            throw refusal
        }

        let call = Call(flow, before: times.deadline, latest: latest, need: need)
        call.ticket = line.append(call, in: flow, for: owner).ticket
        call.timer = timekeeper.schedule(at: latest) { [weak self, weak call] in
            guard let self, let call else { return }
            endOverdue(call)
        }
        countWait(for: need)
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
            latest = min(latest, now + Duration(roundingUp: max(0, wait)))
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
        return limits.tooSlow(retryAfter: seconds.isFinite ? Duration(roundingUp: seconds) : nil)
    }

    private func endOverdue(_ call: Call) {
        serve()
        guard let ticket = call.ticket, line.contains(ticket) else { return }
        let now = timekeeper.now
        let need = limits.lacks(call.flow.requestClass, at: now) ?? call.need
        let ahead = line.ahead(of: call.flow)
        line.remove(ticket)
        countRefusal(for: need)
        end(call, with: limits.overdue(need, behind: ahead, latest: call.latest, at: now))
        noteLine(at: now)
    }

    private func end(_ call: Call, with refusal: CallFailure) {
        call.refusal = refusal
        call.waiter.settle(.tooLate())
    }

    private func leave(_ call: Call) {
        guard let ticket = call.ticket, line.remove(ticket) != nil else { return }
        switch call.need {
        case .token, .pause: rate.cancelled += 1
        case .permit: concurrency.cancelled += 1
        case .probe, .budget: break
        }
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
        if let refusal = limits.refusal(at: now) {
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
            concurrency.refused += 1
            end(call, with: refusal)
        } else {
            call.grant = limits.take(call.flow.requestClass, at: now)
            // Its task was cancelled a moment ago: what it would have had goes to the next one.
            if !call.waiter.settle(.served) { call.grant = nil }
        }
        return true
    }

    /// Tells the limits how much waits, and sets the alarm.
    private func noteLine(at now: Instant, goesOn: Bool = false) {
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

    // MARK: - Changes of the limits

    /// Changes this loop's share of the rate: see `RateBucket.setShare`.
    func setShare(_ share: Double, until end: Instant? = nil, prospect: Double = 0) {
        changeBucket { $0.setShare(share, until: end, prospect: prospect, at: $1) }
    }

    /// Changes the limit of which this loop has a share.
    func setLimit(_ limit: RateLimit) { changeBucket { $0.setLimit(limit, at: $1) } }

    /// Changes the most calls that may be under way.
    func setMaximum(_ maximum: Int) {
        limits.concurrency.setMaximum(maximum)
        serve()
    }

    /// Ends a call, and lets its result decide about the calls to come.
    func finish(
        _ grant: consuming Grant, failedWith error: SearchError?, health: CircuitBreaker.Outcome, at now: Instant
    ) {
        let isPaused = error?.requestedPause != nil
        limits.finish(grant, failedWith: error, health: health, at: now)
        if isPaused { review() }
    }

    private func changeBucket(_ change: (inout RateBucket, Instant) -> Void) {
        guard !line.isEmpty else { return change(&limits.bucket, timekeeper.now) }
        let now = timekeeper.now
        let last = Double(line.count)
        let before = limits.bucket.wait(behind: last, at: now)
        change(&limits.bucket, now)
        let after = limits.bucket.wait(behind: last, at: now)
        // Only a longer wait can make a turn come too late.
        if let after, let before, after <= before { return serve() }
        review()
    }

    /// Looks at all calls that wait, some in each job of the loop, and refuses those whose turn has moved behind their time.
    func review() {
        guard !line.isEmpty else { return }
        (reviewed, reviewedFlow) = ([], nil)
        line.forEach { reviewed.append($0) }
        reviewed.reverse()
        goOn()
    }

    private func goOn() {
        reviewSome()
        if line.isEmpty { noteLine(at: timekeeper.now) } else { serve() }
    }

    private func reviewSome() {
        let now = timekeeper.now
        for _ in 0..<Self.mostAtOnce {
            guard let call = reviewed.popLast() else { return reviewedFlow = nil }
            guard let ticket = call.ticket, line.contains(ticket) else { continue }

            let kept = reviewedFlow.map { $0.flow == call.flow ? $0.kept : 0 } ?? 0
            let wait = limits.bucket.wait(behind: line.ahead(of: kept, in: call.flow), at: now)
            if let wait, now + wait <= call.latest {
                reviewedFlow = (call.flow, kept + 1)
            } else {
                reviewedFlow = (call.flow, kept)
                line.remove(ticket)
                rate.refused += 1
                end(call, with: limits.tooLate(latest: call.latest, retryAfter: wait, at: now))
            }
        }
    }

    // MARK: - Figures

    private func countWait(for need: CallNeed) {
        switch need {
        case .token, .pause: rate.waited += 1
        case .permit: concurrency.waited += 1
        case .probe, .budget: break
        }
    }

    private func countRefusal(for need: CallNeed) {
        switch need {
        case .token, .pause: rate.refused += 1
        case .permit: concurrency.refused += 1
        case .probe, .budget: break
        }
    }

    /// The figures of the rate. A call waits for its token where that is the first thing that it lacks.
    var rateStatistics: RateBucket.Statistics {
        var statistics = limits.bucket.statistics
        (statistics.waited, statistics.refused, statistics.cancelled) = (rate.waited, rate.refused, rate.cancelled)
        statistics.waitingBatch = waiting(.batch, for: [.token, .pause])
        statistics.waiting = waiting(.interactive, for: [.token, .pause]) + statistics.waitingBatch
        statistics.waitingTenants = statistics.waiting > 0 ? line.flowCount : 0
        return statistics
    }

    /// The figures of the concurrency limit.
    var concurrencyStatistics: ConcurrencyLimit.Statistics {
        var statistics = limits.concurrency.statistics
        (statistics.waited, statistics.refused) = (concurrency.waited, concurrency.refused)
        statistics.cancelled = concurrency.cancelled
        statistics.waiting = waiting(.interactive, for: [.permit]) + waiting(.batch, for: [.permit])
        return statistics
    }

    private func waiting(_ requestClass: RequestClass, for needs: [CallNeed]) -> Int {
        let count = line.count(of: requestClass)
        guard count > 0 else { return 0 }
        return needs.contains(limits.lacks(requestClass, at: timekeeper.now) ?? .token) ? count : 0
    }

    /// True while few calls wait that would go before a new one of the class.
    func hasShortLine(for requestClass: RequestClass) -> Bool {
        let waiting = requestClass == .batch ? line.count : line.count(of: .interactive)
        guard waiting > 0 else { return true }
        let soon = min((limits.bucket.rate * Self.shortLine), 1000)
        return Double(waiting) < max(4, min(soon, Double(limits.concurrency.limit) / 8))
    }
}

/// The times within which a call must begin and end.
struct CallTimes {
    /// The end of the call.
    let deadline: Deadline
    /// The moment after which it may not begin; `nil` where only the deadline counts.
    let lastCall: Instant?
}
