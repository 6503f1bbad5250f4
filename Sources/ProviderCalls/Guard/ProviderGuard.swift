internal import Basics
internal import LocationSearch
import QuotaSharing
import Resilience

/// Stands between requests and one provider, so that the provider is called as seldom and as gently as its limits ask.
///
/// A request passes through these steps, each a function of that name:
///
///     answer -> share -> retry -> attempt: admit, then one HTTP call
///
/// Identical requests share everything behind `share`. Every HTTP call is an attempt of its own, whether it repeats one
/// that failed or follows one that succeeded: each is admitted, timed, judged and counted.
///
/// One file, though a long one: the steps are private to each other, and those that every request takes are inlined.
///
/// Belongs to one `SearchWorker`, on whose executor everything runs, so that no lock is needed. Functions that every
/// request awaits are inlined where they are called: see docs/concurrency.md.
final class ProviderGuard: SharedRateLimit {
    let id: ProviderID
    private let policy: ProviderPolicy
    private let clock: any MonotonicClock
    private let sharedCalls: SingleFlight
    private let admission: CallAdmission
    private let onWasted: @Sendable (ProviderID, Int) -> Void
    private let onCall: @Sendable (PriceClass, CallEnd, Duration) -> Void
    private var retryBudget: RetryBudget
    private var attemptTimer: AttemptTimer
    /// The failure that the breaker is just told of, for the log.
    private var judgedFailure: SearchError?
    /// This loop's part of the key's rate limit, 0 to 1.
    private var share: Double
    private var rateDemand = RateDemand()
    /// HTTP calls made.
    private var calls = 0
    /// Requests that wait for an open breaker.
    private var held = 0
    private var random: any RandomNumberGenerator & Sendable
    /// How often a held request looks whether the breaker lets calls through early.
    private static let holdReview = Duration.seconds(5)

    init(
        _ id: ProviderID, policy: ProviderPolicy, clock: any MonotonicClock, timekeeper: any Timekeeper,
        taskExecutor: (any TaskExecutor)?, random: any RandomNumberGenerator & Sendable, budget: BudgetGate?,
        onTransition: @escaping @Sendable (ProviderID, CircuitBreaker.Transition, SearchError?) -> Void,
        onWasted: @escaping @Sendable (ProviderID, Int) -> Void,
        onCall: @escaping @Sendable (PriceClass, CallEnd, Duration) -> Void
    ) {
        self.id = id
        self.policy = policy
        self.clock = clock
        self.random = random
        self.onWasted = onWasted
        self.onCall = onCall
        sharedCalls = SingleFlight(timekeeper: timekeeper, taskExecutor: taskExecutor)
        share = policy.share.initial
        admission = CallAdmission(
            breaker: CircuitBreaker(policy.breaker),
            limiter: RateLimiter(limit: policy.rateLimit, share: share, timekeeper: timekeeper),
            concurrency: AdaptiveLimit(policy.concurrency, timekeeper: timekeeper), budget: budget)
        retryBudget = RetryBudget(policy.budget)
        attemptTimer = AttemptTimer(policy.attemptTimeout)
        admission.breaker.onTransition = { [weak self] in onTransition(id, $0, self?.judgedFailure) }
        // Another member may give calls back, and a person may raise the budget.
        budget?.onMore = { [breaker = admission.breaker] in breaker.endTrip(because: .budgetUsedUp) }
    }

    // MARK: - Answer

    /// Asks the provider, or takes part in an identical request's calls. `whenOpen` decides whether a request that nobody
    /// else can serve waits for an open breaker.
    @inline(__always)
    func answer(_ inquiry: Inquiry, before deadline: Deadline) async throws(GuardedFailure) -> GuardedAnswer {
        guard !inquiry.hasAlternative, policy.whenOpen == .hold else {
            return try await share(inquiry, before: deadline)
        }
        return try await hold(inquiry, before: deadline)
    }

    /// Asks the provider, and asks again each time that it may be asked after it was shut.
    ///
    /// The time spent waiting for that is not taken from the request's deadline. It ends with the request's lifetime: no
    /// call is paid for that nobody has a use for.
    private func hold(_ inquiry: Inquiry, before deadline: Deadline) async throws(GuardedFailure) -> GuardedAnswer {
        var deadline = deadline
        var spent = CallCost()
        while true {
            do throws(GuardedFailure) {
                let answer = try await share(inquiry, before: deadline)
                return GuardedAnswer(answer: answer.answer, cost: answer.cost + spent)
            } catch {
                spent = spent + error.cost
                guard error.cause.isShut, let pause = error.error.retryAfter,
                    let waited = await wait(upTo: pause, for: inquiry)
                else { throw GuardedFailure(error, cost: spent) }
                guard !inquiry.isOver(at: clock.now) else { throw GuardedFailure(overWhileWaiting, cost: spent) }
                deadline = inquiry.extended(deadline, by: waited)
            }
        }
    }

    /// Waits until the provider may be asked again, or until the request is over.
    /// - Returns: how long that took; `nil` when the task was cancelled.
    private func wait(upTo pause: Duration, for inquiry: Inquiry) async -> Duration? {
        let start = clock.now
        let end = inquiry.lastCall.map { min($0, start + pause) } ?? start + pause
        held += 1
        defer { held -= 1 }

        // A new key, or a budget that was raised, lets calls through before the time that was told.
        var now = start
        while now < end, now == start || admission.shutUntil(at: now) != nil {
            var next = min(end, now + Self.holdReview)
            if isPutBack(.heldNeverLooks) { next = now + .seconds(3600) }
            guard !Task.isCancelled, (try? await clock.sleep(until: next, tolerance: nil)) != nil else { return nil }
            now = clock.now
        }
        return start.duration(to: now)
    }

    /// The failure of a request that could not be asked for while it was of use.
    private var overWhileWaiting: AttemptFailure {
        AttemptFailure(error: .overWhileWaiting(for: id), cause: .noTime)
    }

    // MARK: - Share

    /// Makes the calls of one request serve all identical ones that arrive meanwhile.
    @inline(__always)
    private func share(
        _ inquiry: Inquiry, before deadline: Deadline, isolation: isolated (any Actor)? = #isolation
    ) async throws(GuardedFailure) -> GuardedAnswer {
        guard policy.sharesIdenticalCalls else { return try await retryAlone(inquiry, before: deadline) }

        let start = clock.now
        do throws(SharedCallError) {
            let (answer, isShared) = try await sharedCalls.run(inquiry, before: deadline) {
                [self] (deadline) async throws(GuardedFailure) in
                _ = isolation  // see docs/concurrency.md
                return try await retryUnlessAbandoned(inquiry, before: deadline)
            }
            return isShared ? GuardedAnswer(answer: answer.answer, cost: waiting(since: start)) : answer
        } catch {
            switch error {
            case .failed(let failure, let isShared):
                throw isShared ? GuardedFailure(failure, cost: waiting(since: start)) : failure
            case .timedOut where inquiry.isOver(at: clock.now) && !deadline.hasPassed(at: clock.now):
                throw GuardedFailure(overWhileWaiting, cost: waiting(since: start))
            case .timedOut, .cancelled:
                throw GuardedFailure(AttemptFailure(error: .timedOut, cause: .noTime), cost: waiting(since: start))
            }
        }
    }

    /// Makes the calls of one request for itself only, in its own task. Kept out of line, because few settings ask for it and
    /// all that it inlines would enlarge the frame of every request.
    @inline(never)
    private func retryAlone(
        _ inquiry: Inquiry, before deadline: Deadline
    ) async throws(GuardedFailure) -> GuardedAnswer {
        try await retry(inquiry, before: deadline)
    }

    /// Calls belong to the request that made them. The others that share them paid with time only.
    private func waiting(since start: Instant) -> CallCost {
        .waiting(since: start, until: clock.now)
    }

    /// Runs in the shared calls' own task. It is cancelled when no request waits any more: then its calls were wasted.
    @inline(__always)
    private func retryUnlessAbandoned(
        _ inquiry: Inquiry, before deadline: Deadline
    ) async throws(GuardedFailure) -> GuardedAnswer {
        do throws(GuardedFailure) {
            let answer = try await retry(inquiry, before: deadline)
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
    private func retry(_ inquiry: Inquiry, before deadline: Deadline) async throws(GuardedFailure) -> GuardedAnswer {
        var cost = CallCost()
        var failures = 0
        var followUp: FollowUpCall?
        while true {
            let other = otherChance(of: inquiry, failures: failures, cost: cost)
            switch await attempt(inquiry, followUp: followUp, before: deadline, ifGivenUp: other, cost: &cost) {
            case .success(.answer(let answer)):
                return GuardedAnswer(answer: answer, cost: cost)

            case .success(.needsCall(let next)):
                guard await wait(for: next.delay, before: deadline) else {
                    throw GuardedFailure(AttemptFailure(error: next.failureIfLate, cause: .noTime), cost: cost)
                }
                followUp = next

            case .failure(let failure):
                failures += 1
                // A call is given up for the next provider, where there is one, and else for a retry.
                guard failure.cause != .givenUp || !inquiry.hasAlternative,
                    await waitForRetry(of: inquiry, after: failure.error, failures: failures, before: deadline)
                else { throw GuardedFailure(failure, cost: cost) }
            }
        }
    }

    /// Returns what can be done for a request when its next call is given up. Only one call of a request is given up for a
    /// retry.
    private func otherChance(of inquiry: Inquiry, failures: Int, cost: CallCost) -> AttemptTimer.OtherChance {
        if inquiry.hasAlternative { return .nextProvider }
        return failures + 1 < policy.retry.maxAttempts && cost.givenUp == 0 ? .retry : .none
    }

    /// Waits before a call that follows another one.
    /// - Returns: `false` when the deadline leaves no time for the wait, or when the task was cancelled.
    @inline(never)
    private func wait(for delay: Duration, before deadline: Deadline) async -> Bool {
        if delay == .zero { return true }
        let now = clock.now
        guard deadline.remaining(at: now) > delay else { return false }
        return (try? await clock.sleep(until: now + delay, tolerance: nil)) != nil
    }

    /// Decides whether a failure is followed by another attempt, and waits for its time.
    /// - Returns: `false` when no attempt should follow.
    @inline(never)
    private func waitForRetry(
        of inquiry: Inquiry, after error: SearchError, failures: Int, before deadline: Deadline
    ) async -> Bool {
        let now = clock.now
        let expectedAttempt = admission.concurrency.expectedLatency
        // Only the beginning of a call is bound by the request's lifetime.
        let timeToLastCall = inquiry.lastCall.map { now.duration(to: $0) + expectedAttempt }
        let remaining = deadline.remaining(at: now)
        let failure = RetryPolicy.Failure(
            attempt: failures, allowsAttempt: error.allowsAttempt, retryAfter: error.retryAfter,
            remaining: timeToLastCall.map { min($0, remaining) } ?? remaining, expectedAttempt: expectedAttempt)

        guard !Task.isCancelled,
            case .retry(let delay) = policy.retry.decide(after: failure, budget: &retryBudget, at: now, using: &random)
        else { return false }
        return (try? await clock.sleep(until: now + delay, tolerance: nil)) != nil
    }

    // MARK: - Attempt

    /// Makes one HTTP call as soon as it is admitted.
    @inline(__always)
    private func attempt(
        _ inquiry: Inquiry, followUp: FollowUpCall?, before deadline: Deadline,
        ifGivenUp other: AttemptTimer.OtherChance, cost: inout CallCost
    ) async -> Result<ProviderReply, AttemptFailure> {
        let attempt: Attempt
        do throws(AttemptFailure) {
            attempt = try admit(inquiry, followUp: followUp, before: deadline)
            if !attempt.hasSlot { try await waitForSlot(of: attempt) }
        } catch {
            return .failure(error)
        }

        begin(attempt, ifGivenUp: other, cost: &cost)
        let result: Result<ProviderReply, SearchError>
        do throws(SearchError) {
            let reply =
                if let trace = inquiry.note?.trace {
                    try await trace.call(
                        for: inquiry, followUp: followUp, before: attempt.deadline, number: cost.attempts)
                } else {
                    try await inquiry.service.call(for: inquiry.request, followUp: followUp, before: attempt.deadline)
                }
            result = .success(reply)
        } catch {
            result = .failure(error)
        }
        return end(attempt, with: result, cost: &cost)
    }

    /// Has a call admitted, as far as that takes no wait.
    private func admit(
        _ inquiry: Inquiry, followUp: FollowUpCall?, before deadline: Deadline
    ) throws(AttemptFailure) -> Attempt {
        let now = clock.now
        guard !Task.isCancelled, !deadline.hasPassed(at: now) else {
            throw AttemptFailure(error: .timedOut, cause: .noTime)
        }
        // A call that follows another one completes an answer that is paid for already.
        if followUp == nil, inquiry.isOver(at: now) { throw overWhileWaiting }

        let attempt = Attempt(inquiry, followUp: followUp, before: deadline, at: now)
        do throws(AdmissionError) {
            let admitted = try admission.admit(before: deadline, at: now)
            attempt.hasSlot = admitted.hasSlot
            attempt.budgetPermit = admitted.budgetPermit
            attempt.admitted = consume admitted
        } catch {
            throw failure(for: error, of: inquiry)
        }
        return attempt
    }

    @inline(never)
    private func waitForSlot(of attempt: Attempt) async throws(AttemptFailure) {
        let lastCall = attempt.followUp == nil ? attempt.inquiry.lastCall : nil
        do throws(AdmissionError) {
            var awaited = try await admission.waitForSlot(
                within: CallTimes(deadline: attempt.deadline, lastCall: lastCall), clock: clock)
            attempt.budgetPermit = awaited.budgetPermit
            attempt.admitted?.slot = awaited.slot.take()
            attempt.hasSlot = true
        } catch {
            throw failure(for: error, of: attempt.inquiry)
        }
    }

    /// Notes that an admitted call begins, and decides how long it may take.
    private func begin(_ attempt: Attempt, ifGivenUp other: AttemptTimer.OtherChance, cost: inout CallCost) {
        let now = clock.now
        attempt.start = now
        countCall(for: attempt.inquiry, isFirst: cost.attempts == 0, at: now)
        if let permit = attempt.budgetPermit { countBudgeted(attempt, permit, at: now) }
        cost.attempts += 1

        // Without a retry set aside, calls that were given up together could not all be made again.
        guard let limit = attemptTimer.limit(within: attempt.deadline.remaining(at: now), ifGivenUp: other),
            other == .nextProvider || retryBudget.reserve(at: now)
        else { return }
        attempt.deadline = Deadline(now + limit)
        attempt.isLimited = true
        attempt.holdsRetry = other == .retry
    }

    /// Notes how a call ended.
    /// - Returns: what came of it, where giving it up is a failure of its own kind.
    private func end(
        _ attempt: Attempt, with result: Result<ProviderReply, SearchError>, cost: inout CallCost
    ) -> Result<ProviderReply, AttemptFailure> {
        if attempt.holdsRetry { retryBudget.release() }

        let end = clock.now
        let duration = attempt.start.duration(to: end)
        cost.upstream += duration
        let isCancelled = Task.isCancelled
        let priceClass = attempt.inquiry.priceClass(followUp: attempt.followUp)
        onCall(priceClass, isCancelled ? .cancelled : CallEnd(result), duration)

        // A call of a cancelled task says nothing about the provider: dropping `admitted` gives everything back.
        guard let admitted = attempt.admitted.take() else { preconditionFailure("a call that nobody admitted") }
        if isCancelled { return result.mapError { AttemptFailure(error: $0, cause: .call) } }

        // A process that stood still has measured itself, not the provider. What the provider said counts all the same.
        let stoodStill = attempt.endedAfterStandstill(at: end)

        switch result {
        case .success(let reply):
            if stoodStill { return .success(reply) }
            attemptTimer.noteAnswer(after: duration)
            let isSlow = duration >= policy.breaker.slowCallDuration
            admission.finish(admitted, failedWith: nil, health: isSlow ? .slow : .success, at: end)
            return .success(reply)

        case .failure(let error):
            let isAnswered = error.code != .timeout && error.code != .unreachable
            if isAnswered || !stoodStill { finish(admitted, failedWith: error, after: duration, at: end) }
            guard attempt.isOver(at: end), error.code == .timeout, error.httpStatus == nil else {
                return .failure(AttemptFailure(error: error, cause: .call))
            }
            noteGivenUp(cost: &cost)
            return .failure(AttemptFailure(error: .givenUp(id), cause: .givenUp))
        }
    }

    private func noteGivenUp(cost: inout CallCost) {
        attemptTimer.noteGivenUp()
        cost.givenUp += 1
        onWasted(id, 1)
    }

    private func finish(
        _ call: consuming AdmittedCall, failedWith error: SearchError, after duration: Duration,
        at now: Instant
    ) {
        let telling = attemptTimer.tellingTimeout(slowCallDuration: policy.breaker.slowCallDuration)
        if error.load == .answered { attemptTimer.noteAnswer(after: duration) }

        judgedFailure = error
        admission.finish(
            call, failedWith: error, health: error.health(after: duration, tellingTimeout: telling), at: now)
        judgedFailure = nil
    }

    private func countCall(for inquiry: Inquiry, isFirst: Bool, at now: Instant) {
        calls += 1
        inquiry.note?.noteCall(at: now)
        if isFirst { retryBudget.noteRequest(at: now) }
    }

    @inline(never)
    private func countBudgeted(_ attempt: Attempt, _ permit: BudgetGate.Permit, at now: Instant) {
        let priceClass = attempt.inquiry.priceClass(followUp: attempt.followUp)
        let kind = CallKind(operation: attempt.inquiry.request.operation, priceClass: priceClass)
        admission.budget?.noteMade(permit, as: kind.name, at: now)
    }

    private func failure(for error: AdmissionError, of inquiry: Inquiry) -> AttemptFailure {
        switch error {
        case .breakerOpen(let rejection):
            AttemptFailure(error: .shut(rejection, of: id), cause: .breakerOpen)
        case .paused(let rejection):
            AttemptFailure(error: .shut(rejection, of: id), cause: .paused)
        // Timers may fire a little early.
        case .limited(.tooLate) where inquiry.isOver(at: clock.now + .milliseconds(5)): overWhileWaiting
        case .limited(let error):
            AttemptFailure(error: .limited(error, by: id), cause: .noTime)
        }
    }

    // MARK: - The fleet, and what is shown

    /// Takes over what follows from the partitions that this loop owns. Called at each rebalance: before a loss is
    /// acknowledged, after a gain.
    func assign(_ assigned: Int, of partitions: Int) {
        guard policy.share != .byDemand else { return }
        share = policy.share.value(assigned: assigned, of: partitions)
        admission.limiter.setShare(share, at: clock.now)
    }

    /// Takes over this loop's share of a limit that is shared by demand.
    func take(_ loopShare: LoopShare, at now: Instant) {
        share = loopShare.share
        admission.limiter.setShare(loopShare.share, until: loopShare.end, prospect: loopShare.prospect, at: now)
    }

    /// The fraction of the limit that this loop could use now, 0 to 1.
    func demand(at now: Instant) -> Double {
        guard let limit = policy.rateLimit else { return 0 }
        return rateDemand.fraction(of: limit, admission.limiter.statistics, at: now)
    }

    /// Lets the next call through where the last key was to blame. See `CircuitBreaker.renewKey`.
    func renewKey() { admission.breaker.renewKey() }

    var status: ProviderStatus {
        let now = clock.now
        let (breaker, limiter) = (admission.breaker, admission.limiter)
        return ProviderStatus(
            provider: id, breaker: breaker.state(at: now), breakerReason: breaker.reason(at: now),
            openFor: breaker.openUntil(at: now).map { now.duration(to: $0) },
            breakerCounts: breaker.statistics, allowedPerSecond: policy.rateLimit.map { $0.perSecond * share },
            pausedFor: limiter.closedUntil(at: now).map { now.duration(to: $0) }, rateLimiter: limiter.statistics,
            sharesRate: policy.share.isShared,
            concurrency: admission.concurrency.statistics, retries: retryBudget.statistics,
            calls: calls, shared: sharedCalls.statistics.joined, held: held, budget: admission.budget?.status)
    }
}
