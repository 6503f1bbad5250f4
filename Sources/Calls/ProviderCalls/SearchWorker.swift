public import Basics
internal import DequeModule
public import LocationSearch
public import QuotaSharing
internal import Resilience

/// Calls providers for requests: tries the candidates in order, each through its `ProviderClient`, within one deadline.
///
/// An actor on the given executor: on a worker's event loop, a request passes through without a hop.
public actor SearchWorker: SearchReporting {
    private nonisolated let executor: any SerialExecutor
    public nonisolated var unownedExecutor: UnownedSerialExecutor { unsafe executor.asUnownedSerialExecutor() }

    private let policies: [ProviderID: ProviderPolicy]
    private let defaultPolicy: ProviderPolicy
    private let clock: any MonotonicClock
    private let timekeeper: (any Timekeeper & Sendable)?
    private let taskExecutor: (any TaskExecutor)?
    private let random: any RandomNumberGenerator & Sendable
    private let observer: CallObserver
    private nonisolated let hasBudgets: Bool
    private var clients: [ProviderClient] = []
    private var searches = NumberedValues<ProviderSearch>()
    private var onShorterLine: (@Sendable () -> Void)?
    /// The operator's controls in force.
    private var controls = LaneControls()
    /// This loop's member of the fleet that shares the quota.
    private let quota: QuotaMember

    /// - Parameter policies: the policy of each provider; a provider without one has the defaults.
    /// - Parameter name: this loop's name in the fleet: unique, and a new one at each start of the process.
    /// - Parameter budgets: the calls that the fleet may make in a day; `nil`: no provider has a budget.
    /// - Parameter scopes: the quota to which each provider's calls are charged.
    /// - Parameter timekeeper: timers on `executor`; `nil`: a task of `clock` for each timer.
    /// - Parameter taskExecutor: `executor` as a task executor, if it is one. Without it, a resumed call takes a detour
    ///   through the runtime's thread pool: see docs/internals/concurrency.md, 1.
    /// - Parameter random: the source of jitter.
    /// - Parameter onIgnored: called on `executor` for each message of the fleet topic that does not concern this worker's quota.
    public init(
        executor: any SerialExecutor, policies: [ProviderID: ProviderPolicy] = [:], name: String = "",
        budgets: BudgetPolicy? = nil, scopes: [ProviderID: QuotaScope] = [:], concurrency: Int = 256,
        clock: any MonotonicClock, timekeeper: (any Timekeeper & Sendable)? = nil,
        taskExecutor: (any TaskExecutor)? = nil,
        random: any RandomNumberGenerator & Sendable,
        observer: CallObserver = CallObserver(),
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
        self.observer = observer
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

    /// Starts the query at the next candidate of a search.
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

    /// Starts the task in which a call is made. The task belongs to the call's members, which have no tasks themselves.
    private func startCall(to id: ProviderID) {
        let call = client(of: id).startedCalls.last
        call?.task = Task.immediate(executorPreference: taskExecutor) { await self.makeNextCall(to: id) }
    }

    /// Makes the call that has waited longest. A call cannot be passed to its task: see docs/internals/concurrency.md, 4.
    private func makeNextCall(to id: ProviderID) async {
        let client = client(of: id)
        guard let call = client.startedCalls.popFirst() else { return }
        await client.make(call)
    }

    // MARK: - Clients

    func client(of id: ProviderID) -> ProviderClient {
        if let known = clients.first(where: { $0.id == id }) { return known }
        let timekeeper: any Timekeeper = timekeeper ?? ClockTimekeeper(clock: clock, owner: self)
        let new = ProviderClient(
            id, policy: policies[id] ?? defaultPolicy, clock: clock, timekeeper: timekeeper,
            startCall: { [weak self] in self?.assumeIsolated { $0.startCall(to: id) } }, random: random,
            budget: quota.budget(of: id), observer: observer)
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

    /// Creates the clients of the given providers, so that `statuses` includes them before the first request.
    public func prepare(for providers: [ProviderID]) {
        for provider in providers { _ = client(of: provider) }
    }

    /// Call this when a provider has a new key. If it was shut because of its key, the next request tries it again.
    /// - Parameter scope: the quota to which the new key's calls are charged; `nil`: unchanged.
    public func renewKey(of provider: ProviderID, scope: QuotaScope? = nil) {
        clients.first { $0.id == provider }?.renewKey()
        if let scope { quota.renewScope(scope, of: provider) }
    }

    /// Applies the operator's controls, which replace the previous ones.
    public func apply(_ controls: LaneControls) {
        self.controls = controls
        for client in clients { apply(controls, to: client) }
    }

    private func apply(_ controls: LaneControls, to client: ProviderClient) {
        client.apply(controls.providers[client.id] ?? LaneControls.Provider(), concurrency: controls.concurrency)
    }

    /// The state of each provider that was prepared or has received a request.
    public var statuses: [ProviderStatus] {
        clients.map(\.status).sorted { $0.provider.rawValue < $1.provider.rawValue }
    }
}

// MARK: - The fleet

/// `QuotaMember` and the providers' limits share this actor's isolation.
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

extension SearchWorker: CallQueues {
    public nonisolated func hasShortLine(for requestClass: RequestClass, at provider: ProviderID) -> Bool {
        assumeIsolated { $0.client(of: provider).hasShortLine(for: requestClass) }
    }

    public nonisolated func pace(of provider: ProviderID) -> Double? {
        assumeIsolated { $0.client(of: provider).pace }
    }

    public nonisolated func noteWaiting(_ waiting: [ProviderID: WaitingRequests]) {
        assumeIsolated { $0.takeNote(of: waiting) }
    }

    public nonisolated func onShorterLine(_ wake: @escaping @Sendable () -> Void) {
        assumeIsolated { $0.follow(wake) }
    }
}
