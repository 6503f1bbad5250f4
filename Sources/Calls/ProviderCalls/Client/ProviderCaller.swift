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

    init(
        _ id: ProviderID, policy: ProviderPolicy, queue: ProviderQueue, clock: any MonotonicClock,
        observer: CallObserver
    ) {
        self.id = id
        self.policy = policy
        self.queue = queue
        self.clock = clock
        self.observer = observer
        retryBudget = RetryBudget(policy.budget)
        attemptTimer = AttemptTimer(policy.attemptTimeout)
    }

    /// The failure of a request whose lifetime ended before it could be sent.
    var overWhileWaiting: CallFailure { CallFailure(error: .overWhileWaiting(for: id), cause: .noTime) }

    /// Moves a query's waiting call, if any, to the interactive class.
    func promote(_ query: ProviderQuery) {
        guard let context = query.context else { return }
        context.becomeInteractive()
        queue.promote(context)
    }

    /// Withdraws a retry for a call whose kept-alive connection was closed before the answer.
    func mayRepeat() -> Bool { !Task.isCancelled && retryBudget.withdraw(at: clock.now) }

    /// Makes one HTTP call as soon as it is granted.
    @inline(__always)
    func attempt(
        for call: SingleFlight.Call, followUp: FollowUpCall?, ifGivenUp other: AttemptTimer.OtherChance,
        cost: inout CallCost
    ) async -> Result<ProviderReply, CallFailure> {
        let query = call.query
        let attempt: Attempt
        do throws(CallFailure) {
            attempt = try grant(call, followUp: followUp)
            if attempt.grant == nil { try await waitForGrant(of: attempt, for: call) }
        } catch {
            return .failure(error)
        }

        begin(attempt, ifGivenUp: other, cost: &cost)
        let result: Result<ProviderReply, SearchError>
        do throws(SearchError) {
            let reply =
                if let trace = query.context?.trace {
                    try await trace.call(
                        for: query.request, to: query.service, followUp: followUp, before: attempt.deadline,
                        number: cost.attempts)
                } else {
                    try await query.service.call(for: query.request, followUp: followUp, before: attempt.deadline)
                }
            result = .success(reply)
        } catch {
            result = .failure(error)
        }
        return end(attempt, with: result, cost: &cost)
    }

    /// Has a call granted, as far as that takes no wait.
    private func grant(_ call: SingleFlight.Call, followUp: FollowUpCall?) throws(CallFailure) -> Attempt {
        let (query, deadline, now) = (call.query, call.deadline, clock.now)
        guard !Task.isCancelled, call.isWanted, !deadline.hasPassed(at: now) else {
            throw CallFailure(error: .timedOut, cause: .noTime)
        }
        // A follow-up call completes an answer that has already been billed.
        if followUp == nil, query.isOver(at: now) { throw overWhileWaiting }

        let attempt = Attempt(query, followUp: followUp, before: deadline, at: now)
        do throws(CallFailure) {
            attempt.grant = try queue.grantAtOnce(query.flow.requestClass, before: deadline, at: now)
        } catch {
            throw refusal(error, of: query, since: now)
        }
        return attempt
    }

    /// Waits until a call is granted. Kept out of line, because few calls wait.
    @inline(never)
    private func waitForGrant(of attempt: Attempt, for call: SingleFlight.Call) async throws(CallFailure) {
        let lastCall = attempt.followUp == nil ? attempt.query.lastCall : nil
        do throws(CallFailure) {
            attempt.grant = try await queue.grant(
                for: attempt.query.context, within: CallTimes(deadline: attempt.deadline, lastCall: lastCall))
            guard call.isWanted else {
                attempt.grant = nil
                throw CallFailure(error: .timedOut, cause: .noTime)
            }
            attempt.query.context?.noteStep(.wait, of: id, from: attempt.start, to: clock.now)
        } catch {
            throw refusal(error, of: attempt.query, since: attempt.start)
        }
    }

    /// Records the start of a granted call and sets its time limit.
    private func begin(_ attempt: Attempt, ifGivenUp other: AttemptTimer.OtherChance, cost: inout CallCost) {
        let now = clock.now
        attempt.start = now
        countCall(for: attempt.query, isFirst: cost.attempts == 0, at: now)
        if let permit = attempt.grant?.begin() ?? nil { countBudgeted(attempt, permit: permit, at: now) }
        cost.attempts += 1

        // Without a reserved retry, calls that are abandoned together could not all be repeated.
        guard let limit = attemptTimer.limit(within: attempt.deadline.remaining(at: now), ifGivenUp: other),
            other == .nextProvider || retryBudget.reserve(at: now)
        else { return }
        attempt.deadline = Deadline(now + limit)
        attempt.isLimited = true
        attempt.holdsRetry = other == .retry
    }

    /// Records the end of a call.
    /// - Returns: the call's result; an abandoned call has its own kind of failure.
    private func end(
        _ attempt: Attempt, with result: Result<ProviderReply, SearchError>, cost: inout CallCost
    ) -> Result<ProviderReply, CallFailure> {
        if attempt.holdsRetry { retryBudget.release() }

        let end = clock.now
        let duration = attempt.start.duration(to: end)
        cost.upstream += duration
        let isCancelled = Task.isCancelled
        let priceClass = attempt.query.priceClass(followUp: attempt.followUp)
        observer.onCall(priceClass, isCancelled ? .cancelled : CallEnd(result), duration)

        // The failure of a cancelled task is no evidence about the provider, so its grant is dropped.
        guard let grant = attempt.grant.take() else { preconditionFailure("the attempt has no grant") }
        if isCancelled {
            note(attempt, endedAt: end, as: .cancelled)
            return result.mapError { CallFailure(error: $0, cause: .call) }
        }

        // After a suspension of this process, durations are meaningless. An answer from the provider still counts.
        let stoodStill = attempt.endedAfterStandstill(at: end)

        switch result {
        case .success(let reply):
            note(attempt, endedAt: end, as: .answered)
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
            guard attempt.isOver(at: end), error.code == .timeout, error.httpStatus == nil else {
                note(attempt, endedAt: end, as: RequestStep.End(error))
                return .failure(CallFailure(error: error, cause: .call))
            }
            note(attempt, endedAt: end, as: .givenUp)
            noteGivenUp(cost: &cost)
            return .failure(CallFailure(error: .givenUp(id), cause: .givenUp))
        }
    }

    @inline(__always)
    private func note(_ attempt: Attempt, endedAt end: Instant, as how: RequestStep.End) {
        attempt.query.context?.noteStep(.call, of: id, from: attempt.start, to: end, as: how)
    }

    private func noteGivenUp(cost: inout CallCost) {
        attemptTimer.noteGivenUp()
        cost.givenUp += 1
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

    private func countCall(for query: ProviderQuery, isFirst: Bool, at now: Instant) {
        calls += 1
        query.context?.noteCall(at: now)
        if isFirst { retryBudget.noteRequest(at: now) }
    }

    @inline(never)
    private func countBudgeted(_ attempt: Attempt, permit: BudgetAccess.Permit, at now: Instant) {
        let priceClass = attempt.query.priceClass(followUp: attempt.followUp)
        let kind = CallKind(operation: attempt.query.request.operation, priceClass: priceClass)
        queue.limits.budget?.noteMade(permit, as: kind.name, at: now)
    }

    /// Records that a call was not granted.
    /// - Returns: the reason.
    private func refusal(_ failure: CallFailure, of query: ProviderQuery, since start: Instant) -> CallFailure {
        let failure = reason(failure, for: query)
        let end: RequestStep.End = Task.isCancelled ? .cancelled : RequestStep.End(failure.error)
        query.context?.noteStep(.refused, of: id, from: start, to: clock.now, as: end)
        return failure
    }

    /// Returns why a call was not granted. A request whose lifetime is over reports that, not the limit's refusal.
    private func reason(_ failure: CallFailure, for query: ProviderQuery) -> CallFailure {
        // Timers may fire a little early.
        guard failure.cause == .limited, query.isOver(at: clock.now + .milliseconds(5)) else { return failure }
        return overWhileWaiting
    }
}
