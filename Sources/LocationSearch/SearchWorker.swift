internal import Basics
public import Resilience

/// Asks providers on behalf of requests: candidates in turn, each through its `ProviderGuard`, all within the one
/// deadline.
///
/// An actor on the executor it is given: on a worker's event loop, a request passes through without a hop.
public actor SearchWorker: SearchWorking {
    private nonisolated let executor: any SerialExecutor
    public nonisolated var unownedExecutor: UnownedSerialExecutor { unsafe executor.asUnownedSerialExecutor() }

    private let policies: [ProviderID: ProviderPolicy]
    private let defaultPolicy: ProviderPolicy
    private let clock: any MonotonicClock
    private let timekeeper: (any Timekeeper & Sendable)?
    private let taskExecutor: (any TaskExecutor)?
    private let random: any RandomNumberGenerator & Sendable
    private let onTransition: @Sendable (ProviderID, CircuitBreaker.Transition, SearchError?) -> Void
    private let onWasted: @Sendable (ProviderID, Int) -> Void
    private let onCall: @Sendable (PriceClass, CallEnd, Duration) -> Void
    private var guards: [ProviderGuard] = []
    private var ownership = (assigned: [Int32](), partitions: 0)
    /// What is lent to others and borrowed from them; `nil` where no limit is shared by demand.
    private var lending: LendingMember?
    private let budgets: BudgetPolicy?
    /// `nil` where no provider has a daily budget.
    private var keeper: BudgetKeeper?
    /// Whose quota each provider's calls count for. A provider that is missing shares with every fleet.
    private var scopes: [ProviderID: QuotaScope]
    private let onIgnored: @Sendable (ScopeRelation) -> Void

    /// - Parameter policies: by provider; one that is missing has the defaults.
    /// - Parameter name: this loop's in the fleet: unique, and another one after each start of the process.
    /// - Parameter budgets: the calls that the fleet may make in a day; `nil`: no provider has a budget.
    /// - Parameter scopes: whose quota each provider's calls count for.
    /// - Parameter timekeeper: timers on `executor`; `nil`: a task of `clock` for each.
    /// - Parameter taskExecutor: `executor` as one, if it is: see `SingleFlight`.
    /// - Parameter random: for the jitter.
    /// - Parameter onTransition: told of each breaker's change of state and of the failure that opened it; called on
    ///   `executor`.
    /// - Parameter onWasted: told of the number of calls that were made for nothing: given up before their deadline, or
    ///   ended when no request waited for them any more; called on `executor`.
    /// - Parameter onCall: told of each call that has ended, what it is charged as, and how long it took; called on
    ///   `executor`.
    /// - Parameter onIgnored: told of each message of the fleet's topic that is not about this worker's quota; called on
    ///   `executor`.
    public init(
        executor: any SerialExecutor, policies: [ProviderID: ProviderPolicy] = [:], name: String = "",
        budgets: BudgetPolicy? = nil, scopes: [ProviderID: QuotaScope] = [:], concurrency: Int = 256,
        clock: any MonotonicClock, timekeeper: (any Timekeeper & Sendable)? = nil,
        taskExecutor: (any TaskExecutor)? = nil,
        random: any RandomNumberGenerator & Sendable,
        onTransition: @escaping @Sendable (ProviderID, CircuitBreaker.Transition, SearchError?) -> Void = { _, _, _ in
        },
        onWasted: @escaping @Sendable (ProviderID, Int) -> Void = { _, _ in },
        onCall: @escaping @Sendable (PriceClass, CallEnd, Duration) -> Void = { _, _, _ in },
        onIgnored: @escaping @Sendable (ScopeRelation) -> Void = { _ in }
    ) {
        self.executor = executor
        self.policies = policies
        defaultPolicy = ProviderPolicy(concurrency: concurrency)
        self.clock = clock
        self.budgets = budgets
        self.scopes = scopes
        if let budgets {
            // bounded: the keys are those of another dictionary
            let callsPerDay = Dictionary(uniqueKeysWithValues: budgets.callsPerDay.map { ($0.key.rawValue, $0.value) })
            // bounded: the keys are those of another dictionary
            let accounts = Dictionary(uniqueKeysWithValues: scopes.map { ($0.key.rawValue, $0.value) })
            keeper = BudgetKeeper(
                BudgetMember(name: name, budgets: callsPerDay, scopes: accounts, at: clock.now))
        }
        self.timekeeper = timekeeper
        self.taskExecutor = taskExecutor
        self.random = random
        self.onTransition = onTransition
        self.onWasted = onWasted
        self.onCall = onCall
        self.onIgnored = onIgnored

        let shared = policies.filter(\.value.sharesByDemand)
        if !shared.isEmpty {
            let limits = shared.keys.map { scopes[$0]?.name ?? $0.rawValue }
            lending = LendingMember(name: name, limits: limits, at: clock.now)
        }
    }

    public func report(
        on addressed: AddressedRequest, before deadline: Deadline, note: CallNote?
    ) async -> SearchReport {
        let candidates = addressed.candidates
        var tried: [ProviderID] = []
        var spent = CallCost()
        while true {
            let service = candidates[tried.count]
            let id = service.id
            tried.append(id)
            let isLast = tried.count == candidates.count
            do throws(GuardedFailure) {
                let answer = try await providerGuard(of: id).answer(
                    Inquiry(service, addressed, hasAlternative: !isLast, note: note), before: deadline)
                return SearchReport(answer, from: id, tried, spent: spent)
            } catch {
                spent = spent + error.cost
                if isLast || !error.error.allowsFallback || Task.isCancelled || deadline.hasPassed(at: clock.now) {
                    return SearchReport(error.error, from: id, tried, spent: spent)
                }
            }
        }
    }

    private func providerGuard(of id: ProviderID) -> ProviderGuard {
        if let known = guards.first(where: { $0.id == id }) { return known }
        let timekeeper: any Timekeeper = timekeeper ?? ClockTimekeeper(clock: clock, owner: self)
        let new = ProviderGuard(
            id, policy: policies[id] ?? defaultPolicy, clock: clock, timekeeper: timekeeper, taskExecutor: taskExecutor,
            random: random, budget: keeper?.gate(of: id.rawValue, timekeeper: timekeeper), onTransition: onTransition,
            onWasted: onWasted, onCall: onCall)
        new.owns(ownership.assigned.count, of: ownership.partitions)
        guards.append(new)
        return new
    }

    /// Makes the given providers known, so that `statuses` holds them before the first request asks one.
    public func prepare(for providers: [ProviderID]) {
        for provider in providers { _ = providerGuard(of: provider) }
    }

    /// Call this when a provider has a new key: one that was shut for its key is tried again with the next request.
    /// - Parameter scope: whose quota the new key's calls count for; `nil`: as before.
    public func renewKey(of provider: ProviderID, scope: QuotaScope? = nil) {
        guards.first { $0.id == provider }?.renewKey()
        guard let scope else { return }

        lending?.rename(limitName(of: provider), to: scope.name)
        keeper?.renewScope(scope, of: provider.rawValue)
        scopes[provider] = scope
    }

    /// The name under which the fleet shares a provider's rate limit.
    private func limitName(of provider: ProviderID) -> String { scopes[provider]?.name ?? provider.rawValue }

    /// The state of each provider that was made known by `prepare` or asked by a request.
    public var statuses: [ProviderStatus] {
        guards.map(\.status).sorted { $0.provider.rawValue < $1.provider.rawValue }
    }
}

// MARK: - The fleet

extension SearchWorker: FleetMember {
    public nonisolated var sharesByPartitions: Bool {
        policies.values.contains { $0.rateLimit != nil && $0.share.isShared }
    }

    public nonisolated var usesWords: Bool {
        budgets != nil || policies.values.contains(where: \.sharesByDemand)
    }

    public func setAlarm(_ ring: @escaping @Sendable () -> Void) {
        keeper?.onWant = ring
    }

    public func opened(_ extent: FleetTopicExtent) {
        keeper?.begin(
            first: extent.first, end: extent.end, oldest: extent.oldest, isRemade: extent.isRemade, at: clock.now)
    }

    public func owns(_ assigned: [Int32], of partitions: Int, wasTaken: Bool = false) {
        ownership = (assigned, partitions)
        for provider in guards { provider.owns(assigned.count, of: partitions) }

        guard let lending else { return }
        lending.assign(assigned, of: partitions, wasTaken: wasTaken, at: clock.now)
        takeParts(of: lending, at: clock.now)
    }

    public var needsOlderRecords: Bool { keeper?.needsOlderRecords ?? false }

    public func hear(_ records: [FleetRecord]) {
        let now = clock.now
        for record in records {
            switch record.word {
            case .shares(let message):
                if !record.isOld { receive(message, at: now) }
                keeper?.read(nil, at: record.offset, now: now)
            case .budget(let message):
                if !record.isOld, let keeper { count(keeper.relation(of: message)) }
                keeper?.read(message, at: record.offset, now: now)
            case nil: keeper?.read(nil, at: record.offset, now: now)
            }
        }
        if let lending { takeParts(of: lending, at: now) }
        if let keeper { review(keeper, at: now) }
    }

    private func receive(_ message: FleetMessage, at now: Instant) {
        guard let lending else { return }
        count(lending.relation(of: message))
        lending.receive(message, at: now)
    }

    private func count(_ relation: ScopeRelation) {
        if relation != .own { onIgnored(relation) }
    }

    public func look() -> FleetView {
        let now = clock.now
        let (shares, budget) = (lookAtShares(at: now), lookAtBudgets(at: now))
        return FleetView(
            words: shares.words + budget.words, isReady: shares.isReady && budget.isReady,
            nextLook: min(shares.nextLook, budget.nextLook))
    }

    private func lookAtBudgets(at now: Instant) -> FleetView {
        guard let keeper, let budgets else { return FleetView() }
        let days = budgets.days(now).map { ($0.key.rawValue, $0.value) }
        // bounded: the keys are those of another dictionary
        let message = keeper.look(Dictionary(uniqueKeysWithValues: days), at: now)
        review(keeper, at: now)
        return FleetView(
            words: message.map { [.budget($0)] } ?? [], isReady: keeper.isReady && !keeper.isStalled(at: now),
            nextLook: keeper.nextLook(at: now))
    }

    private func review(_ keeper: BudgetKeeper, at now: Instant) {
        keeper.review(at: now)
        for provider in keeper.takeWarnings() {
            guard let id = ProviderID(rawValue: provider) else { continue }
            budgets?.onWarning(id, BudgetStatus(keeper.today(of: provider)))
        }
    }

    private func lookAtShares(at now: Instant) -> FleetView {
        guard let lending else { return FleetView() }
        for provider in guards { lending.setNeed(provider.need(at: now), of: limitName(of: provider.id)) }

        // What is lent with this message is no longer ours when the message leaves.
        let message = lending.look(at: now)
        takeParts(of: lending, at: now)
        return FleetView(
            words: message.map { [.shares($0)] } ?? [], isReady: !lending.isSettling(at: now),
            nextLook: lending.nextLook)
    }

    public func leave() -> [FleetWord] {
        var words: [FleetWord] = []
        if let lending {
            words.append(.shares(lending.leave(at: clock.now)))
            takeParts(of: lending, at: clock.now)
        }
        if let message = keeper?.leave(at: clock.now) { words.append(.budget(message)) }
        return words
    }

    private func takeParts(of lending: LendingMember, at now: Instant) {
        for provider in guards where provider.sharesByDemand {
            let limit = limitName(of: provider.id)
            provider.take(
                LoopPart(
                    share: lending.part(of: limit, at: now), end: lending.partHolds(of: limit, after: now),
                    prospect: lending.prospect(of: limit)),
                at: now)
        }
    }
}

// Out of line, because the answer would have room in the frame of every request that waits.
extension SearchReport {
    @inline(never)
    fileprivate init(_ answer: GuardedAnswer, from provider: ProviderID, _ tried: [ProviderID], spent: CallCost) {
        let cost = spent + answer.cost
        self.init(
            result: .success(answer.answer), provider: provider, triedProviders: tried, upstream: cost.upstream,
            attempts: cost.attempts)
    }

    @inline(never)
    fileprivate init(_ error: SearchError, from provider: ProviderID, _ tried: [ProviderID], spent cost: CallCost) {
        self.init(
            result: .failure(error), provider: provider, triedProviders: tried, upstream: cost.upstream,
            attempts: cost.attempts)
    }
}
