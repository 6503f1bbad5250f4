internal import Basics
internal import LocationSearch
import QuotaSharing
import Resilience

/// The client of one provider: it calls the provider as seldom and as gently as its limits ask.
///
/// A request passes through these steps, each a function of that name:
///
///     answer -> coalesce -> retry -> ProviderCaller.attempt: grant, then one HTTP call
///
/// Identical requests have everything behind `coalesce` in common. Every HTTP call is an attempt of its own, whether it repeats one
/// that failed or follows one that succeeded: each is granted, timed, judged and counted.
///
/// Belongs to one `SearchWorker`, on whose executor everything runs, so that no lock is needed. Functions that every
/// request awaits are inlined where they are called: see docs/concurrency.md.
final class ProviderClient: SharedRateLimit {
    let id: ProviderID
    private let policy: ProviderPolicy
    private let clock: any MonotonicClock
    private let sharedCalls: SingleFlight
    private let caller: ProviderCaller
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
    private var parked = 0
    private var random: any RandomNumberGenerator & Sendable
    /// The pause after which a parked request looks again whether the breaker lets calls through early.
    private static let parkReview = Duration.seconds(5)

    init(
        _ id: ProviderID, policy: ProviderPolicy, clock: any MonotonicClock, timekeeper: any Timekeeper,
        taskExecutor: (any TaskExecutor)?, random: any RandomNumberGenerator & Sendable, budget: BudgetAccess?,
        onTransition: @escaping @Sendable (ProviderID, CircuitBreaker.Transition, SearchError?) -> Void,
        onWasted: @escaping @Sendable (ProviderID, Int) -> Void,
        onCall: @escaping @Sendable (PriceClass, CallEnd, Duration) -> Void
    ) {
        self.id = id
        self.policy = policy
        self.clock = clock
        self.random = random
        self.onWasted = onWasted
        sharedCalls = SingleFlight(timekeeper: timekeeper, taskExecutor: taskExecutor)
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
        sharedCalls.onMoreUrgent = { [weak caller] in caller?.promote($0) }
    }

    // MARK: - Answer

    /// Asks the provider, or takes part in an identical request's calls. `whenOpen` decides whether a request that no
    /// other provider can serve is parked while the breaker is open.
    @inline(__always)
    func answer(_ query: ProviderQuery, before deadline: Deadline) async throws(ProviderFailure) -> ProviderResponse {
        guard !query.hasAlternative, policy.whenOpen == .hold else {
            return try await coalesce(query, before: deadline)
        }
        return try await askOrPark(query, before: deadline)
    }

    /// Asks the provider, and asks again each time that it may be asked after it was shut.
    ///
    /// The time for which the request is parked is not taken from its deadline. It ends with the request's lifetime, so that
    /// no call is paid for whose answer is of no use.
    private func askOrPark(_ query: ProviderQuery, before deadline: Deadline) async throws(ProviderFailure)
        -> ProviderResponse
    {
        var deadline = deadline
        var spent = CallCost()
        while true {
            do throws(ProviderFailure) {
                let response = try await coalesce(query, before: deadline)
                return ProviderResponse(answer: response.answer, cost: response.cost + spent)
            } catch {
                spent = spent + error.cost
                guard error.cause.isShut, let pause = error.error.retryAfter,
                    let waited = await park(query, upTo: pause)
                else { throw ProviderFailure(error, cost: spent) }
                guard !query.isOver(at: clock.now) else { throw ProviderFailure(caller.overWhileWaiting, cost: spent) }
                deadline = query.extended(deadline, by: waited)
            }
        }
    }

    /// Waits until the provider may be asked again, or until the request is over.
    /// - Returns: how long that took; `nil` when the task was cancelled.
    private func park(_ query: ProviderQuery, upTo pause: Duration) async -> Duration? {
        let start = clock.now
        let end = query.lastCall.map { min($0, start + pause) } ?? start + pause
        parked += 1
        defer {
            parked -= 1
            query.context?.noteStep(
                .park, of: id, from: start, to: clock.now, as: Task.isCancelled ? .cancelled : .over)
        }

        // A new key, or a budget that was raised, lets calls through before the time that was told.
        var now = start
        while now < end, now == start || caller.queue.limits.shutUntil(at: now) != nil {
            var next = min(end, now + Self.parkReview)
            if isPutBack(.heldNeverLooks) { next = now + .seconds(3600) }
            guard !Task.isCancelled, (try? await clock.sleep(until: next, tolerance: nil)) != nil else { return nil }
            now = clock.now
        }
        return start.duration(to: now)
    }

    // MARK: - Coalesce

    /// Makes the calls of one request serve all identical ones that arrive meanwhile.
    @inline(__always)
    private func coalesce(
        _ query: ProviderQuery, before deadline: Deadline, isolation: isolated (any Actor)? = #isolation
    ) async throws(ProviderFailure) -> ProviderResponse {
        guard policy.sharesIdenticalCalls else { return try await retryAlone(query, before: deadline) }

        let start = clock.now
        do throws(SharedCallError) {
            let (answer, isShared) = try await sharedCalls.run(query, before: deadline) {
                [self] (deadline) async throws(ProviderFailure) in
                _ = isolation  // see docs/concurrency.md
                return try await retryUnlessAbandoned(query, before: deadline)
            }
            if !isShared { return answer }
            noteShared(query, since: start, as: .answered)
            return ProviderResponse(answer: answer.answer, cost: waiting(since: start))
        } catch {
            noteShared(query, since: start, unlessOwn: error)
            switch error {
            case .failed(let failure, let isShared):
                throw isShared ? ProviderFailure(failure, cost: waiting(since: start)) : failure
            case .timedOut where query.isOver(at: clock.now) && !deadline.hasPassed(at: clock.now):
                throw ProviderFailure(caller.overWhileWaiting, cost: waiting(since: start))
            case .timedOut, .cancelled:
                throw ProviderFailure(CallFailure(error: .timedOut, cause: .noTime), cost: waiting(since: start))
            }
        }
    }

    /// Notes that a request waited for the call of an identical one.
    @inline(never)
    private func noteShared(_ query: ProviderQuery, since start: Instant, as end: RequestStep.End) {
        query.context?.noteStep(.shared, of: id, from: start, to: clock.now, as: end)
    }

    /// Notes how a request ended that took part in a call. The steps of a call that was made for the request itself are noted
    /// already.
    @inline(never)
    private func noteShared(_ query: ProviderQuery, since start: Instant, unlessOwn error: SharedCallError) {
        switch error {
        case .failed(let failure, isShared: true): noteShared(query, since: start, as: RequestStep.End(failure.error))
        case .failed: break
        case .timedOut: noteShared(query, since: start, as: .failed(.timeout, httpStatus: nil))
        // What was under way ends later, and its end is of no use to the outcome.
        case .cancelled: break
        }
    }

    /// Makes the calls of one request for itself only, in its own task. Kept out of line, because few settings ask for it and
    /// all that it inlines would enlarge the frame of every request.
    @inline(never)
    private func retryAlone(
        _ query: ProviderQuery, before deadline: Deadline
    ) async throws(ProviderFailure) -> ProviderResponse {
        try await retry(query, before: deadline)
    }

    /// Calls belong to the request that made them. The others that share them paid with time only.
    private func waiting(since start: Instant) -> CallCost {
        .waiting(since: start, until: clock.now)
    }

    /// Runs in the shared calls' own task. It is cancelled when no request waits any more: then its calls were wasted.
    @inline(__always)
    private func retryUnlessAbandoned(
        _ query: ProviderQuery, before deadline: Deadline
    ) async throws(ProviderFailure) -> ProviderResponse {
        do throws(ProviderFailure) {
            let answer = try await retry(query, before: deadline)
            if Task.isCancelled { onWasted(id, answer.cost.attempts - answer.cost.givenUp) }
            return answer
        } catch {
            if Task.isCancelled { onWasted(id, error.cost.attempts - error.cost.givenUp) }
            throw error
        }
    }

    // MARK: - Retry

    /// Makes one attempt after another until the request has its answer or no further attempt makes sense.
    @inline(__always)
    private func retry(_ query: ProviderQuery, before deadline: Deadline) async throws(ProviderFailure)
        -> ProviderResponse
    {
        var cost = CallCost()
        var (failures, hasRepeated) = (0, false)
        var lastFailure: SearchError?
        var followUp: FollowUpCall?
        while true {
            let other = otherChance(of: query, failures: failures, cost: cost)
            switch await caller.attempt(query, followUp: followUp, before: deadline, ifGivenUp: other, cost: &cost) {
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
