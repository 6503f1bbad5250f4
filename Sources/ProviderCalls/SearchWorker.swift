internal import Basics
public import LocationSearch
public import QuotaSharing
public import Resilience

/// Asks providers on behalf of requests: candidates in turn, each through its `ProviderClient`, all within the one
/// deadline.
///
/// An actor on the executor it is given: on a worker's event loop, a request passes through without a hop.
public actor SearchWorker: SearchReporting {
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
    private nonisolated let hasBudgets: Bool
    private var clients: [ProviderClient] = []
    private var onShorterLine: (@Sendable () -> Void)?
    /// The orders of people that are in force.
    private var controls = LaneControls()
    /// This loop's part in the quota that its fleet shares.
    private let quota: QuotaMember

    /// - Parameter policies: by provider; one that is missing has the defaults.
    /// - Parameter name: this loop's name in the fleet: unique, and another one after each start of the process.
    /// - Parameter budgets: the calls that the fleet may make in a day; `nil`: no provider has a budget.
    /// - Parameter scopes: the quota for which each provider's calls count.
    /// - Parameter timekeeper: timers on `executor`; `nil`: a task of `clock` for each.
    /// - Parameter taskExecutor: `executor` as one, if it is: see `SingleFlight`.
    /// - Parameter random: for the jitter.
    /// - Parameter onTransition: called on `executor` with each breaker's change of state and the failure that opened it.
    /// - Parameter onWasted: called on `executor` with the number of calls that were made for nothing: given up before
    ///   their deadline, or ended when no request waited for them any more.
    /// - Parameter onCall: called on `executor` for each call that has ended, with its price class, its end and its duration.
    /// - Parameter onIgnored: called on `executor` for each message of the fleet topic that is not about this worker's quota.
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
        hasBudgets = budgets != nil
        self.timekeeper = timekeeper
        self.taskExecutor = taskExecutor
        self.random = random
        self.onTransition = onTransition
        self.onWasted = onWasted
        self.onCall = onCall
        quota = QuotaMember(
            name: name,
            shares: policies.compactMapValues { $0.rateLimit == nil ? nil : $0.share }, budgets: budgets,
            scopes: scopes, batchFloor: policies.values.first?.fairness.batchFloor,
            clock: clock, onIgnored: onIgnored)
    }

    public func report(on addressed: AddressedRequest, before deadline: Deadline) async -> SearchReport {
        let candidates = addressed.candidates
        var tried: [ProviderID] = []
        var spent = CallCost()
        while true {
            let service = candidates[tried.count]
            let id = service.id
            tried.append(id)
            let isLast = tried.count == candidates.count
            do throws(ProviderFailure) {
                let response = try await client(of: id).answer(
                    ProviderQuery(addressed, to: service, hasAlternative: !isLast), before: deadline)
                return SearchReport(response, from: id, tried: tried, spent: spent)
            } catch {
                spent = spent + error.cost
                if isLast || !error.error.allowsFallback || Task.isCancelled || deadline.hasPassed(at: clock.now) {
                    return SearchReport(error.error, from: id, tried: tried, spent: spent)
                }
            }
        }
    }

    func client(of id: ProviderID) -> ProviderClient {
        if let known = clients.first(where: { $0.id == id }) { return known }
        let timekeeper: any Timekeeper = timekeeper ?? ClockTimekeeper(clock: clock, owner: self)
        let new = ProviderClient(
            id, policy: policies[id] ?? defaultPolicy, clock: clock, timekeeper: timekeeper, taskExecutor: taskExecutor,
            random: random, budget: quota.budget(of: id), onTransition: onTransition,
            onWasted: onWasted, onCall: onCall)
        quota.add(new)
        clients.append(new)
        if controls != LaneControls() { apply(controls, to: new) }
        new.onShorterLine = onShorterLine
        return new
    }

    func follow(_ wake: @escaping @Sendable () -> Void) {
        onShorterLine = wake
        for client in clients { client.onShorterLine = wake }
    }

    func takeNote(of waiting: [ProviderID: WaitingRequests]) {
        for client in clients { client.waitingToBegin = waiting[client.id] ?? WaitingRequests() }
    }

    /// Makes the given providers known, so that `statuses` holds them before the first request asks one.
    public func prepare(for providers: [ProviderID]) {
        for provider in providers { _ = client(of: provider) }
    }

    /// Call this when a provider has a new key: one that was shut for its key is tried again with the next request.
    /// - Parameter scope: the quota for which the new key's calls count; `nil`: as before.
    public func renewKey(of provider: ProviderID, scope: QuotaScope? = nil) {
        clients.first { $0.id == provider }?.renewKey()
        if let scope { quota.renewScope(scope, of: provider) }
    }

    /// Follows the orders of people, in place of those before.
    public func apply(_ controls: LaneControls) {
        self.controls = controls
        for client in clients { apply(controls, to: client) }
    }

    private func apply(_ controls: LaneControls, to client: ProviderClient) {
        client.apply(controls.providers[client.id] ?? LaneControls.Provider(), concurrency: controls.concurrency)
    }

    /// The state of each provider that was made known by `prepare` or asked by a request.
    public var statuses: [ProviderStatus] {
        clients.map(\.status).sorted { $0.provider.rawValue < $1.provider.rawValue }
    }
}

// MARK: - The fleet

/// The actor's isolation is what `QuotaMember` and the providers' limits have in common.
extension SearchWorker: FleetMember {
    public nonisolated var sharesByPartitions: Bool {
        policies.values.contains { $0.rateLimit != nil && $0.share.isShared }
    }

    public nonisolated var usesMessages: Bool {
        hasBudgets || policies.values.contains(where: \.sharesByDemand)
    }

    public var needsOlderRecords: Bool { quota.needsOlderRecords }

    public func onWakeUp(_ wake: @escaping @Sendable () -> Void) { quota.onWakeUp(wake) }

    public func topicOpened(_ extent: FleetTopicExtent) { quota.topicOpened(extent) }

    public func assign(_ assigned: [Int32], of partitions: Int, wasTaken: Bool = false) {
        quota.assign(assigned, of: partitions, wasTaken: wasTaken)
    }

    public func receive(_ records: [FleetRecord]) { quota.receive(records) }

    public func tick() -> FleetTick { quota.tick() }

    public func leave() -> [FleetMessage] { quota.leave() }
}

// Out of line, because the answer would have room in the frame of every request that waits.
extension SearchReport {
    @inline(never)
    fileprivate init(
        _ response: ProviderResponse, from provider: ProviderID, tried: [ProviderID], spent: CallCost
    ) {
        let cost = spent + response.cost
        self.init(
            result: .success(response.answer), provider: provider, triedProviders: tried, upstream: cost.upstream,
            attempts: cost.attempts)
    }

    @inline(never)
    fileprivate init(
        _ error: SearchError, from provider: ProviderID, tried: [ProviderID], spent cost: CallCost
    ) {
        self.init(
            result: .failure(error), provider: provider, triedProviders: tried, upstream: cost.upstream,
            attempts: cost.attempts)
    }
}
