internal import Basics
internal import LocationSearch
import QuotaSharing
import Resilience

/// Makes single HTTP calls to one provider. Each is granted, bounded in time, evaluated and counted.
///
/// Belongs to one `ProviderClient`, on whose actor everything runs.
final class ProviderCaller {
    private let id: ProviderID
    private let policy: ProviderPolicy
    let queue: ProviderQueue
    private let clock: any MonotonicClock
    private let observer: CallObserver
    /// The budget for retries and for calls that are abandoned in favour of a retry.
    var retryBudget: RetryBudget
    private var attemptTimer: AttemptTimer
    /// The failure that the breaker is evaluating, for the log line of its transition.
    private(set) var judgedFailure: SearchError?
    /// The number of calls made.
    private(set) var calls = 0
    /// Called with each HTTP call that has ended or was not granted. Set before the first call.
    var onEnd: ((SharedCall, Result<ProviderReply, CallFailure>) -> Void)?

    init(
        _ id: ProviderID, policy: ProviderPolicy, queue: ProviderQueue, clock: any MonotonicClock,
        observer: CallObserver
    ) {
        (self.id, self.policy, self.queue, self.clock, self.observer) = (id, policy, queue, clock, observer)
        retryBudget = RetryBudget(policy.budget)
        attemptTimer = AttemptTimer(policy.attemptTimeout)
    }

    /// The failure of a request for which it is too late to begin a call.
    var overWhileWaiting: CallFailure { CallFailure(error: .overWhileWaiting(for: id), cause: .noTime) }

    /// Moves a search's waiting call, if any, to the interactive class.
    func promote(_ search: ProviderSearch) {
        guard let context = search.context else { return }
        context.becomeInteractive()
        queue.promote(context)
    }

    /// Withdraws a retry from the budget, for a call whose kept-alive connection was closed before the answer.
    func withdrawRepeat(of call: SharedCall) -> Bool { !call.isCancelled && retryBudget.withdraw(at: clock.now) }

    /// Makes one HTTP call as soon as it is granted. `onEnd` reports its end, possibly before this function returns.
    func attempt(of call: SharedCall, ifGivenUp other: AttemptTimer.OtherChance) {
        do throws(CallFailure) {
            if try grant(call) { begin(call, ifGivenUp: other) } else { try waitForGrant(of: call, ifGivenUp: other) }
        } catch {
            onEnd?(call, .failure(error))
        }
    }

    /// Ends the wait for a grant, or the HTTP call in flight. `onEnd` reports it, for a call in flight in a later job.
    func cancel(_ call: SharedCall) {
        guard let wait = call.wait.take() else {
            call.inFlight?.cancel()
            return
        }
        queue.leave(wait)
        let failure = CallFailure(error: .timedOut, cause: .noTime)
        onEnd?(call, .failure(refusal(failure, of: call, since: call.attempt.start)))
    }

    /// Grants the next HTTP call, if it does not have to wait.
    /// - Returns: `false` if it has to wait.
    private func grant(_ call: SharedCall) throws(CallFailure) -> Bool {
        let (search, now) = (call.search, clock.now)
        guard !call.isCancelled, call.isWanted, !call.deadline.hasPassed(at: now) else {
            throw CallFailure(error: .timedOut, cause: .noTime)
        }
        // A follow-up call completes an answer that has already been billed.
        if call.followUp == nil, search.isOver(at: now) { throw overWhileWaiting }

        call.attempt = Attempt(before: call.deadline, at: now)
        do throws(CallFailure) {
            let group = queue.limits.groups.count > 1 ? group(of: call) : 0
            guard
                let grant = try queue.grantAtOnce(
                    search.flow.requestClass, in: group, before: call.deadline, at: now)
            else { return false }
            call.attempt.grant = consume grant
            return true
        } catch {
            throw refusal(error, of: call, since: now)
        }
    }

    /// Enters the queue of calls that wait for their grant. Kept out of line, because few calls wait.
    @inline(never)
    private func waitForGrant(of call: SharedCall, ifGivenUp other: AttemptTimer.OtherChance) throws(CallFailure) {
        let search = call.search
        let lastCall = call.followUp == nil ? search.lastCall : nil
        do throws(CallFailure) {
            call.wait = try queue.enter(
                in: group(of: call), for: search.context, before: call.deadline, lastCall: lastCall
            ) { [self] wait in
                call.wait = nil
                end(wait, of: call, ifGivenUp: other)
            }
        } catch {
            throw refusal(error, of: call, since: call.attempt.start)
        }
    }

    /// Begins a call that has waited, unless it was refused.
    private func end(_ wait: ProviderQueue.Call, of call: SharedCall, ifGivenUp other: AttemptTimer.OtherChance) {
        let start = call.attempt.start
        guard wait.grant != nil, call.isWanted else {
            wait.grant = nil
            let failure = wait.refusal ?? CallFailure(error: .timedOut, cause: .noTime)
            onEnd?(call, .failure(refusal(failure, of: call, since: start)))
            return
        }
        call.attempt.grant = wait.grant.take()
        call.search.context?.noteStep(.wait, of: id, from: start, to: clock.now)
        begin(call, ifGivenUp: other)
    }

    /// Returns the group of the next HTTP call: see `CallGroups`.
    @inline(never)
    private func group(of call: SharedCall) -> Int {
        queue.limits.groups.index(of: call.priceClass())
    }

    /// Begins a granted call.
    private func begin(_ call: SharedCall, ifGivenUp other: AttemptTimer.OtherChance) {
        noteBegin(of: call, ifGivenUp: other)

        // `nonisolated(unsafe)`: the service calls this closure on our loop. The closure retains the worker, because searches
        // hold it `unowned`.
        nonisolated(unsafe) let (caller, begun, worker) = (self, call, call.search.worker)
        let end: ProviderCompletion = { result in
            unsafe withExtendedLifetime(worker) { unsafe caller.take(result, of: begun) }
        }
        let inFlight =
            if let trace = call.search.context?.trace {
                call.begin(in: trace, then: end)
            } else {
                call.begin(then: end)
            }
        // A call that has ended may have been followed by another one.
        if let inFlight { call.inFlight = inFlight }
    }

    private func take(_ result: Result<ProviderReply, SearchError>, of call: SharedCall) {
        call.inFlight = nil
        onEnd?(call, end(call, with: result))
    }

    /// Records the start of a granted call and sets its time limit.
    private func noteBegin(of call: SharedCall, ifGivenUp other: AttemptTimer.OtherChance) {
        let now = clock.now
        call.attempt.start = now
        calls += 1
        call.search.context?.noteCall(at: now)
        if call.cost.attempts == 0 { retryBudget.noteRequest(at: now) }
        if call.isInherited { call.noteCallOfHeirs(at: now) }
        let permits = call.attempt.grant?.begin() ?? []
        if !permits.isEmpty { countBudgeted(call, permits, at: now) }
        call.cost.attempts += 1

        // Without a reserved retry, calls that are abandoned together could not all be repeated.
        guard let limit = attemptTimer.limit(within: call.deadline.remaining(at: now), ifGivenUp: other),
            other == .nextProvider || retryBudget.reserve(at: now)
        else { return }
        call.attempt.deadline = Deadline(now + limit)
        call.attempt.isLimited = true
        call.attempt.holdsRetry = other == .retry
    }

    /// Records the end of a call.
    /// - Returns: the call's result; an abandoned call has its own kind of failure.
    private func end(
        _ call: SharedCall, with result: Result<ProviderReply, SearchError>
    ) -> Result<ProviderReply, CallFailure> {
        if call.attempt.holdsRetry { retryBudget.release() }

        let end = clock.now
        let duration = call.attempt.start.duration(to: end)
        call.cost.upstream += duration
        let isCancelled = call.isCancelled
        let priceClass = call.priceClass()
        observer.onCall(priceClass, isCancelled ? .cancelled : CallEnd(result), duration)

        // The failure of a cancelled call is no evidence about the provider, so its grant is dropped.
        guard let grant = call.attempt.grant.take() else { preconditionFailure("the call has no grant") }
        if isCancelled {
            note(call, endedAt: end, as: .cancelled)
            return result.mapError { CallFailure(error: $0, cause: .call) }
        }

        // After a suspension of this process, durations are meaningless. An answer from the provider still counts.
        let stoodStill = call.attempt.endedAfterStandstill(at: end)

        switch result {
        case .success(let reply):
            note(call, endedAt: end, as: .answered)
            if stoodStill { return .success(reply) }
            attemptTimer.noteAnswer(after: duration)
            let isSlow = duration >= policy.breaker.slowCallDuration
            queue.finish(grant, failedWith: nil, health: isSlow ? .slow : .success, at: end)
            return .success(reply)

        case .failure(let error):
            let isAnswered = error.code != .timeout && error.code != .unreachable
            if isAnswered || !stoodStill && !error.isStale {
                finish(grant, failedWith: error, after: duration, at: end)
            }
            guard call.attempt.isOver(at: end), error.code == .timeout, error.httpStatus == nil else {
                note(call, endedAt: end, as: RequestStep.End(error))
                return .failure(CallFailure(error: error, cause: .call))
            }
            note(call, endedAt: end, as: .givenUp)
            noteGivenUp(call)
            return .failure(CallFailure(error: .givenUp(id), cause: .givenUp))
        }
    }

    @inline(__always)
    private func note(_ call: SharedCall, endedAt end: Instant, as how: RequestStep.End) {
        call.search.context?.noteStep(.call, of: id, from: call.attempt.start, to: end, as: how)
    }

    private func noteGivenUp(_ call: SharedCall) {
        attemptTimer.noteGivenUp()
        call.cost.givenUp += 1
        observer.onWasted(id, 1)
    }

    private func finish(
        _ grant: consuming Grant, failedWith error: SearchError, after duration: Duration,
        at now: Instant
    ) {
        let conclusive = attemptTimer.conclusiveTimeout(slowCallDuration: policy.breaker.slowCallDuration)
        if error.load == .answered { attemptTimer.noteAnswer(after: duration) }

        judgedFailure = error
        queue.finish(
            grant, failedWith: error, health: error.health(after: duration, conclusiveTimeout: conclusive), at: now)
        judgedFailure = nil
    }

    @inline(never)
    private func countBudgeted(_ call: SharedCall, _ permits: CallGroup.Permits, at now: Instant) {
        let priceClass = call.priceClass()
        let kind = CallKind(operation: call.search.request.operation, priceClass: priceClass)
        for (account, permit) in permits { account.noteMade(permit, as: kind.name, at: now) }
    }

    /// Records that a call was not granted.
    /// - Returns: the reason. A request that has expired reports that, not the limit's refusal.
    private func refusal(_ failure: CallFailure, of call: SharedCall, since start: Instant) -> CallFailure {
        // Timers may fire a little early.
        let isOver = failure.cause == .limited && call.search.isOver(at: clock.now + .milliseconds(5))
        let failure = isOver ? overWhileWaiting : failure
        let end: RequestStep.End = call.isCancelled ? .cancelled : RequestStep.End(failure.error)
        call.search.context?.noteStep(.refused, of: id, from: start, to: clock.now, as: end)
        return failure
    }
}
