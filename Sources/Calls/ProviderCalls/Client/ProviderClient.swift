internal import Basics
internal import LocationSearch
import QuotaSharing
import Resilience

/// The client of one provider. It makes as few calls as possible and keeps to the provider's limits.
///
/// A request passes through these steps, each a function of the same name:
///
///     begin -> attempt -> ProviderCaller.attempt: grant, then one HTTP call -> proceed -> end
///                 ^----------- pause: a retry or a follow-up call ------------'
///
/// Identical requests share the steps between `begin` and `end`. Every HTTP call is a separate attempt, whether it repeats
/// a failed call or follows a successful one. Each attempt is granted, timed, evaluated and counted.
///
/// No step has a task: each ends by calling the next one, at once or from a timer, the queue or the transport. Belongs to
/// one `SearchWorker`, on whose executor everything runs, so that no lock is needed.
final class ProviderClient {
    let id: ProviderID
    let policy: ProviderPolicy
    let clock: any MonotonicClock
    let timekeeper: any Timekeeper
    /// Called once with each search that has begun, when it has its result, possibly before `begin` has returned.
    private let onEnd: (ProviderSearch) -> Void
    private lazy var sharedCalls = SingleFlight(
        timekeeper: timekeeper, sharesCalls: policy.sharesIdenticalCalls,
        start: { [unowned self] in attempt($0) }, cancel: { [unowned self] in cancel($0) },
        onEnd: { [unowned self] in end($0, of: $1) },
        onMoreUrgent: { [unowned self] in caller.promote($0) })
    let caller: ProviderCaller
    private let observer: CallObserver
    /// This loop's shares of the rate limits: of the provider's, then of its methods'. See `ProviderLimits.buckets`.
    let shares: [RateShare]
    /// Called when a queue has become shorter.
    var onShorterLine: (@Sendable () -> Void)? {
        didSet { caller.queue.onServed = onShorterLine }
    }
    /// The number of searches that are parked until the provider may be called.
    var parked = 0
    private var random: any RandomNumberGenerator & Sendable

    init(
        _ id: ProviderID, policy: ProviderPolicy, clock: any MonotonicClock, timekeeper: any Timekeeper,
        onEnd: @escaping (ProviderSearch) -> Void,
        random: any RandomNumberGenerator & Sendable, accounts: [BudgetAccount], observer: CallObserver
    ) {
        (self.id, self.policy, self.clock, self.random) = (id, policy, clock, random)
        (self.observer, self.timekeeper, self.onEnd) = (observer, timekeeper, onEnd)

        let (share, now) = (policy.share.initial, timekeeper.now)
        let methods = policy.orderedMethodLimits
        let limits = ProviderLimits(
            id, breaker: CircuitBreaker(policy.breaker),
            bucket: RateBucket(limit: policy.rateLimit, share: share, at: now),
            methods: methods.map { ($0.key, RateBucket(limit: $0.value, share: share, at: now)) },
            concurrency: ConcurrencyLimit(policy.concurrency, timekeeper: timekeeper), accounts: accounts,
            timekeeper: timekeeper)
        let queue = ProviderQueue(limits, timekeeper: timekeeper, fairness: policy.fairness)
        let names = [id.rawValue] + methods.map { ProviderPolicy.limitName(of: id, $0.key) }
        shares = names.enumerated().map { RateShare($1, of: $0, in: queue, by: policy.share) }
        caller = ProviderCaller(id, policy: policy, queue: queue, clock: clock, observer: observer)
        limits.breaker.onTransition = { [weak caller] transition in
            observer.onTransition(id, transition, caller?.judgedFailure)
            caller?.queue.serve()
        }
        for account in accounts where !account.budget.isAllowance {
            account.onUsedUp = { observer.onBudget(account.budget, $0) }
        }
        caller.onEnd = { [unowned self] in proceed(with: $0, after: $1) }
    }

    // MARK: - Searches

    /// Makes the call that serves a search, or joins the call in flight for an equal search.
    func begin(_ search: ProviderSearch) { sharedCalls.join(search) }

    /// Ends a search early, for example because the request is no longer wanted. Its result is delivered in a later job, not
    /// within this call. Has no effect after the end.
    func cancel(_ search: ProviderSearch) {
        if search.pause != nil { cancelPause(of: search) } else { sharedCalls.leave(search, as: .cancelled) }
    }

    private func end(_ search: ProviderSearch, of call: SharedCall) {
        switch search.membership.end {
        case .over:
            if call.search !== search { noteShared(search) }
            charge(search, for: call)
            end(search)
        case .timedOut:
            noteShared(search)
            charge(search, for: nil)
            let isOver = search.isOver(at: clock.now) && !search.deadline.hasPassed(at: clock.now)
            fail(search, because: isOver ? caller.overWhileWaiting : CallFailure(error: .timedOut, cause: .noTime))
        // The running call ends later, and its result does not affect the outcome.
        case .cancelled, nil:
            charge(search, for: nil)
            fail(search, because: CallFailure(error: .timedOut, cause: .noTime))
        }
    }

    func fail(_ search: ProviderSearch, because failure: CallFailure) {
        search.membership.end = .over(.failure(failure))
        end(search)
    }

    /// Ends a search that has its result, or parks it.
    private func end(_ search: ProviderSearch) {
        if policy.whenOpen == .fail || !parks(search) { onEnd(search) }
    }

    /// Charges a call to the search for which it was made. The searches that share it only waited.
    private func charge(_ search: ProviderSearch, for call: SharedCall?) {
        let ofCall = call?.search === search ? call?.cost : nil
        search.cost = search.cost + (ofCall ?? .waiting(since: search.membership.start, until: clock.now))
    }

    /// Records that a search waited for the call of an equal one. If the call was made for the search itself, its steps are
    /// already recorded.
    private func noteShared(_ search: ProviderSearch) {
        guard let context = search.context else { return }
        let end: RequestStep.End =
            switch search.membership.end {
            case .over(.success): .answered
            case .over(.failure(let failure)): RequestStep.End(failure.error)
            case .timedOut, .cancelled, nil: .failed(.timeout, httpStatus: nil)
            }
        context.noteStep(.shared, of: id, from: search.membership.start, to: clock.now, as: end)
    }

    // MARK: - Calls

    /// Makes the next HTTP call of a call.
    private func attempt(_ call: SharedCall) { caller.attempt(of: call, ifGivenUp: otherChance(of: call)) }

    /// Ends a call early, because no search waits for it. Its HTTP calls then count as wasted.
    private func cancel(_ call: SharedCall) {
        guard let pause = call.pause.take() else { return caller.cancel(call) }
        pause.timer.cancel()
        call.search.context?.noteStep(.pause, of: id, from: pause.start, to: clock.now, as: .cancelled)
        end(call, with: .failure(CallFailure(error: .timedOut, cause: .noTime)))
    }

    private func end(_ call: SharedCall, with result: SharedCall.Result) {
        call.result = result
        if call.isCancelled { observer.onWasted(id, call.cost.attempts - call.cost.givenUp) }
        sharedCalls.finish(call)
    }

    /// Ends a call that has its answer, or for which no further HTTP call makes sense. Otherwise makes the next one.
    private func proceed(with call: SharedCall, after result: Result<ProviderReply, CallFailure>) {
        switch result {
        case .success(.answer(let answer)):
            if answer.unreadablePlaces > 0 { observer.onUnreadable(id, answer.unreadablePlaces) }
            end(call, with: .success(answer))

        case .success(.needsCall(let next)):
            guard !call.isCancelled, next.delay == .zero || call.deadline.remaining(at: clock.now) > next.delay else {
                return end(call, with: .failure(CallFailure(error: next.failureIfLate, cause: .noTime)))
            }
            call.followUp = next
            if next.delay == .zero { attempt(call) } else { pause(call, for: next.delay) }

        // This HTTP call does not count against `maxAttempts`.
        case .failure(let failure)
        where failure.error.isStale && !call.failures.hasRepeated && caller.withdrawRepeat(of: call):
            call.failures.hasRepeated = true
            call.failures.last = failure.error
            attempt(call)

        case .failure(let failure): retry(call, after: failure)
        }
    }

    /// Pauses before another HTTP call, if one follows a failure.
    @inline(never)
    private func retry(_ call: SharedCall, after failure: CallFailure) {
        call.failures.count += 1
        // An HTTP call is abandoned for the next provider if there is one, otherwise for a retry.
        guard failure.cause != .givenUp || !call.search.hasAlternative,
            let delay = delayOfRetry(of: call, after: failure.error)
        else { return end(call, with: .failure(failure.following(call.failures.last))) }
        call.failures.last = failure.error
        pause(call, for: delay)
    }

    /// Returns what remains for a request if its next call is abandoned. Only one call of a request is abandoned for a retry.
    private func otherChance(of call: SharedCall) -> AttemptTimer.OtherChance {
        if call.search.hasAlternative { return .nextProvider }
        return call.failures.count + 1 < policy.retry.maxAttempts && call.cost.givenUp == 0 ? .retry : .none
    }

    /// Makes the next HTTP call after a pause, which is a step of the request.
    private func pause(_ call: SharedCall, for delay: Duration) {
        let start = clock.now
        let timer = timekeeper.schedule(at: start + delay) { [self] in
            call.pause = nil
            call.search.context?.noteStep(.pause, of: id, from: start, to: clock.now, as: .over)
            attempt(call)
        }
        call.pause = (start, timer)
    }

    /// Returns the delay of another HTTP call after a failure; `nil` if none should follow.
    private func delayOfRetry(of call: SharedCall, after error: SearchError) -> Duration? {
        let now = clock.now
        let expectedAttempt = caller.queue.limits.concurrency.expectedLatency
        // `lastCall` limits only the start of a call.
        let timeToLastCall = call.search.lastCall.map { now.duration(to: $0) + expectedAttempt }
        let remaining = call.deadline.remaining(at: now)
        let failure = RetryPolicy.Failure(
            attempt: call.failures.count, allowsAttempt: error.allowsAttempt, retryAfter: error.retryAfter,
            remaining: timeToLastCall.map { min($0, remaining) } ?? remaining, expectedAttempt: expectedAttempt)

        guard !call.isCancelled,
            case .retry(let delay) = policy.retry.decide(
                after: failure, budget: &caller.retryBudget, at: now, using: &random)
        else { return nil }
        return delay
    }

    // MARK: - The fleet, and the status

    /// Returns the group of the first call for a request; `nil` if all calls have the same limits.
    func group(of request: SearchRequest, at service: any PlaceService) -> Int? {
        let groups = caller.queue.limits.groups
        return groups.count > 1 ? groups.index(of: service.priceClass(of: request, followUp: nil)) : nil
    }

    /// Records how many requests have not begun and would be sent under each rate limit.
    func noteWaiting(_ waiting: [CallLine: WaitingRequests]) {
        var byBucket = shares.map { _ in WaitingRequests() }
        for (line, requests) in waiting where line.provider == id {
            for bucket in caller.queue.limits.bucketIndices(of: line.group ?? 0) { byBucket[bucket] += requests }
        }
        for (share, requests) in zip(shares, byBucket) { share.waitingToBegin = requests }
    }

    /// Returns whether a new call of the class and group would be granted soon.
    func hasShortLine(for requestClass: RequestClass, in group: Int?) -> Bool {
        let groups = group.map { $0..<($0 + 1) } ?? caller.queue.limits.groups.all.indices
        return groups.allSatisfy { caller.queue.hasShortLine(for: requestClass, in: $0) }
    }

    /// Returns the number of calls per second that this loop may make of a group; `nil` without a limit.
    func pace(of group: Int?) -> Double? {
        let limits = caller.queue.limits
        return limits.bucketIndices(of: group ?? 0).compactMap { limits.buckets[$0].pace }.min()
    }

    /// Applies the operator's controls of this provider.
    /// - Parameter concurrency: the ordered maximum of concurrent calls on this loop; `nil`: the policy's maximum.
    func apply(_ controls: LaneControls.Provider, concurrency: Int?) {
        let (now, breaker) = (clock.now, caller.queue.limits.breaker)
        if controls.isPaused { breaker.holdOpen(at: now) } else { breaker.release(at: now) }
        if let limit = policy.rateLimit {
            caller.queue.setLimit(controls.perSecond.map { limit.scaled(to: $0) } ?? limit)
        }
        // Fewer requests in flight make fewer calls anyway. Existing requests are not refused for it.
        let most = policy.concurrency.maximum
        caller.queue.setMaximum(max(most, concurrency ?? most))
    }

    /// Admits the next call if the previous key was the cause of the failures. See `CircuitBreaker.renewKey`.
    func renewKey() { caller.queue.limits.breaker.renewKey() }

    var status: ProviderStatus {
        let now = clock.now
        let (queue, limits) = (caller.queue, caller.queue.limits)
        return ProviderStatus(
            provider: id, breaker: limits.state(at: now), breakerReason: limits.reason(at: now),
            openFor: (limits.breaker.openUntil(at: now) ?? limits.budgetsUsedUpUntil(at: now)).map {
                now.duration(to: $0)
            },
            allowedPerSecond: limits.bucket.limit.map { $0.perSecond * shares[0].share },
            pausedFor: limits.bucket.pausedUntil(at: now).map { now.duration(to: $0) },
            rateLimiter: queue.rateStatistics(), sharesRate: policy.share.isShared,
            concurrency: queue.concurrencyStatistics, retries: caller.retryBudget.statistics, calls: caller.calls,
            shared: sharedCalls.joined, held: parked, budgets: limits.accounts.map { $0.status(at: now) })
    }
}
