public import Basics
public import LocationSearch

/// A rate limit of a provider or of one of its methods on one loop, which has a share of the fleet's limit.
public protocol SharedRateLimit: AnyObject {
    /// Its name in the fleet, such as `google-places` or `google-places/searchText`.
    var name: String { get }

    /// Updates the share, if the limit is shared by partitions or by processes.
    func assign(_ assigned: Int, of partitions: Int)

    /// Returns this loop's current demand for the limit.
    func demand(at now: Instant) -> LimitDemand

    /// Sets this loop's share of a limit that is shared by demand.
    func take(_ share: LoopShare, at now: Instant)
}

/// One loop's membership in its fleet: leases of rate limits, and reservations of budgets.
///
/// Not `Sendable`: it belongs to one actor, as do the limits that are added to it.
public final class QuotaMember {
    /// A rate limit, with cached properties, because every tick reads them.
    private struct Limit {
        let limiter: any SharedRateLimit
        let isByDemand: Bool
    }

    private let shares: [String: FleetShare]
    private let clock: any MonotonicClock
    private var limits: [Limit] = []
    private var ownership = (assigned: [Int32](), partitions: 0)
    /// The leases granted and received; `nil` if no limit is shared by demand.
    private let leases: LeaseMember?
    private let budgets: BudgetPolicy?
    /// `nil` if no provider has a budget.
    private let reservations: BudgetMember?

    /// - Parameters:
    ///   - name: this loop's name in the fleet: unique, and new after each start of the process.
    ///   - shares: how each rate limit is shared, by name.
    ///   - budgets: the budgets of the fleet; `nil`: no provider has one.
    ///   - batchFloor: the fraction of its share of a rate limit that a member keeps for its batch work, 0 to 1.
    ///     Interactive demand of others does not reduce it. `nil`: the default of one twentieth.
    public init(
        name: String, shares: [String: FleetShare], budgets: BudgetPolicy? = nil,
        batchFloor: Double? = nil, clock: any MonotonicClock
    ) {
        (self.shares, self.budgets, self.clock) = (shares, budgets, clock)

        reservations = budgets.map { BudgetMember(name: name, budgets: $0.budgets, at: clock.now) }

        let leased = shares.filter { $0.value == .byDemand }.keys.sorted()
        leases = leased.isEmpty ? nil : LeaseMember(name: name, limits: leased, batchFloor: batchFloor, at: clock.now)
    }

    // MARK: - Providers

    /// Adds a rate limit, and keeps its share up to date.
    public func add(_ limit: any SharedRateLimit) {
        limit.assign(ownership.assigned.count, of: ownership.partitions)
        limits.append(Limit(limiter: limit, isByDemand: shares[limit.name] == .byDemand))
    }

    /// Returns the accounts of a provider's budgets.
    public func accounts(of provider: ProviderID) -> [BudgetAccount] {
        reservations?.accounts.filter { $0.budget.provider == provider } ?? []
    }

    // MARK: - Events

    /// Registers `wake`, which is called when a daily budget needs a tick before the next one is due.
    public func onWakeUp(_ wake: @escaping () -> Void) { reservations?.onWant(wake) }

    /// Updates the shares for the partitions that this loop owns. Call it before a revocation is acknowledged, and
    /// after an assignment.
    public func assign(_ assigned: [Int32], of partitions: Int, wasTaken: Bool) {
        ownership = (assigned, partitions)
        for limit in limits { limit.limiter.assign(assigned.count, of: partitions) }

        guard let leases else { return }
        leases.assign(assigned, of: partitions, wasTaken: wasTaken, at: clock.now)
        updateShares(at: clock.now)
    }

    /// Processes what was read from the fleet topic.
    /// - Returns: true if the topic must be read from its oldest record on.
    public func receive(_ news: FleetNews) -> Bool {
        let now = clock.now
        if let extent = news.opened { reservations?.begin(extent, at: now) }
        for record in news.records {
            var budget: BudgetMessage?
            switch record.message {
            case .shares(let message): if !record.isOld { leases?.receive(message, at: now) }
            case .budget(let message): budget = message
            case .control, nil: break
            }
            reservations?.read(budget, at: record.offset, now: now)
        }
        if !news.records.isEmpty {
            updateShares(at: now)
            if let reservations { review(reservations, at: now) }
        }
        return reservations?.needsOlderRecords ?? false
    }

    // MARK: - Time

    /// Updates the state for the current time. Call it when `nextTick` of the last tick has passed, and after each
    /// change.
    public func tick() -> FleetTick {
        let now = clock.now
        let (leases, budgets) = (tickLeases(at: now), tickBudgets(at: now))
        return FleetTick(
            messages: leases.messages + budgets.messages, isReady: leases.isReady && budgets.isReady,
            nextTick: min(leases.nextTick, budgets.nextTick))
    }

    private func tickBudgets(at now: Instant) -> FleetTick {
        guard let reservations, let budgets else { return FleetTick() }
        let periods = budgets.periods(now)
        let message = reservations.tick(at: now) { periods[$0.provider]?[$0.span] }
        review(reservations, at: now)

        return FleetTick(
            messages: message.map { [.budget($0)] } ?? [],
            isReady: reservations.isReady && !reservations.isTimedOut(at: now),
            nextTick: reservations.nextTick(at: now))
    }

    private func review(_ reservations: BudgetMember, at now: Instant) {
        reservations.review(at: now)
        for name in reservations.takeWarnings() {
            if let account = reservations.account(name) { budgets?.onWarning(account.status(at: now)) }
        }
    }

    private func tickLeases(at now: Instant) -> FleetTick {
        guard let leases else { return FleetTick() }
        for limit in limits { leases.setDemand(limit.limiter.demand(at: now), of: limit.limiter.name) }

        // From here on, the shares that this message leases out are not used.
        let message = leases.tick(at: now)
        updateShares(at: now)
        return FleetTick(
            messages: message.map { [.shares($0)] } ?? [], isReady: !leases.isSettling(at: now),
            nextTick: leases.nextTick)
    }

    private func updateShares(at now: Instant) {
        guard let leases else { return }
        for limit in limits where limit.isByDemand {
            limit.limiter.take(leases.loopShare(of: limit.limiter.name, at: now), at: now)
        }
    }

    /// Ends the sharing: no quota that is shared by messages is used after this call.
    /// - Returns: the last messages.
    public func leave() -> [FleetMessage] {
        var messages: [FleetMessage] = []
        if let leases {
            messages.append(.shares(leases.leave(at: clock.now)))
            updateShares(at: clock.now)
        }
        if let message = reservations?.leave(at: clock.now) { messages.append(.budget(message)) }
        return messages
    }
}
