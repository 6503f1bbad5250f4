internal import Basics
internal import DequeModule
internal import LocationSearch
import QuotaSharing
import Resilience

/// The client of one provider: it calls the provider as seldom and as gently as its limits ask.
///
/// A request passes through these steps, each a function of that name:
///
///     ask -> takePart -> make -> retry -> ProviderCaller.attempt: grant, then one HTTP call
///
/// Identical requests have everything behind `takePart` in common, which runs in a task of its own. Every HTTP call is an attempt of
/// its own, whether it repeats one that failed or follows one that succeeded: each is granted, timed, judged and counted.
///
/// Belongs to one `SearchWorker`, on whose executor everything runs, so that no lock is needed. Functions that every
/// call awaits are inlined where they are called: see docs/internals/concurrency.md.
final class ProviderClient: SharedRateLimit {
    let id: ProviderID
    private let policy: ProviderPolicy
    let clock: any MonotonicClock
    let timekeeper: any Timekeeper
    private let startCall: @Sendable () -> Void
    /// Calls whose tasks are about to be started.
    var startedCalls: Deque<SingleFlight.Call> = []
    private lazy var sharedCalls = SingleFlight(
        timekeeper: timekeeper, sharesCalls: policy.sharesIdenticalCalls,
        start: { [unowned self] in startTask(for: $0) }, onEnd: { [unowned self] in end($0, as: $1) },
        onMoreUrgent: { [unowned self] in caller.promote($0) })
    let caller: ProviderCaller
    private let onWasted: @Sendable (ProviderID, Int) -> Void
    /// This loop's part of the key's rate limit, 0 to 1.
    private var share: Double
    private var rateDemand = RateDemand()
    /// The requests that have not begun yet and would be asked of this provider.
    var waitingToBegin = WaitingRequests()
    /// Called when a line has become shorter.
    var onShorterLine: (@Sendable () -> Void)? {
        didSet { caller.queue.onServed = onShorterLine }
    }
    /// Requests that wait for an open breaker.
    var parked = 0
    private var random: any RandomNumberGenerator & Sendable

    /// - Parameter startCall: starts the task in which the first of `startedCalls` is made: see `make`.
    init(
        _ id: ProviderID, policy: ProviderPolicy, clock: any MonotonicClock, timekeeper: any Timekeeper,
        startCall: @escaping @Sendable () -> Void, random: any RandomNumberGenerator & Sendable, budget: BudgetAccess?,
        onTransition: @escaping @Sendable (ProviderID, CircuitBreaker.Transition, SearchError?) -> Void,
        onWasted: @escaping @Sendable (ProviderID, Int) -> Void,
        onCall: @escaping @Sendable (PriceClass, CallEnd, Duration) -> Void
    ) {
        self.id = id
        self.policy = policy
        self.clock = clock
        self.random = random
        self.onWasted = onWasted
        self.timekeeper = timekeeper
        self.startCall = startCall
        share = policy.share.initial

        let limits = ProviderLimits(
            id, breaker: CircuitBreaker(policy.breaker),
            bucket: RateBucket(limit: policy.rateLimit, share: share, at: timekeeper.now),
            concurrency: ConcurrencyLimit(policy.concurrency, timekeeper: timekeeper), budget: budget,
            timekeeper: timekeeper)
        let queue = ProviderQueue(limits, timekeeper: timekeeper, fairness: policy.fairness)
        caller = ProviderCaller(id, policy: policy, queue: queue, clock: clock, onWasted: onWasted, onCall: onCall)
        limits.breaker.onTransition = { [weak caller] transition in
            onTransition(id, transition, caller?.judgedFailure)
            caller?.queue.serve()
        }
        budget?.onUsedUp = { time in
            let (closed, open) = (CircuitBreaker.State.closed, CircuitBreaker.State.open)
            let transition = time.map {
                CircuitBreaker.Transition(from: closed, to: open, reason: .budgetUsedUp, openFor: $0)
            }
            onTransition(id, transition ?? CircuitBreaker.Transition(from: open, to: closed), nil)
        }
    }

    // MARK: - Ask

    /// Makes what a request waits for while this provider is asked for it. Nothing happens before its `begin`.
    ///
    /// `whenOpen` decides whether a request that no other provider can serve is parked while the breaker is open.
    /// - Parameter then: called once on this client's actor, maybe before `begin` has returned.
    func ask(
        _ query: ProviderQuery, before deadline: Deadline,
        then: @escaping (Result<ProviderResponse, ProviderFailure>) -> Void
    ) -> any ProviderWait {
        guard !query.hasAlternative, policy.whenOpen == .hold else {
            return takePart(query, before: deadline, then: then)
        }
        return HeldRequest(query, before: deadline, at: self, then: then)
    }

    // MARK: - Coalesce

    /// Makes the part of a request in a call that serves all identical ones.
    func takePart(
        _ query: ProviderQuery, before deadline: Deadline,
        then: @escaping (Result<ProviderResponse, ProviderFailure>) -> Void
    ) -> SingleFlight.Member {
        SingleFlight.Member(of: sharedCalls, query, before: deadline, since: clock.now, then: then)
    }

    private func end(_ member: SingleFlight.Member, as end: SingleFlight.End) {
        switch end {
        case .answered(let response, isShared: false): member.then(.success(response))
        case .answered(let response, isShared: true):
            noteShared(member, as: .answered)
            member.then(.success(ProviderResponse(answer: response.answer, cost: waiting(of: member))))
        case .failed(let failure, isShared: false): member.then(.failure(failure))
        case .failed(let failure, isShared: true):
            noteShared(member, as: RequestStep.End(failure.error))
            member.then(.failure(ProviderFailure(failure, cost: waiting(of: member))))
        case .timedOut:
            noteShared(member, as: .failed(.timeout, httpStatus: nil))
            let isOver = member.query.isOver(at: clock.now) && !member.deadline.hasPassed(at: clock.now)
            fail(member, because: isOver ? caller.overWhileWaiting : CallFailure(error: .timedOut, cause: .noTime))
        // What was under way ends later, and its end is of no use to the outcome.
        case .cancelled: fail(member, because: CallFailure(error: .timedOut, cause: .noTime))
        }
    }

    private func fail(_ member: SingleFlight.Member, because failure: CallFailure) {
        member.then(.failure(ProviderFailure(failure, cost: waiting(of: member))))
    }

    /// Notes that a request waited for the call of an identical one. The steps of a call that was made for the request itself are
    /// noted already.
    private func noteShared(_ member: SingleFlight.Member, as end: RequestStep.End) {
        member.query.context?.noteStep(.shared, of: id, from: member.start, to: clock.now, as: end)
    }

    /// Calls belong to the request that made them. The others that share them paid with time only.
    private func waiting(of member: SingleFlight.Member) -> CallCost {
        .waiting(since: member.start, until: clock.now)
    }

    private func startTask(for call: SingleFlight.Call) {
        startedCalls.append(call)
        startCall()
    }

    /// Makes a call for all that take part in it, in its own task. That is cancelled when no request waits any more: then its calls
    /// were wasted.
    @inline(__always)
    func make(_ call: SingleFlight.Call) async {
        let result: Result<ProviderResponse, ProviderFailure>
        let cost: CallCost
        do throws(ProviderFailure) {
            let response = try await retry(call)
            (result, cost) = (.success(response), response.cost)
        } catch {
            (result, cost) = (.failure(error), error.cost)
        }
        if Task.isCancelled { onWasted(id, cost.attempts - cost.givenUp) }
        sharedCalls.finish(call, with: result)
    }

    // MARK: - Retry

    /// Makes one attempt after another until the request has its answer or no further attempt makes sense.
    @inline(__always)
    private func retry(_ call: SingleFlight.Call) async throws(ProviderFailure) -> ProviderResponse {
        let (query, deadline) = (call.query, call.deadline)
        var cost = CallCost()
        var (failures, hasRepeated) = (0, false)
        var lastFailure: SearchError?
        var followUp: FollowUpCall?
        while true {
            let other = otherChance(of: query, failures: failures, cost: cost)
            switch await caller.attempt(for: call, followUp: followUp, ifGivenUp: other, cost: &cost) {
            case .success(.answer(let answer)):
                return ProviderResponse(answer: answer, cost: cost)

            case .success(.needsCall(let next)):
                guard await wait(for: next.delay, before: deadline, of: query) else {
                    throw ProviderFailure(CallFailure(error: next.failureIfLate, cause: .noTime), cost: cost)
                }
                followUp = next

            // This call does not count against `maxAttempts`.
            case .failure(let failure) where failure.error.isStale && !hasRepeated && caller.mayRepeat():
                hasRepeated = true
                lastFailure = failure.error

            case .failure(let failure):
                failures += 1
                // A call is given up for the next provider, where there is one, and else for a retry.
                guard failure.cause != .givenUp || !query.hasAlternative,
                    await waitForRetry(of: query, after: failure.error, failures: failures, before: deadline)
                else { throw ProviderFailure(failure.following(lastFailure), cost: cost) }
                lastFailure = failure.error
            }
        }
    }

    /// Returns what can be done for a request when its next call is given up. Only one call of a request is given up for a
    /// retry.
    private func otherChance(of query: ProviderQuery, failures: Int, cost: CallCost) -> AttemptTimer.OtherChance {
        if query.hasAlternative { return .nextProvider }
        return failures + 1 < policy.retry.maxAttempts && cost.givenUp == 0 ? .retry : .none
    }

    /// Waits before a call that follows another one.
    /// - Returns: `false` when the deadline leaves no time for the wait, or when the task was cancelled.
    @inline(never)
    private func wait(for delay: Duration, before deadline: Deadline, of query: ProviderQuery) async -> Bool {
        if delay == .zero { return true }
        let now = clock.now
        guard deadline.remaining(at: now) > delay else { return false }
        return await pause(of: query, from: now, for: delay)
    }

    /// Waits, and notes that as a step of the request.
    /// - Returns: `false` when the task was cancelled.
    private func pause(of query: ProviderQuery, from now: Instant, for delay: Duration) async -> Bool {
        let isOver = (try? await clock.sleep(until: now + delay, tolerance: nil)) != nil
        query.context?.noteStep(.pause, of: id, from: now, to: clock.now, as: isOver ? .over : .cancelled)
        return isOver
    }

    /// Decides whether a failure is followed by another attempt, and waits for its time.
    /// - Returns: `false` when no attempt should follow.
    @inline(never)
    private func waitForRetry(
        of query: ProviderQuery, after error: SearchError, failures: Int, before deadline: Deadline
    ) async -> Bool {
        let now = clock.now
        let expectedAttempt = caller.queue.limits.concurrency.expectedLatency
        // Only the beginning of a call is bound by the request's lifetime.
        let timeToLastCall = query.lastCall.map { now.duration(to: $0) + expectedAttempt }
        let remaining = deadline.remaining(at: now)
        let failure = RetryPolicy.Failure(
            attempt: failures, allowsAttempt: error.allowsAttempt, retryAfter: error.retryAfter,
            remaining: timeToLastCall.map { min($0, remaining) } ?? remaining, expectedAttempt: expectedAttempt)

        guard !Task.isCancelled,
            case .retry(let delay) = policy.retry.decide(
                after: failure, budget: &caller.retryBudget, at: now, using: &random)
        else { return false }
        return await pause(of: query, from: now, for: delay)
    }

    // MARK: - The fleet, and the status

    /// Takes over what follows from the partitions that this loop owns. Called at each rebalance: before a loss is
    /// acknowledged, after a gain.
    func assign(_ assigned: Int, of partitions: Int) {
        guard policy.share != .byDemand else { return }
        share = policy.share.value(assigned: assigned, of: partitions)
        caller.queue.setShare(share)
    }

    /// Takes over this loop's share of a limit that is shared by demand.
    func take(_ loopShare: LoopShare, at now: Instant) {
        share = loopShare.share
        caller.queue.setShare(loopShare.share, until: loopShare.end, prospect: loopShare.prospect)
    }

    /// What this loop could use of the limit now.
    func demand(at now: Instant) -> LimitDemand {
        guard let limit = caller.queue.limits.bucket.limit else { return .none }
        return rateDemand.demand(of: limit, statistics: rateStatistics, at: now)
    }

    /// The rate's figures, in which the requests that wait to begin count as those that wait for their turn.
    private var rateStatistics: RateBucket.Statistics {
        var statistics = caller.queue.rateStatistics
        statistics.waiting += waitingToBegin.interactive + waitingToBegin.batch
        statistics.waitingBatch += waitingToBegin.batch
        statistics.waitingTenants = max(statistics.waitingTenants, waitingToBegin.tenants)
        return statistics
    }

    /// Returns whether a call of the class would have its turn soon.
    func hasShortLine(for requestClass: RequestClass) -> Bool { caller.queue.hasShortLine(for: requestClass) }

    /// The calls a second that this loop may make; `nil` without a limit.
    var pace: Double? { caller.queue.limits.bucket.pace }

    /// Follows the orders of people about this provider.
    /// - Parameter concurrency: the calls that may be under way on this loop by order; `nil`: those of the policy.
    func apply(_ controls: LaneControls.Provider, concurrency: Int?) {
        let (now, breaker) = (clock.now, caller.queue.limits.breaker)
        if controls.isPaused { breaker.holdOpen(at: now) } else { breaker.release(at: now) }
        if let limit = policy.rateLimit {
            caller.queue.setLimit(controls.perSecond.map { limit.scaled(to: $0) } ?? limit)
        }
        // Fewer requests in flight make fewer calls by themselves. Those that are there are not refused for it.
        let most = policy.concurrency.maximum
        caller.queue.setMaximum(max(most, concurrency ?? most))
    }

    /// Lets the next call through where the last key was to blame. See `CircuitBreaker.renewKey`.
    func renewKey() { caller.queue.limits.breaker.renewKey() }

    var status: ProviderStatus {
        let now = clock.now
        let (queue, limits) = (caller.queue, caller.queue.limits)
        return ProviderStatus(
            provider: id, breaker: limits.state(at: now), breakerReason: limits.reason(at: now),
            openFor: (limits.breaker.openUntil(at: now) ?? limits.budget?.usedUpUntil(at: now)).map {
                now.duration(to: $0)
            },
            breakerCounts: limits.breaker.statistics,
            allowedPerSecond: limits.bucket.limit.map { $0.perSecond * share },
            pausedFor: limits.bucket.pausedUntil(at: now).map { now.duration(to: $0) },
            rateLimiter: queue.rateStatistics, sharesRate: policy.share.isShared,
            concurrency: queue.concurrencyStatistics, retries: caller.retryBudget.statistics, calls: caller.calls,
            shared: sharedCalls.statistics.joined, held: parked, budget: limits.budget?.status)
    }
}
