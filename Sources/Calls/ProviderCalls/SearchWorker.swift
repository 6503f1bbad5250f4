public import Basics
internal import DequeModule
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
    private var searches = NumberedValues<ProviderSearch>()
    /// Calls whose tasks have yet to run, in the order of both.
    private var starting: Deque<(client: ProviderClient, call: SingleFlight.Call)> = []
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
    /// - Parameter taskExecutor: `executor` as one, if it is. Without one, a resumed call goes through the runtime's thread pool before it
    ///   comes back: see docs/internals/concurrency.md, 1.
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

    // MARK: - Searches

    public nonisolated func begin(
        _ addressed: AddressedRequest, before deadline: Deadline,
        then completion: @escaping @Sendable (SearchReport) -> Void
    ) -> Int {
        assumeIsolated { $0.add(ProviderSearch(addressed, before: deadline, then: completion)) }
    }

    public nonisolated func cancel(_ number: Int) { assumeIsolated { $0.endWait(of: number) } }

    private func add(_ search: ProviderSearch) -> Int {
        search.number = searches.insert(search)
        askNext(of: search)
        return search.number
    }

    private func endWait(of number: Int) {
        guard let search = searches[number] else { return }
        search.isCancelled = true
        search.wait?.cancel()
    }

    /// Asks the next candidate of a search.
    private func askNext(of search: ProviderSearch) {
        let service = search.takeCandidate()
        let query = ProviderQuery(search.addressed, to: service, hasAlternative: !search.isAtLast)
        let wait = client(of: service.id).ask(query, before: search.deadline) { [self] in
            take($0, for: search)
        }
        search.wait = wait
        wait.begin()
    }

    private func take(_ result: Result<ProviderResponse, ProviderFailure>, for search: ProviderSearch) {
        switch result {
        case .success(let response): end(search, with: .success(response.answer), cost: response.cost)
        case .failure(let failure):
            if search.isAtLast || !failure.error.allowsFallback || search.isCancelled
                || search.deadline.hasPassed(at: clock.now)
            {
                end(search, with: .failure(failure.error), cost: failure.cost)
            } else {
                search.spent = search.spent + failure.cost
                askNext(of: search)
            }
        }
    }

    private func end(_ search: ProviderSearch, with result: Result<ProviderAnswer, SearchError>, cost: CallCost) {
        let cost = search.spent + cost
        search.wait = nil
        searches.remove(search.number)
        search.completion(
            SearchReport(
                result: result, provider: search.tried.last, triedProviders: search.tried, upstream: cost.upstream,
                attempts: cost.attempts))
    }

    /// Starts the task in which a call is made. It belongs to the call's members, none of which has one.
    private func startCall(to id: ProviderID) {
        let client = client(of: id)
        guard let call = client.startedCalls.popFirst() else { return }
        starting.append((client, call))
        call.task = Task.immediate(executorPreference: taskExecutor) { await self.makeNextCall() }
    }

    /// Makes the call that waits longest. A task cannot be handed one: see docs/internals/concurrency.md, 4.
    private func makeNextCall() async {
        guard let (client, call) = starting.popFirst() else { return }
        await client.make(call)
    }

    // MARK: - Clients

    func client(of id: ProviderID) -> ProviderClient {
        if let known = clients.first(where: { $0.id == id }) { return known }
        let timekeeper: any Timekeeper = timekeeper ?? ClockTimekeeper(clock: clock, owner: self)
        let new = ProviderClient(
            id, policy: policies[id] ?? defaultPolicy, clock: clock, timekeeper: timekeeper,
            startCall: { [weak self] in self?.assumeIsolated { $0.startCall(to: id) } }, random: random,
            budget: quota.budget(of: id), onTransition: onTransition, onWasted: onWasted, onCall: onCall)
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
