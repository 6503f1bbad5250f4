internal import Basics
internal import LocationSearch
import QuotaSharing
import Resilience

/// A resource that a call may have to wait for before it begins.
enum CallNeed {
    /// The half-open breaker already has its maximum of probes in flight.
    case probe
    /// No call of the day's budget is reserved for the request's class.
    case budget
    /// The provider requested a pause.
    case pause
    /// The rate limiter has no token left.
    case token
    /// The maximum number of calls is in flight.
    case permit
}

/// The limits on the start and the end of a call.
struct CallTimes {
    /// The latest end of the call.
    let deadline: Deadline
    /// The latest start of the call; `nil` if only the deadline counts.
    let lastCall: Instant?
}

/// All resources that a call to one provider needs before it begins. A call takes all of them at once or none. So no
/// waiting call holds anything that another one waits for.
///
/// Belongs to one `ProviderQueue`, on whose actor everything runs.
final class ProviderLimits {
    let provider: ProviderID
    let breaker: CircuitBreaker
    var bucket: RateBucket
    let concurrency: ConcurrencyLimit
    /// `nil` for a provider without a daily budget.
    let budget: BudgetAccount?
    private let now: () -> Instant
    /// Called when a call has returned what it did not use.
    var onGivenBack: (() -> Void)?

    init(
        _ provider: ProviderID, breaker: CircuitBreaker, bucket: RateBucket, concurrency: ConcurrencyLimit,
        budget: BudgetAccount?, timekeeper: any Timekeeper
    ) {
        now = { timekeeper.now }
        self.provider = provider
        self.breaker = breaker
        self.bucket = bucket
        self.concurrency = concurrency
        self.budget = budget
    }

    // MARK: - A call

    /// Returns the first resource that a call of the class lacks; `nil` if it may begin.
    func lacks(_ requestClass: RequestClass, at now: Instant) -> CallNeed? {
        if breaker.rejection(at: now) != nil { return .probe }
        if let budget, !budget.canTake(of: requestClass, at: now) { return .budget }
        if !bucket.hasToken(at: now) { return bucket.pausedUntil(at: now) == nil ? .token : .pause }
        return concurrency.room > 0 ? nil : .permit
    }

    /// Takes all that a call needs. Call this only if `lacks` has just returned `nil`.
    func take(_ requestClass: RequestClass, at now: Instant) -> Grant {
        bucket.take(as: requestClass)
        let turn = Grant.Turn(self, requestClass, budgetPermit: budget?.take(of: requestClass, at: now))
        return Grant(breakerPermit: breaker.take(at: now), permit: concurrency.take(at: now), turn: turn)
    }

    fileprivate func takeBack(as requestClass: RequestClass, _ budgetPermit: BudgetAccount.Permit?) {
        bucket.giveBack(as: requestClass, at: now())
        if let budgetPermit { budget?.putBack(budgetPermit) }
        onGivenBack?()
    }

    // MARK: - Refusals

    /// Returns why calls are refused without waiting: the breaker is open, or the day's budget is used up.
    func refusal(at now: Instant) -> CallFailure? {
        if let end = breaker.openUntil(at: now) {
            return shut(for: now.duration(to: end), because: breaker.reason(at: now))
        }
        guard let end = budget?.usedUpUntil(at: now) else { return nil }
        return shut(for: now.duration(to: end), because: .budgetUsedUp)
    }

    /// Returns why batch calls are refused today while interactive ones are allowed; `nil` if they are not.
    func refusalOfBatch(at now: Instant) -> CallFailure? {
        guard case .keptForInteractive(let retryAfter)? = budget?.refusal(of: .batch, at: now) else { return nil }
        return CallFailure(error: .keptForInteractive(retryAfter: retryAfter, by: provider), cause: .breakerOpen)
    }

    // MARK: - Refusals of calls that would begin too late

    /// Returns the refusal of a call whose token would come after its latest start.
    func tooLate(latest: Instant, retryAfter: Duration?, at now: Instant) -> CallFailure {
        guard let end = bucket.pausedUntil(at: now), end > latest else {
            return CallFailure(error: .tooLate(.rate, retryAfter: retryAfter, by: provider), cause: .limited)
        }
        let pause = CircuitBreaker.Rejection(retryAfter: now.duration(to: end), reason: breaker.reason(at: now))
        return CallFailure(error: .shut(pause, of: provider), cause: .paused)
    }

    /// Returns the refusal of a call that the provider could not answer before its deadline; `nil` if it could.
    func tooSlow(before deadline: Deadline, at now: Instant) -> CallFailure? {
        concurrency.missesTime(before: deadline, at: now).map { tooSlow(retryAfter: $0) }
    }

    func tooSlow(retryAfter: Duration?) -> CallFailure {
        CallFailure(error: .tooLate(.concurrency, retryAfter: retryAfter, by: provider), cause: .limited)
    }

    /// Returns the refusal of a call whose latest start passed while it waited.
    func overdue(_ need: CallNeed, behind ahead: Double, latest: Instant, at now: Instant) -> CallFailure {
        switch need {
        case .token, .pause:
            return tooLate(latest: latest, retryAfter: bucket.wait(behind: ahead, at: now), at: now)
        case .permit:
            let wait = concurrency.wait(behind: ahead)
            return tooSlow(retryAfter: wait.isFinite ? Duration.seconds(roundedUp: wait) : nil)
        case .budget: return CallFailure(error: .tooLate(.budget, retryAfter: nil, by: provider), cause: .limited)
        case .probe:
            return shut(for: breaker.rejection(at: now)?.retryAfter ?? .seconds(1), because: breaker.reason(at: now))
        }
    }

    func shut(for time: Duration, because reason: CircuitBreaker.Reason?) -> CallFailure {
        let rejection = CircuitBreaker.Rejection(retryAfter: time, reason: reason)
        return CallFailure(error: .shut(rejection, of: provider), cause: .breakerOpen)
    }

    /// Returns the time until which the provider must not be called; `nil` if it may be called.
    func shutUntil(at now: Instant) -> Instant? {
        breaker.openUntil(at: now) ?? budget?.usedUpUntil(at: now) ?? bucket.pausedUntil(at: now)
    }

    /// The provider's state for display: a used-up budget counts as an open breaker.
    func state(at now: Instant) -> CircuitBreaker.State {
        let state = breaker.state(at: now)
        return state == .closed && budget?.usedUpUntil(at: now) != nil ? .open : state
    }

    /// The reason why the provider is not called normally; `nil` if it is.
    func reason(at now: Instant) -> CircuitBreaker.Reason? {
        if breaker.state(at: now) == .closed, budget?.usedUpUntil(at: now) != nil { return .budgetUsedUp }
        return breaker.reason(at: now)
    }

    // MARK: - The end of a call

    /// Ends a call and applies its result to the limits.
    /// - Parameter error: the call's failure; `nil` if it was answered.
    func finish(
        _ grant: consuming Grant, failedWith error: SearchError?, health: CircuitBreaker.Outcome, at now: Instant
    ) {
        grant.breakerPermit.finish(health, at: now)
        if let error, let (pause, reason) = error.requestedPause { self.pause(for: pause, because: reason, at: now) }
        grant.permit.finish(error?.load ?? .answered, at: now)
    }

    /// Lets no call begin for as long as the provider requested. The bucket limits the length of the pause.
    func pause(for pause: Duration, because reason: CircuitBreaker.Reason, at now: Instant) {
        bucket.pause(until: now + pause, at: now)
        if let end = bucket.pausedUntil(at: now) { breaker.notePause(until: end, because: reason, at: now) }
    }
}

/// The right to make one call, with all resources that it needs. Dropping it before the call begins returns everything;
/// dropping it afterwards discards the call's result.
struct Grant: ~Copyable {
    /// A token of the rate limit, and a call of the day's budget.
    struct Turn: ~Copyable {
        private let limits: ProviderLimits
        private let requestClass: RequestClass
        let budgetPermit: BudgetAccount.Permit?
        var isUsed = false

        fileprivate init(
            _ limits: ProviderLimits, _ requestClass: RequestClass, budgetPermit: BudgetAccount.Permit?
        ) {
            self.limits = limits
            self.requestClass = requestClass
            self.budgetPermit = budgetPermit
        }

        deinit { if !isUsed { limits.takeBack(as: requestClass, budgetPermit) } }
    }

    let breakerPermit: CircuitBreaker.Permit
    let permit: ConcurrencyLimit.Permit
    var turn: Turn

    /// Records that the call begins.
    /// - Returns: the call's permit of the daily budget; `nil` for a provider without one.
    mutating func begin() -> BudgetAccount.Permit? {
        turn.isUsed = true
        return turn.budgetPermit
    }
}
