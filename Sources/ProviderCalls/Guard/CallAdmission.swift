internal import Basics
internal import LocationSearch
import QuotaSharing
import Resilience

/// Decides when a call to one provider may begin.
///
/// A call needs a permit of the breaker, a turn at the key's rate and a slot among the calls under way. The breaker is
/// asked first, because it never makes a call wait: a request that meets an open breaker takes no turn. A provider with a
/// daily budget is asked for a part of that next, because a call that waits for the fleet must hold no turn meanwhile.
///
/// Belongs to one `ProviderGuard`, on whose actor everything runs.
struct CallAdmission {
    let breaker: CircuitBreaker
    let limiter: RateLimiter
    let concurrency: AdaptiveLimit
    /// `nil` for a provider without a daily budget.
    let budget: BudgetGate?

    /// Asks for all that a call needs and that takes no wait. `waitForSlot` gets the rest.
    /// - Parameter deadline: the request's; time for the call itself is kept free.
    /// - Throws: when the breaker is open, or when the call would come too late.
    func admit(before deadline: Deadline, at now: Instant) throws(AdmissionError) -> AdmittedCall {
        let permit: CircuitBreaker.Permit
        do throws(CircuitBreaker.Rejection) {
            permit = try breaker.permit(at: now)
        } catch {
            throw .breakerOpen(error)
        }

        if let budget { return try admit(permit, within: budget, before: deadline, at: now) }
        do throws(LimitError) {
            return AdmittedCall(permit: permit, slot: try slotWithoutWaiting(before: deadline, at: now))
        } catch {
            throw .limited(error)
        }
    }

    /// Goes on with `admit` for a provider that has a daily budget.
    private func admit(
        _ permit: consuming CircuitBreaker.Permit, within budget: BudgetGate, before deadline: Deadline,
        at now: Instant
    ) throws(AdmissionError) -> AdmittedCall {
        guard let budgetPermit = budget.tryTake(at: now) else { return AdmittedCall(permit: permit, slot: nil) }
        do throws(LimitError) {
            let admitted = AdmittedCall(
                permit: permit, slot: try slotWithoutWaiting(before: deadline, at: now), budgetPermit: budgetPermit)
            // A call that has to wait for its slot takes a part of the budget when it does.
            if !admitted.hasSlot { budget.putBack(budgetPermit) }
            return admitted
        } catch {
            budget.putBack(budgetPermit)
            throw .limited(error)
        }
    }

    /// Takes a turn and a slot where neither takes a wait; returns `nil` where one does.
    private func slotWithoutWaiting(
        before deadline: Deadline, at now: Instant
    ) throws(LimitError) -> AdaptiveLimit.Slot? {
        guard concurrency.hasRoom, limiter.tryAcquire(at: now) else { return nil }
        return try takeSlot(before: deadline, at: now)
    }

    /// Waits for the turn and the slot of a call that `admit` gave none. Few calls wait, so this is kept out of their way.
    /// - Parameter times: until when the call may begin and must have ended.
    /// - Throws: when a turn or a slot would come too late.
    @inline(never)
    func waitForSlot(
        within times: CallTimes, clock: any MonotonicClock
    ) async throws(AdmissionError) -> AwaitedSlot {
        if let budget { return try await waitForSlot(of: budget, within: times, clock: clock) }
        do throws(LimitError) {
            return AwaitedSlot(slot: try await slotAfterWaiting(within: times, clock: clock), budgetPermit: nil)
        } catch {
            throw refusal(for: error, within: times, at: clock.now)
        }
    }

    /// Tells a turn that comes too late for the pause that the provider asked for from one that comes too late for our own
    /// limits.
    private func refusal(
        for error: LimitError, within times: CallTimes, at now: Instant
    ) -> AdmissionError {
        guard case .tooLate = error, let end = limiter.closedUntil(at: now),
            end > latestStart(within: times, at: now).instant
        else { return .limited(error) }
        return .paused(CircuitBreaker.Rejection(retryAfter: now.duration(to: end), reason: breaker.reason(at: now)))
    }

    /// Waits for a permit of the daily budget, and then for a turn and a slot.
    private func waitForSlot(
        of budget: BudgetGate, within times: CallTimes, clock: any MonotonicClock
    ) async throws(AdmissionError) -> AwaitedSlot {
        while true {
            let budgetPermit = try await takeBudgetPermit(of: budget, within: times, clock: clock)
            let slot: AdaptiveLimit.Slot
            do throws(LimitError) {
                slot = try await slotAfterWaiting(within: times, clock: clock)
            } catch {
                budget.putBack(budgetPermit)
                throw refusal(for: error, within: times, at: clock.now)
            }

            if budget.isCurrent(budgetPermit, at: clock.now) {
                return AwaitedSlot(slot: slot, budgetPermit: budgetPermit)
            }
            // The day has ended while the call waited. It gives its turn back until it has a permit of the new day.
            limiter.giveBack(at: clock.now)
        }
    }

    /// Takes a permit of the daily budget. Where nothing is left the breaker opens until the next day.
    private func takeBudgetPermit(
        of budget: BudgetGate, within times: CallTimes, clock: any MonotonicClock
    ) async throws(AdmissionError) -> BudgetGate.Permit {
        do throws(BudgetError) {
            return try await budget.take(before: latestStart(within: times, at: clock.now), at: clock.now)
        } catch {
            switch error {
            case .usedUp(let retryAfter):
                breaker.trip(for: retryAfter, because: .budgetUsedUp, at: clock.now)
                throw .breakerOpen(CircuitBreaker.Rejection(retryAfter: retryAfter, reason: .budgetUsedUp))
            case .tooLate: throw .limited(.tooLate(retryAfter: nil))
            case .cancelled: throw .limited(.cancelled)
            }
        }
    }

    /// Waits for a turn and a slot.
    ///
    /// A call that must wait for a slot gives its turn back first: turns saved up by a crowd, used all at once when slots
    /// come free, would exceed the rate.
    private func slotAfterWaiting(
        within times: CallTimes, clock: any MonotonicClock
    ) async throws(LimitError) -> AdaptiveLimit.Slot {
        let latest = latestStart(within: times, at: clock.now)
        try await limiter.acquire(before: latest, at: clock.now)
        if concurrency.hasRoom { return try takeSlot(before: times.deadline, at: clock.now) }

        limiter.giveBack(at: clock.now)
        let slot = try await concurrency.acquire(
            before: times.deadline, startingBefore: times.lastCall, at: clock.now)
        try await limiter.acquire(before: latest, at: clock.now)
        return slot
    }

    /// Takes a slot for a call that has its turn, where there is room. The turn is given back when the slot is refused.
    private func takeSlot(
        before deadline: Deadline, at now: Instant
    ) throws(LimitError) -> AdaptiveLimit.Slot {
        do throws(LimitError) {
            return try concurrency.enter(before: deadline, at: now)
        } catch {
            limiter.giveBack(at: now)
            throw error
        }
    }

    /// Returns when a call must begin at the latest.
    ///
    /// A turn that comes when no time is left for the call wastes it: a token used, and a timeout all the same. Twice what
    /// calls take at present is kept for the call, and a tenth of the time in any case, but never more than half of it.
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
        call.permit.finish(health, at: now)
        call.slot?.finish(error?.load ?? .answered, at: now)
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
    let permit: CircuitBreaker.Permit
    /// `nil` until there is room for the call, which may begin only then.
    var slot: AdaptiveLimit.Slot?
    let hasSlot: Bool
    /// The part of the daily budget that goes with the slot; `nil` for a provider without one.
    let budgetPermit: BudgetGate.Permit?

    init(
        permit: consuming CircuitBreaker.Permit, slot: consuming AdaptiveLimit.Slot?,
        budgetPermit: BudgetGate.Permit? = nil
    ) {
        self.permit = permit
        hasSlot = slot != nil
        self.slot = slot
        self.budgetPermit = budgetPermit
    }
}

/// The slot of a call that had to wait, and its part of the daily budget.
struct AwaitedSlot: ~Copyable {
    /// Taken out by whoever makes the call.
    var slot: AdaptiveLimit.Slot?
    let budgetPermit: BudgetGate.Permit?
}

/// Within which times a call must begin and end.
struct CallTimes {
    /// The end of the call.
    let deadline: Deadline
    /// The moment after which it may not begin; `nil` where only the deadline counts.
    let lastCall: Instant?
}

/// Why a call was not admitted.
enum AdmissionError: Error {
    case breakerOpen(CircuitBreaker.Rejection)
    /// The provider asked for a pause that leaves no time for the call.
    case paused(CircuitBreaker.Rejection)
    case limited(LimitError)
}
