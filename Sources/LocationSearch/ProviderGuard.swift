import Resilience

/// All that stands between a request and one provider, outermost first:
///
///     single flight -> retry within its budget -> breaker -> rate limit -> concurrency limit -> attempt
///
/// Identical requests share everything behind them. Each attempt, a retry too, is a call that the key's limit counts and
/// that the breaker judges, so a retry goes through all three again. What can be refused without a wait is asked first:
/// a request that meets an open breaker takes no token.
///
/// Belongs to one `SearchWorker`, on whose executor everything runs; takes no lock.
final class ProviderGuard {
    let id: ProviderID
    private let policy: ProviderPolicy
    private let clock: any MonotonicClock
    private let flights: SingleFlight<Inquiry, Asked, Asked.Failure>
    private let breaker: CircuitBreaker
    private let limiter: RateLimiter
    private let concurrency: AdaptiveLimit
    private var budget: RetryBudget
    private var share: Double
    private var calls = 0
    /// Requests that wait for an open breaker.
    private var held = 0
    private let onWasted: @Sendable (ProviderID, Int) -> Void
    private var random: any RandomNumberGenerator & Sendable

    /// What came of asking. An object, as is a failure, for it goes from task to task by way of many frames.
    final class Asked: Sendable {
        let answer: ProviderAnswer
        let cost: Cost

        init(answer: ProviderAnswer, cost: Cost) {
            self.answer = answer
            self.cost = cost
        }

        final class Failure: Error, Sendable {
            let error: SearchError
            let cost: Cost

            init(error: SearchError, cost: Cost) {
                self.error = error
                self.cost = cost
            }
        }

        struct Cost: Sendable {
            var attempts = 0
            var upstream: Duration = .zero

            static func waiting(since start: ContinuousClock.Instant, until end: ContinuousClock.Instant) -> Cost {
                Cost(upstream: start.duration(to: end))
            }
            static func + (a: Cost, b: Cost) -> Cost {
                Cost(attempts: a.attempts + b.attempts, upstream: a.upstream + b.upstream)
            }
        }
    }

    /// A refused key stays refused until a person acts; asking every five minutes finds out that he did.
    private static let unauthorizedPause: Duration = .seconds(300)
    /// A used-up daily quota, where the provider does not say when it begins anew.
    private static let quotaPause: Duration = .seconds(3600)

    init(
        _ id: ProviderID, _ policy: ProviderPolicy, clock: any MonotonicClock, timekeeper: any Timekeeper,
        taskExecutor: (any TaskExecutor)?, random: any RandomNumberGenerator & Sendable,
        onTransition: @escaping @Sendable (ProviderID, CircuitBreaker.Transition) -> Void,
        onWasted: @escaping @Sendable (ProviderID, Int) -> Void
    ) {
        self.onWasted = onWasted
        self.id = id
        self.policy = policy
        self.clock = clock
        self.random = random
        flights = SingleFlight(
            isEnabled: policy.sharesIdenticalCalls, timekeeper: timekeeper, taskExecutor: taskExecutor,
            lacksTime: { $0.error.code == .timeout || $0.error.code == .rateLimited })
        breaker = CircuitBreaker(policy.breaker)
        breaker.onTransition = { onTransition(id, $0) }
        share = policy.share.initial
        limiter = RateLimiter(limit: policy.rateLimit, share: share, timekeeper: timekeeper)
        concurrency = AdaptiveLimit(policy.concurrency, timekeeper: timekeeper)
        budget = RetryBudget(policy.budget)
    }

    // The way that all take is inlined, here and below: see "One request" in `WorkerLane`.

    /// Asks the provider, or takes part in an identical request's asking.
    /// - Parameter mayHold: nobody else can serve it, so `whenOpen` decides about waiting.
    @inline(__always)
    func ask(_ inquiry: Inquiry, before deadline: Deadline, mayHold: Bool) async throws(Asked.Failure) -> Asked {
        guard mayHold, policy.whenOpen == .hold else { return try await sharing(inquiry, before: deadline) }
        var deadline = deadline
        var spent = Asked.Cost()
        while true {
            do throws(Asked.Failure) {
                let asked = try await sharing(inquiry, before: deadline)
                return Asked(answer: asked.answer, cost: asked.cost + spent)
            } catch {
                spent = spent + error.cost
                guard error.error.code == .circuitOpen, let pause = error.error.retryAfter,
                    let waited = await hold(for: pause)
                else { throw Asked.Failure(error: error.error, cost: spent) }
                deadline = Deadline(deadline.instant + waited)
            }
        }
    }

    /// Waits until the provider may be asked again.
    /// - Returns: how long that took, which is not taken from the request's time; `nil`: cancelled.
    private func hold(for pause: Duration) async -> Duration? {
        let start = clock.now
        held += 1
        defer { held -= 1 }
        guard !Task.isCancelled, (try? await clock.sleep(until: start + pause, tolerance: nil)) != nil else {
            return nil
        }
        return start.duration(to: clock.now)
    }

    /// One call for all that ask the same at the same time.
    @inline(__always)
    private func sharing(
        _ inquiry: Inquiry, before deadline: Deadline, isolation: isolated (any Actor)? = #isolation
    ) async throws(Asked.Failure) -> Asked {
        guard policy.sharesIdenticalCalls else { return try await retrying(inquiry, before: deadline) }
        let start = clock.now
        do throws(FlightError<Asked.Failure>) {
            let (asked, isShared) = try await flights.run(inquiry, before: deadline) {
                [self] (deadline) async throws(Asked.Failure) in
                // Named, or the closure would belong to no actor, and each `await` in all that it calls would go by way of
                // the executor's queue.
                _ = isolation
                return try await flight(inquiry, before: deadline)
            }
            // The call belongs to whoever made it; who shared it paid with time only.
            return isShared ? Asked(answer: asked.answer, cost: .waiting(since: start, until: clock.now)) : asked
        } catch {
            switch error {
            case .failed(let failure): throw failure
            case .timedOut, .cancelled:
                throw Asked.Failure(error: .timedOut, cost: .waiting(since: start, until: clock.now))
            }
        }
    }

    /// Runs in a task of its own, which is cancelled when nobody waits for it any more: then its calls were for nothing.
    @inline(__always)
    private func flight(_ inquiry: Inquiry, before deadline: Deadline) async throws(Asked.Failure) -> Asked {
        do throws(Asked.Failure) {
            let asked = try await retrying(inquiry, before: deadline)
            if Task.isCancelled { onWasted(id, asked.cost.attempts) }
            return asked
        } catch {
            if Task.isCancelled { onWasted(id, error.cost.attempts) }
            throw error
        }
    }

    // MARK: - Attempts

    /// One attempt after another until one succeeds or another makes no sense.
    @inline(__always)
    private func retrying(_ inquiry: Inquiry, before deadline: Deadline) async throws(Asked.Failure) -> Asked {
        var cost = Asked.Cost()
        while true {
            let failure: SearchError
            switch await attempt(inquiry, before: deadline, &cost) {
            case .success(let answer): return Asked(answer: answer, cost: cost)
            case .failure(let error): failure = error
            }
            let now = clock.now
            guard !Task.isCancelled,
                case .retry(let delay) = decide(after: failure, cost.attempts, before: deadline, at: now),
                (try? await clock.sleep(until: now + delay, tolerance: nil)) != nil
            else { throw Asked.Failure(error: failure, cost: cost) }
        }
    }

    private func decide(
        after failure: SearchError, _ attempts: Int, before deadline: Deadline, at now: ContinuousClock.Instant
    ) -> RetryPolicy.Decision {
        let failure = RetryPolicy.Failure(
            attempt: max(1, attempts), allowsAttempt: failure.allowsAttempt, retryAfter: failure.retryAfter,
            remaining: deadline.remaining(at: now), expectedAttempt: concurrency.expectedLatency)
        return policy.retry.decide(after: failure, budget: &budget, at: now, using: &random)
    }

    /// One call, if all three let it through.
    @inline(__always)
    private func attempt(
        _ inquiry: Inquiry, before deadline: Deadline, _ cost: inout Asked.Cost
    ) async -> Result<ProviderAnswer, SearchError> {
        let arrival = clock.now
        guard !Task.isCancelled, !deadline.hasPassed(at: arrival) else { return .failure(.timedOut) }
        let permit: CircuitBreaker.Permit
        do throws(CircuitBreaker.Rejection) {
            permit = try breaker.permit(at: arrival)
        } catch {
            return .failure(.circuitOpen(id, for: error.retryAfter))
        }
        let slot: AdaptiveLimit.Slot
        do throws(Refusal) {
            if let free = try admission(before: deadline, at: arrival) {
                slot = free
            } else {
                slot = try await turn(before: deadline)
            }
        } catch {
            return .failure(.refused(error, by: id))
        }
        calls += 1
        inquiry.note?.noteCall()
        let start = clock.now
        if cost.attempts == 0 { budget.noteRequest(at: start) }
        cost.attempts += 1
        let result: Result<ProviderAnswer, SearchError>
        do throws(SearchError) {
            result = .success(try await inquiry.service.answer(inquiry.request, before: deadline))
        } catch {
            result = .failure(error)
        }
        let now = clock.now
        let took = start.duration(to: now)
        cost.upstream += took
        if Task.isCancelled { return result }  // says nothing about the provider: permit and slot are given back
        permit.finish(verdict(on: result, took: took), at: now)
        slot.finish(load(shownBy: result), at: now)
        if case .failure(let error) = result, error.code == .rateLimited || error.code == .upstreamUnavailable,
            let pause = error.retryAfter
        {
            limiter.close(until: now + pause, at: now)
        }
        return result
    }

    /// A turn at the rate and a place among the calls under way, where neither takes a wait; `nil`: one does.
    private func admission(
        before deadline: Deadline, at now: ContinuousClock.Instant
    ) throws(Refusal) -> AdaptiveLimit.Slot? {
        guard concurrency.hasRoom, limiter.tryAcquire(at: now) else { return nil }
        return try enter(before: deadline, at: now)
    }

    /// A place for whoever has a turn, where there is room. A refusal gives the turn back.
    private func enter(before deadline: Deadline, at now: ContinuousClock.Instant) throws(Refusal) -> AdaptiveLimit.Slot
    {
        do throws(Refusal) {
            return try concurrency.enter(before: deadline, at: now)
        } catch {
            limiter.giveBack(at: now)
            throw error
        }
    }

    /// The same for whoever waits. Whoever must wait for a place gives his turn back first: turns saved up by a crowd, used
    /// all at once when places come free, would exceed the rate.
    private func turn(before deadline: Deadline) async throws(Refusal) -> AdaptiveLimit.Slot {
        let latest = latestStart(before: deadline)
        try await limiter.acquire(before: latest, at: clock.now)
        if concurrency.hasRoom { return try enter(before: deadline, at: clock.now) }
        limiter.giveBack(at: clock.now)
        let slot = try await concurrency.acquire(before: deadline, at: clock.now)
        try await limiter.acquire(before: latest, at: clock.now)
        return slot
    }

    /// A turn that comes when no time is left for the call wastes it: a token used, and a timeout all the same. Twice what
    /// calls take at present is kept for the call, and a tenth of the time in any case, but never more than half of it.
    private func latestStart(before deadline: Deadline) -> Deadline {
        let left = deadline.remaining(at: clock.now)
        return Deadline(deadline.instant - min(left / 2, max(left / 10, concurrency.expectedLatency * 2)))
    }

    /// What a call says about the provider's health.
    private func verdict(on result: Result<ProviderAnswer, SearchError>, took: Duration) -> CircuitBreaker.Outcome {
        guard case .failure(let error) = result else {
            return took >= policy.breaker.slowCallDuration ? .slow : .success
        }
        switch error.code {
        case .upstreamUnavailable, .unreachable, .badResponse: return .failure
        // A call that had next to no time left shows nothing.
        case .timeout: return took * 5 >= policy.breaker.slowCallDuration ? .failure : .ignored
        case .unauthorized: return .trip(for: Self.unauthorizedPause)
        case .rateLimited where !error.allowsAttempt: return .trip(for: error.retryAfter ?? Self.quotaPause)
        case .notFound: return .success
        case .rateLimited, .invalidRequest, .upstreamRejected, .circuitOpen, .superseded, .expired, .internal:
            return .ignored
        }
    }

    /// What a call says about how much the provider has to do.
    private func load(shownBy result: Result<ProviderAnswer, SearchError>) -> AdaptiveLimit.Outcome {
        guard case .failure(let error) = result else { return .answered }
        return switch error.code {
        case .timeout: .timedOut
        case .upstreamUnavailable where error.httpStatus == 503: .overloaded
        case .rateLimited where error.allowsAttempt: .overloaded
        case .unreachable: .ignored
        default: error.httpStatus == nil ? .ignored : .answered
        }
    }

    // MARK: - The fleet, and what is shown

    /// At each rebalance: before a loss is acknowledged, after a gain.
    func owns(_ assigned: Int, of partitions: Int) {
        share = policy.share.value(assigned: assigned, of: partitions)
        limiter.setShare(share, at: clock.now)
    }

    var status: ProviderStatus {
        let now = clock.now
        return ProviderStatus(
            provider: id, breaker: breaker.state, openFor: breaker.openUntil(at: now).map { now.duration(to: $0) },
            breakerCounts: breaker.statistics, allowedPerSecond: policy.rateLimit.map { $0.perSecond * share },
            closedFor: limiter.closedUntil(at: now).map { now.duration(to: $0) }, rateLimiter: limiter.statistics,
            concurrency: concurrency.statistics, retries: budget.statistics,
            calls: calls, shared: flights.statistics.joined, held: held)
    }
}

extension SearchError {
    fileprivate static func circuitOpen(_ provider: ProviderID, for pause: Duration) -> SearchError {
        SearchError(
            .circuitOpen, "\(provider.rawValue) is failing and is not asked for now; send the request again later",
            retryAfter: pause)
    }

    fileprivate static func refused(_ refusal: Refusal, by provider: ProviderID) -> SearchError {
        switch refusal {
        case .cancelled: .timedOut
        case .tooLate(let retryAfter):
            SearchError(
                .rateLimited,
                "\(provider.rawValue) could not be asked within the deadline at the rate and concurrency that are allowed; send the request again later, or allow more time",
                retryAfter: retryAfter, allowsAttempt: false)
        }
    }
}
