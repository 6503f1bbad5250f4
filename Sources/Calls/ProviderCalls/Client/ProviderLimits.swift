internal import Basics
internal import LocationSearch
import QuotaSharing
import Resilience

/// A resource that a call may have to wait for before it begins.
enum CallNeed {
    /// The half-open breaker already has its maximum of probes in flight.
    case probe
    /// A budget has too little reserved for the request's class.
    case budget
    /// The provider's rate limit has no token left, or the provider requested a pause.
    case token
    /// The rate limit of the method has no token left.
    case methodToken
    /// The maximum number of calls is in flight.
    case permit
}

/// All resources that a call to one provider needs before it begins. A call takes all of them at once or none. So no
/// waiting call holds anything that another one waits for.
///
/// Belongs to one `ProviderQueue`, on whose actor everything runs.
final class ProviderLimits {
    let provider: ProviderID
    let breaker: CircuitBreaker
    /// The provider's bucket, then those of methods with a limit of their own.
    var buckets: [RateBucket]
    let concurrency: ConcurrencyLimit
    let accounts: [BudgetAccount]
    let groups: CallGroups
    private let hasBudgets: Bool
    private let now: () -> Instant
    /// Called when a call has returned what it did not use.
    var onGivenBack: (() -> Void)?

    init(
        _ provider: ProviderID, breaker: CircuitBreaker, bucket: RateBucket,
        methods: [(method: ProviderMethod, bucket: RateBucket)] = [], concurrency: ConcurrencyLimit,
        accounts: [BudgetAccount], timekeeper: any Timekeeper
    ) {
        now = { timekeeper.now }
        self.provider = provider
        self.breaker = breaker
        buckets = [bucket] + methods.map(\.bucket)
        self.concurrency = concurrency
        self.accounts = accounts
        let indices = Dictionary(uniqueKeysWithValues: zip(methods.map(\.method), 1...))  // bounded: four methods
        groups = CallGroups(of: provider, accounts: accounts, buckets: indices)
        hasBudgets = !accounts.isEmpty
    }

    /// The provider's own bucket.
    var bucket: RateBucket {
        _read { yield buckets[0] }
        _modify { yield &buckets[0] }
    }

    // MARK: - A call

    /// Returns the first resource that a call of the class and group lacks; `nil` if it may begin.
    func lacks(_ requestClass: RequestClass, in group: Int, at now: Instant) -> CallNeed? {
        if breaker.rejection(at: now) != nil { return .probe }
        if hasBudgets, !groups.all[group].canTake(of: requestClass, at: now) { return .budget }
        if !buckets[0].hasToken(at: now) { return .token }
        if buckets.count > 1, let own = groups.all[group].bucket, !buckets[own].hasToken(at: now) {
            return .methodToken
        }
        return concurrency.room > 0 ? nil : .permit
    }

    /// Takes all that a call needs. Call this only if `lacks` has just returned `nil`.
    func take(_ requestClass: RequestClass, in group: Int, at now: Instant) -> Grant {
        buckets[0].take(as: requestClass)
        let own = buckets.count > 1 ? groups.all[group].bucket : nil
        if let own { buckets[own].take(as: requestClass) }
        let permits = hasBudgets ? groups.all[group].take(of: requestClass, at: now) : []
        let tokens = Grant.Tokens(self, requestClass, bucket: own, permits: permits)
        return Grant(breakerPermit: breaker.take(at: now), permit: concurrency.take(at: now), tokens: tokens)
    }

    fileprivate func takeBack(as requestClass: RequestClass, bucket own: Int?, _ permits: CallGroup.Permits) {
        let now = now()
        buckets[0].giveBack(as: requestClass, at: now)
        if let own { buckets[own].giveBack(as: requestClass, at: now) }
        for (account, permit) in permits { account.putBack(permit) }
        onGivenBack?()
    }

    /// The rate limits that a call of a group needs tokens of.
    func bucketIndices(of group: Int) -> [Int] { groups.all[group].bucket.map { [0, $0] } ?? [0] }

    // MARK: - Refusals

    /// Returns why all calls are refused without waiting: the breaker is open.
    func refusal(at now: Instant) -> CallFailure? {
        breaker.openUntil(at: now).map { shut(for: now.duration(to: $0), because: breaker.reason(at: now)) }
    }

    /// Returns why calls of a class and group are refused without waiting: a budget is used up, or the rest of it is kept
    /// for interactive requests.
    func budgetRefusal(of requestClass: RequestClass, in group: Int, at now: Instant) -> CallFailure? {
        guard hasBudgets, let (budget, reason) = groups.all[group].refusal(of: requestClass, at: now) else {
            return nil
        }
        return CallFailure(error: .refused(by: budget, because: reason), cause: .breakerOpen)
    }

    // MARK: - Refusals of calls that would begin too late

    /// Returns the refusal of a call whose token would come after its latest start.
    func tooLate(latest: Instant, retryAfter: Duration?, at now: Instant) -> CallFailure {
        guard let end = bucket.pausedUntil(at: now), end > latest else {
            return CallFailure(error: .tooLate(.rate, retryAfter: retryAfter, by: provider), cause: .limited)
        }
        let error = SearchError.shut(provider, for: now.duration(to: end), because: breaker.reason(at: now))
        return CallFailure(error: error, cause: .paused)
    }

    /// Returns the refusal of a call that the provider could not answer before its deadline; `nil` if it could.
    func tooSlow(before deadline: Deadline, at now: Instant) -> CallFailure? {
        concurrency.missesTime(before: deadline, at: now).map { tooSlow(retryAfter: $0) }
    }

    func tooSlow(retryAfter: Duration?) -> CallFailure {
        CallFailure(error: .tooLate(.concurrency, retryAfter: retryAfter, by: provider), cause: .limited)
    }

    /// Returns the refusal of a call whose latest start passed while it waited.
    /// - Parameter retryAfter: the time until a token.
    func overdue(
        _ need: CallNeed, behind ahead: Double, retryAfter: Duration?, latest: Instant, at now: Instant
    ) -> CallFailure {
        switch need {
        case .token, .methodToken: return tooLate(latest: latest, retryAfter: retryAfter, at: now)
        case .permit:
            let wait = concurrency.wait(behind: ahead)
            return tooSlow(retryAfter: wait.isFinite ? Duration.seconds(roundedUp: wait) : nil)
        case .budget: return CallFailure(error: .tooLate(.budget, retryAfter: nil, by: provider), cause: .limited)
        case .probe:
            return shut(for: breaker.rejection(at: now)?.retryAfter ?? .seconds(1), because: breaker.reason(at: now))
        }
    }

    func shut(for time: Duration, because reason: CircuitBreaker.Reason?) -> CallFailure {
        CallFailure(error: .shut(provider, for: time, because: reason), cause: .breakerOpen)
    }

    /// Returns the time until which calls of a group must not be made; `nil` if they may be.
    func shutUntil(for group: Int, at now: Instant) -> Instant? {
        breaker.openUntil(at: now) ?? (hasBudgets ? groups.all[group].usedUpUntil(at: now) : nil)
            ?? bucket.pausedUntil(at: now)
    }

    /// Returns the time until which the budgets allow no call of any group; `nil` if they allow some.
    func budgetsUsedUpUntil(at now: Instant) -> Instant? {
        guard hasBudgets else { return nil }
        var first: Instant?
        for group in groups.all {
            guard let end = group.usedUpUntil(at: now) else { return nil }
            first = min(first ?? end, end)
        }
        return first
    }

    /// The provider's state for display: a used-up budget counts as an open breaker.
    func state(at now: Instant) -> CircuitBreaker.State {
        let state = breaker.state(at: now)
        return state == .closed && budgetsUsedUpUntil(at: now) != nil ? .open : state
    }

    /// The reason why the provider is not called normally; `nil` if it is.
    func reason(at now: Instant) -> CircuitBreaker.Reason? {
        if breaker.state(at: now) == .closed, budgetsUsedUpUntil(at: now) != nil { return .budgetUsedUp }
        return breaker.reason(at: now)
    }

    // MARK: - The end of a call

    /// Shows the pause of the bucket, which limits its length, as the state of the breaker.
    func notePause(because reason: CircuitBreaker.Reason, at now: Instant) {
        if let end = bucket.pausedUntil(at: now) { breaker.notePause(until: end, because: reason, at: now) }
    }
}

/// The right to make one call, with all resources that it needs. Dropping it before the call begins returns everything;
/// dropping it afterwards discards the call's result.
struct Grant: ~Copyable {
    /// The tokens of the rate limits, and the permits of the budgets.
    struct Tokens: ~Copyable {
        private let limits: ProviderLimits
        private let requestClass: RequestClass
        private let bucket: Int?
        let permits: CallGroup.Permits
        var isUsed = false

        fileprivate init(
            _ limits: ProviderLimits, _ requestClass: RequestClass, bucket: Int?, permits: CallGroup.Permits
        ) {
            (self.limits, self.requestClass, self.bucket, self.permits) = (limits, requestClass, bucket, permits)
        }

        deinit { if !isUsed { limits.takeBack(as: requestClass, bucket: bucket, permits) } }
    }

    let breakerPermit: CircuitBreaker.Permit
    let permit: ConcurrencyLimit.Permit
    var tokens: Tokens

    /// Records that the call begins.
    /// - Returns: the call's permits of budgets.
    mutating func begin() -> CallGroup.Permits {
        tokens.isUsed = true
        return tokens.permits
    }
}
