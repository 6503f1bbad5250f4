public import Basics
public import LocationSearch
public import QuotaSharing
internal import Resilience

/// Calls providers for requests: tries the candidates in order, each through its `ProviderClient`, within one deadline.
///
/// Not `Sendable`: it belongs to one actor, on which everything runs, so that a request passes through plain functions.
public final class SearchWorker: SearchExecutor {
    private let policies: [ProviderID: ProviderPolicy]
    private let defaultPolicy: ProviderPolicy
    private let clock: any MonotonicClock
    private let timekeeper: any Timekeeper
    private let random: any RandomNumberGenerator & Sendable
    private let observer: CallObserver
    private let hasBudgets: Bool
    private var clients: [ProviderClient] = []
    private var wake: (@Sendable () -> Void)?
    /// The operator's controls in force.
    private var controls = LaneControls()
    /// This loop's member of the fleet that shares the quota.
    private let quota: QuotaMember

    /// - Parameter policies: the policy of each provider; a provider without one has the defaults.
    /// - Parameter name: this loop's name in the fleet: unique, and a new one at each start of the process.
    /// - Parameter budgets: the fleet's budgets of a day or month; `nil`: no provider has one.
    /// - Parameter timekeeper: timers of the actor.
    /// - Parameter random: the source of jitter.
    public init(
        policies: [ProviderID: ProviderPolicy] = [:], name: String = "", budgets: BudgetPolicy? = nil,
        concurrency: Int = 256, clock: any MonotonicClock, timekeeper: any Timekeeper,
        random: any RandomNumberGenerator & Sendable, observer: CallObserver = CallObserver()
    ) {
        self.policies = policies
        defaultPolicy = ProviderPolicy(concurrency: concurrency)
        self.clock = clock
        hasBudgets = budgets != nil
        (self.timekeeper, self.random, self.observer) = (timekeeper, random, observer)
        quota = QuotaMember(
            name: name, shares: Self.shares(policies), budgets: budgets,
            batchFloor: policies.values.first?.fairness.batchFloor, clock: clock)
    }

    /// Returns how each rate limit is shared, by the limit's name.
    private static func shares(_ policies: [ProviderID: ProviderPolicy]) -> [String: FleetShare] {
        policies.reduce(into: [:]) { shares, provider in
            for limit in provider.value.limitNames(of: provider.key) { shares[limit] = provider.value.share }
        }
    }

    // MARK: - Searches

    /// Starts a search at its next candidate.
    public func begin(_ search: ProviderSearch) {
        search.takeCandidate(at: clock.now)
        client(of: search.service.id).begin(search)
    }

    public func cancel(_ search: ProviderSearch) { client(of: search.service.id).cancel(search) }

    /// Ends a search that has the result of its candidate, or goes on to the next one.
    private func proceed(with search: ProviderSearch) {
        guard case .over(let result) = search.membership.end.take() else {
            preconditionFailure("the search has no result")
        }
        switch result {
        case .success(let answer): search.end(with: .success(answer))
        case .failure(let failure):
            if !search.hasAlternative || !failure.error.allowsFallback || search.isCancelled
                || search.deadline.hasPassed(at: clock.now)
            {
                search.end(with: .failure(failure.error))
            } else {
                begin(search)
            }
        }
    }

    // MARK: - Clients

    func client(of id: ProviderID) -> ProviderClient {
        if let known = clients.first(where: { $0.id == id }) { return known }
        let new = ProviderClient(
            id, policy: policies[id] ?? defaultPolicy, clock: clock, timekeeper: timekeeper,
            onEnd: { [unowned self] in proceed(with: $0) }, random: random,
            accounts: quota.accounts(of: id), observer: observer)
        for share in new.shares { quota.add(share) }
        clients.append(new)
        if controls != LaneControls() { apply(controls, to: new) }
        new.onShorterLine = wake
        return new
    }

    /// Creates the clients of the given providers, so that `statuses` includes them before the first request.
    public func prepare(for providers: [ProviderID]) {
        for provider in providers { _ = client(of: provider) }
    }

    /// Call this when a provider has a new key. If it was shut because of its key, the next request tries it again.
    public func renewKey(of provider: ProviderID) { clients.first { $0.id == provider }?.renewKey() }

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

extension SearchWorker: FleetMember {
    public var sharesByPartitions: Bool { policies.values.contains { $0.hasRateLimit && $0.share.isShared } }

    public var usesMessages: Bool { hasBudgets || policies.values.contains(where: \.sharesByDemand) }

    public func onWakeUp(_ wake: @escaping @Sendable () -> Void) { quota.onWakeUp(wake) }

    public func assign(_ assigned: [Int32], of partitions: Int, wasTaken: Bool = false) {
        quota.assign(assigned, of: partitions, wasTaken: wasTaken)
    }

    public func receive(_ news: FleetNews) -> Bool { quota.receive(news) }

    public func tick() -> FleetTick { quota.tick() }

    public func leave() -> [FleetMessage] { quota.leave() }
}

extension SearchWorker: CallQueues {
    public func line(of request: SearchRequest, at service: any PlaceService) -> CallLine {
        CallLine(service.id, group: client(of: service.id).group(of: request, at: service))
    }

    public func hasShortLine(for requestClass: RequestClass, in line: CallLine) -> Bool {
        client(of: line.provider).hasShortLine(for: requestClass, in: line.group)
    }

    public func pace(of line: CallLine) -> Double? { client(of: line.provider).pace(of: line.group) }

    public func noteWaiting(_ waiting: [CallLine: WaitingRequests]) {
        for client in clients { client.noteWaiting(waiting) }
    }

    public func onShorterLine(_ wake: @escaping @Sendable () -> Void) {
        self.wake = wake
        for client in clients { client.onShorterLine = wake }
    }
}
