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
        (self.id, self.policy, self.queue, self.clock, self.observer) = (id, policy, queue, clock, observer)
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

    /// Withdraws a retry from the budget, for a call whose kept-alive connection was closed before the answer.
    func withdrawRepeat() -> Bool { !Task.isCancelled && retryBudget.withdraw(at: clock.now) }

    /// Makes one HTTP call as soon as it is granted.
    @inline(__always)
    func attempt(
        of call: SharedCall, followUp: FollowUpCall?, ifGivenUp other: AttemptTimer.OtherChance
    ) async -> Result<ProviderReply, CallFailure> {
        do throws(CallFailure) {
            if try !grant(call, followUp: followUp) { try await waitForGrant(of: call) }
        } catch {
            return .failure(error)
        }

        begin(call, ifGivenUp: other)
        let query = call.query
        let result: Result<ProviderReply, SearchError>
        do throws(SearchError) {
            let reply =
                if let trace = query.context?.trace {
                    try await trace.call(
                        for: query.request, to: query.service, followUp: followUp, before: call.attempt.deadline,
                        number: call.cost.attempts)
                } else {
                    try await query.service.call(
                        for: query.request, followUp: followUp, before: call.attempt.deadline)
                }
            result = .success(reply)
        } catch {
            result = .failure(error)
        }
        return end(call, with: result)
    }

    /// Grants the next HTTP call, if it does not have to wait.
    /// - Returns: `false` if it has to wait.
    private func grant(_ call: SharedCall, followUp: FollowUpCall?) throws(CallFailure) -> Bool {
        let (query, now) = (call.query, clock.now)
        guard !Task.isCancelled, call.isWanted, !call.deadline.hasPassed(at: now) else {
            throw CallFailure(error: .timedOut, cause: .noTime)
        }
        // A follow-up call completes an answer that has already been billed.
        if followUp == nil, query.isOver(at: now) { throw overWhileWaiting }

        call.attempt = Attempt(followUp: followUp, before: call.deadline, at: now)
        do throws(CallFailure) {
            let group = queue.limits.groups.count > 1 ? group(of: call) : 0
            guard
                let grant = try queue.grantAtOnce(
                    query.flow.requestClass, in: group, before: call.deadline, at: now)
            else { return false }
            call.attempt.grant = consume grant
            return true
        } catch {
            throw refusal(error, of: query, since: now)
        }
    }

    /// Waits until a call is granted. Kept out of line, because few calls wait.
    @inline(never)
    private func waitForGrant(of call: SharedCall) async throws(CallFailure) {
        let query = call.query
        let lastCall = call.attempt.followUp == nil ? query.lastCall : nil
        do throws(CallFailure) {
            call.attempt.grant = try await queue.grant(
                in: group(of: call), for: query.context,
                within: CallTimes(deadline: call.deadline, lastCall: lastCall))
            guard call.isWanted else {
                call.attempt.grant = nil
                throw CallFailure(error: .timedOut, cause: .noTime)
            }
            query.context?.noteStep(.wait, of: id, from: call.attempt.start, to: clock.now)
        } catch {
            throw refusal(error, of: query, since: call.attempt.start)
        }
    }

    /// Returns the group of the next HTTP call: see `CallGroups`.
    @inline(never)
    private func group(of call: SharedCall) -> Int {
        queue.limits.groups.index(of: call.query.priceClass(followUp: call.attempt.followUp))
    }

    /// Records the start of a granted call and sets its time limit.
    private func begin(_ call: SharedCall, ifGivenUp other: AttemptTimer.OtherChance) {
        let now = clock.now
        call.attempt.start = now
        countCall(for: call.query, isFirst: call.cost.attempts == 0, at: now)
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
        let isCancelled = Task.isCancelled
        let priceClass = call.query.priceClass(followUp: call.attempt.followUp)
        observer.onCall(priceClass, isCancelled ? .cancelled : CallEnd(result), duration)

        // The failure of a cancelled task is no evidence about the provider, so its grant is dropped.
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
        call.query.context?.noteStep(.call, of: id, from: call.attempt.start, to: end, as: how)
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

    private func countCall(for query: ProviderQuery, isFirst: Bool, at now: Instant) {
        calls += 1
        query.context?.noteCall(at: now)
        if isFirst { retryBudget.noteRequest(at: now) }
    }

    @inline(never)
    private func countBudgeted(_ call: SharedCall, _ permits: CallGroup.Permits, at now: Instant) {
        let priceClass = call.query.priceClass(followUp: call.attempt.followUp)
        let kind = CallKind(operation: call.query.request.operation, priceClass: priceClass)
        for (account, permit) in permits { account.noteMade(permit, as: kind.name, at: now) }
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
