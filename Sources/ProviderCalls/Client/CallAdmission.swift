internal import Basics
internal import LocationSearch
import QuotaSharing
import Resilience

/// Decides when a call to one provider may begin.
///
/// A call needs a permit of the breaker, a token of the key's rate limit and a permit of the concurrency limit. The breaker is
/// asked first, because it never makes a call wait: a request that meets an open breaker takes no token. The daily budget
/// comes next, because a call that waits for the fleet must hold no token meanwhile.
///
/// Belongs to one `ProviderCaller`, on whose actor everything runs.
struct CallAdmission {
    let provider: ProviderID
    let breaker: CircuitBreaker
    let limiter: RateLimiter
    let concurrency: AdaptiveLimit
    /// `nil` for a provider without a daily budget.
    let budget: BudgetGate?

    /// Takes all that a call needs and that takes no wait. `waitForRoom` gets the rest.
    /// - Parameter requestClass: the request's.
    /// - Parameter deadline: the request's; time for the call itself is kept free.
    /// - Throws: when the breaker is open, or when the call would come too late.
    func admit(
        as requestClass: RequestClass = .interactive, before deadline: Deadline, at now: Instant
    ) throws(CallFailure) -> AdmittedCall {
        let permit: CircuitBreaker.Permit
        do throws(CircuitBreaker.Rejection) {
            permit = try breaker.permit(at: now)
        } catch {
            throw breakerOpen(error)
        }

        if let budget { return try admit(permit, as: requestClass, within: budget, before: deadline, at: now) }
        do throws(LimitError) {
            return AdmittedCall(
                breakerPermit: permit,
                concurrencyPermit: try permitWithoutWaiting(as: requestClass, before: deadline, at: now))
        } catch {
            throw limited(error)
        }
    }

    /// Goes on with `admit` for a provider that has a daily budget.
    private func admit(
        _ permit: consuming CircuitBreaker.Permit, as requestClass: RequestClass, within budget: BudgetGate,
        before deadline: Deadline, at now: Instant
    ) throws(CallFailure) -> AdmittedCall {
        guard let budgetPermit = budget.tryTake(of: requestClass, at: now) else {
            return AdmittedCall(breakerPermit: permit, concurrencyPermit: nil)
        }
        do throws(LimitError) {
            let admitted = AdmittedCall(
                breakerPermit: permit,
                concurrencyPermit: try permitWithoutWaiting(as: requestClass, before: deadline, at: now),
                budgetPermit: budgetPermit)
            // A call that has to wait for room takes its part of the budget when it waits.
            if !admitted.hasRoom { budget.putBack(budgetPermit) }
            return admitted
        } catch {
            budget.putBack(budgetPermit)
            throw limited(error)
        }
    }

    /// Takes a token and a permit where neither takes a wait.
    /// - Returns: `nil` where one does.
    private func permitWithoutWaiting(
        as requestClass: RequestClass, before deadline: Deadline, at now: Instant
    ) throws(LimitError) -> AdaptiveLimit.Permit? {
        guard concurrency.hasRoom, limiter.tryAcquire(as: requestClass, at: now) else { return nil }
        return try takePermit(as: requestClass, before: deadline, at: now)
    }

    /// Waits for the token and the permit of a call that `admit` gave none. Kept out of line, because few calls wait.
    /// - Parameter caller: for whom, which decides in which line.
    /// - Parameter times: until when the call may begin and must have ended.
    /// - Parameter epoch: the breaker's when it permitted the call.
    /// - Throws: when a token or a permit would come too late, when the breaker has opened meanwhile, and for a batch request when no
    ///   call of the day is left for it.
    @inline(never)
    func waitForRoom(
        of caller: Caller, within times: CallTimes, permittedIn epoch: UInt, clock: any MonotonicClock
    ) async throws(CallFailure) -> AwaitedRoom {
        let room: AwaitedRoom
        do throws(CallFailure) {
            room = try await roomAfterWaiting(of: caller, within: times, clock: clock)
        } catch {
            guard error.cause == .limited, let rejection = breaker.rejection(ofCallPermittedIn: epoch, at: clock.now)
            else { throw error }
            throw breakerOpen(rejection)
        }

        let now = clock.now
        guard let rejection = breaker.rejection(ofCallPermittedIn: epoch, at: now) else { return room }
        limiter.giveBack(as: caller.flow.requestClass, at: now)
        if let permit = room.budgetPermit { budget?.putBack(permit) }
        throw breakerOpen(rejection)
    }

    /// Refuses the calls that wait. Call it when the breaker has opened, so that their requests end, or move on, at once.
    func refuseWaitingCalls() {
        budget?.refuseAll()
        limiter.refuseAll()
        concurrency.refuseAll()
    }

    private func roomAfterWaiting(
        of caller: Caller, within times: CallTimes, clock: any MonotonicClock
    ) async throws(CallFailure) -> AwaitedRoom {
        if let budget { return try await waitForRoom(of: caller, and: budget, within: times, clock: clock) }
        do throws(LimitError) {
            return AwaitedRoom(
                concurrencyPermit: try await permitAfterWaiting(of: caller, within: times, clock: clock),
                budgetPermit: nil)
        } catch {
            throw refusal(for: error, within: times, at: clock.now)
        }
    }

    /// Tells a token that comes too late because of a pause that the provider asked for from one that comes too late by the
    /// worker's own limits.
    private func refusal(for error: LimitError, within times: CallTimes, at now: Instant) -> CallFailure {
        guard case .tooLate = error, let end = limiter.closedUntil(at: now),
            end > latestStart(within: times, at: now).instant
        else { return limited(error) }

        let pause = CircuitBreaker.Rejection(retryAfter: now.duration(to: end), reason: breaker.reason(at: now))
        return CallFailure(error: .shut(pause, of: provider), cause: .paused)
    }

    private func breakerOpen(_ rejection: CircuitBreaker.Rejection) -> CallFailure {
        CallFailure(error: .shut(rejection, of: provider), cause: .breakerOpen)
    }

    private func limited(_ error: LimitError) -> CallFailure {
        CallFailure(error: .limited(error, by: provider), cause: error == .cancelled ? .noTime : .limited)
    }

    /// Waits for a part of the daily budget, and then for a token and a permit.
    private func waitForRoom(
        of caller: Caller, and budget: BudgetGate, within times: CallTimes, clock: any MonotonicClock
    ) async throws(CallFailure) -> AwaitedRoom {
        while true {
            let budgetPermit = try await takeBudgetPermit(of: caller, in: budget, within: times, clock: clock)
            let permit: AdaptiveLimit.Permit
            do throws(LimitError) {
                permit = try await permitAfterWaiting(of: caller, within: times, clock: clock)
            } catch {
                budget.putBack(budgetPermit)
                throw refusal(for: error, within: times, at: clock.now)
            }

            if budget.isCurrent(budgetPermit, at: clock.now) {
                return AwaitedRoom(concurrencyPermit: permit, budgetPermit: budgetPermit)
            }
            // The day has ended while the call waited. It gives its token back until it has a part of the new day.
            limiter.giveBack(as: caller.flow.requestClass, at: clock.now)
        }
    }

    /// Takes a permit of the daily budget.
    ///
    /// A call that was refused as a batch request's asks again where an interactive request has joined it meanwhile.
    private func takeBudgetPermit(
        of caller: Caller, in budget: BudgetGate, within times: CallTimes, clock: any MonotonicClock
    ) async throws(CallFailure) -> BudgetGate.Permit {
        while true {
            let requestClass = caller.flow.requestClass
            do throws(BudgetError) {
                return try await budget.take(
                    of: requestClass, for: caller.owner, before: latestStart(within: times, at: clock.now),
                    at: clock.now)
            } catch {
                if case .keptForInteractive = error, caller.flow.requestClass != requestClass { continue }
                throw failure(for: error, at: clock.now)
            }
        }
    }

    /// Returns the failure of a call that gets no permit of the daily budget. Where nothing is left the breaker opens until the next
    /// day. It does not where what is left is kept for interactive requests, because those go on.
    private func failure(for error: BudgetError, at now: Instant) -> CallFailure {
        switch error {
        case .usedUp(let retryAfter):
            breaker.trip(for: retryAfter, because: .budgetUsedUp, at: now)
            return breakerOpen(CircuitBreaker.Rejection(retryAfter: retryAfter, reason: .budgetUsedUp))
        case .keptForInteractive(let retryAfter):
            return CallFailure(error: .keptForInteractive(retryAfter: retryAfter, by: provider), cause: .breakerOpen)
        case .tooLate: return limited(.tooLate(retryAfter: nil))
        case .cancelled: return limited(.cancelled)
        }
    }

    /// Waits for a token and a permit.
    ///
    /// A call that must wait for a permit gives its token back first: tokens saved up by a crowd, used all at once when
    /// permits come free, would exceed the rate.
    private func permitAfterWaiting(
        of caller: Caller, within times: CallTimes, clock: any MonotonicClock
    ) async throws(LimitError) -> AdaptiveLimit.Permit {
        let latest = latestStart(within: times, at: clock.now)
        try await limiter.acquire(in: caller.flow, for: caller.owner, before: latest, at: clock.now)
        if concurrency.hasRoom {
            return try takePermit(as: caller.flow.requestClass, before: times.deadline, at: clock.now)
        }

        limiter.giveBack(as: caller.flow.requestClass, at: clock.now)
        let permit = try await concurrency.acquire(
            in: caller.flow, for: caller.owner, before: times.deadline, startingBefore: times.lastCall, at: clock.now)
        try await limiter.acquire(in: caller.flow, for: caller.owner, before: latest, at: clock.now)
        return permit
    }

    /// Takes a permit for a call that has its token, where there is room. The token is given back when the permit is
    /// refused.
    private func takePermit(
        as requestClass: RequestClass, before deadline: Deadline, at now: Instant
    ) throws(LimitError) -> AdaptiveLimit.Permit {
        do throws(LimitError) {
            return try concurrency.enter(before: deadline, at: now)
        } catch {
            limiter.giveBack(as: requestClass, at: now)
            throw error
        }
    }

    /// Returns when a call must begin at the latest.
    ///
    /// A token that comes when no time is left for the call is wasted: it is used, and the call times out all the same. Twice
    /// what calls take at present is kept for the call, and a tenth of the time in any case, but never more than half of it.
    private func latestStart(within times: CallTimes, at now: Instant) -> Deadline {
        let left = times.deadline.remaining(at: now)
        let latest = times.deadline.instant - min(left / 2, max(left / 10, concurrency.expectedLatency * 2))
        return Deadline(times.lastCall.map { min($0, latest) } ?? latest)
    }

    /// Returns the moment until which the provider is not to be asked, be it for the breaker or for a pause that it asked
    /// for; `nil` when it may be asked.
    func shutUntil(at now: Instant) -> Instant? {
        breaker.openUntil(at: now) ?? limiter.closedUntil(at: now)
    }

    /// Ends a call, and lets its result decide about the calls to come.
    /// - Parameter error: why the call failed; `nil` when it was answered.
    func finish(
        _ call: consuming AdmittedCall, failedWith error: SearchError?, health: CircuitBreaker.Outcome,
        at now: Instant
    ) {
        call.breakerPermit.finish(health, at: now)
        call.concurrencyPermit?.finish(error?.load ?? .answered, at: now)
        if let error, let (pause, reason) = error.requestedPause { pauseCalls(for: pause, because: reason, at: now) }
    }

    /// Has no call begin for as long as the provider asked, which is never longer than the limiter allows.
    private func pauseCalls(
        for pause: Duration, because reason: CircuitBreaker.Reason, at now: Instant
    ) {
        limiter.close(until: now + pause, at: now)
        if let end = limiter.closedUntil(at: now) { breaker.notePause(until: end, because: reason, at: now) }
    }
}

/// The right to one call. Dropped without `finish`, as by a cancelled call, it is given back and nothing is learnt from it.
struct AdmittedCall: ~Copyable {
    let breakerPermit: CircuitBreaker.Permit
    /// The breaker's epoch in which it permitted the call.
    let epoch: UInt
    /// `nil` until there is room for the call, which may begin only then.
    var concurrencyPermit: AdaptiveLimit.Permit?
    /// False while the call waits for room.
    private(set) var hasRoom: Bool
    /// The part of the daily budget that goes with the permit; `nil` for a provider without one.
    private(set) var budgetPermit: BudgetGate.Permit?

    init(
        breakerPermit: consuming CircuitBreaker.Permit, concurrencyPermit: consuming AdaptiveLimit.Permit?,
        budgetPermit: BudgetGate.Permit? = nil
    ) {
        epoch = breakerPermit.epoch
        self.breakerPermit = breakerPermit
        hasRoom = concurrencyPermit != nil
        self.concurrencyPermit = concurrencyPermit
        self.budgetPermit = budgetPermit
    }

    /// Gives the call the room that it has waited for.
    mutating func enter(_ room: consuming AwaitedRoom) {
        concurrencyPermit = room.concurrencyPermit.take()
        budgetPermit = room.budgetPermit
        hasRoom = true
    }
}

/// The permit of a call that had to wait, and its part of the daily budget.
struct AwaitedRoom: ~Copyable {
    /// Moved to the `AdmittedCall`.
    var concurrencyPermit: AdaptiveLimit.Permit?
    let budgetPermit: BudgetGate.Permit?
}

/// The request for which a call waits.
struct Caller {
    /// What finds the call in its line.
    let owner: RequestContext?

    init(_ query: ProviderQuery) { owner = query.context }

    init(owner: RequestContext?) { self.owner = owner }

    /// The line in which the call waits now.
    var flow: Flow { owner?.flow ?? .standard }
}

/// The times within which a call must begin and end.
struct CallTimes {
    /// The end of the call.
    let deadline: Deadline
    /// The moment after which it may not begin; `nil` where only the deadline counts.
    let lastCall: Instant?
}
