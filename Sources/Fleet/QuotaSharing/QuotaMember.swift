public import Basics
public import LocationSearch

/// A provider's rate limit on one loop, which has a share of the fleet's limit.
public protocol SharedRateLimit: AnyObject {
    var id: ProviderID { get }

    /// Updates the share, if the limit is shared by partitions or by processes.
    func assign(_ assigned: Int, of partitions: Int)

    /// Returns this loop's current demand for the limit.
    func demand(at now: Instant) -> LimitDemand

    /// Sets this loop's share of a limit that is shared by demand.
    func take(_ share: LoopShare, at now: Instant)
}

/// One loop's membership in its fleet: leases of rate limits, and reservations of daily call budgets.
///
/// Not `Sendable`: it belongs to one actor, as do the limits that are added to it.
public final class QuotaMember {
    /// A rate limit, with cached properties, because every tick reads them.
    private struct Limit {
        let limiter: any SharedRateLimit
        let isByDemand: Bool
        let name: String
    }

    private let shares: [ProviderID: FleetShare]
    private let clock: any MonotonicClock
    private var limits: [Limit] = []
    private var ownership = (assigned: [Int32](), partitions: 0)
    /// The leases granted and received; `nil` if no limit is shared by demand.
    private let leases: LeaseMember?
    private let budgets: BudgetPolicy?
    /// `nil` if no provider has a daily budget.
    private let reservations: BudgetMember?

    /// - Parameters:
    ///   - name: this loop's name in the fleet: unique, and new after each start of the process.
    ///   - shares: how each rate limit is shared; a provider without a limit is missing.
    ///   - budgets: the daily call budgets of the fleet; `nil`: no provider has one.
    ///   - batchFloor: the fraction of its share of a rate limit that a member keeps for its batch work, 0 to 1.
    ///     Interactive demand of others does not reduce it. `nil`: the default of one twentieth.
    public init(
        name: String, shares: [ProviderID: FleetShare], budgets: BudgetPolicy? = nil,
        batchFloor: Double? = nil, clock: any MonotonicClock
    ) {
        self.shares = shares
        self.budgets = budgets
        self.clock = clock

        reservations = budgets.map { budgets in
            BudgetMember(
                name: name, budgets: Self.byName(budgets.callsPerDay), reserves: Self.byName(budgets.reserved),
                at: clock.now)
        }

        let leased = shares.filter { $0.value == .byDemand }.keys.map(\.rawValue)
        leases = leased.isEmpty ? nil : LeaseMember(name: name, limits: leased, batchFloor: batchFloor, at: clock.now)
    }

    private static func byName<Value>(_ values: [ProviderID: Value]) -> [String: Value] {
        values.reduce(into: [:]) { $0[$1.key.rawValue] = $1.value }
    }

    // MARK: - Providers

    /// Adds a provider's rate limit, and keeps its share up to date.
    public func add(_ limit: any SharedRateLimit) {
        limit.assign(ownership.assigned.count, of: ownership.partitions)
        limits.append(Limit(limiter: limit, isByDemand: shares[limit.id] == .byDemand, name: limit.id.rawValue))
    }

    /// Returns the account of a provider's daily call budget; `nil` if it has none.
    public func budget(of provider: ProviderID) -> BudgetAccount? { reservations?.account(provider.rawValue) }

    // MARK: - Events

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
        let (shares, budget) = (tickLeases(at: now), tickBudgets(at: now))
        return FleetTick(
            messages: shares.messages + budget.messages, isReady: shares.isReady && budget.isReady,
            nextTick: min(shares.nextTick, budget.nextTick))
    }

    private func tickBudgets(at now: Instant) -> FleetTick {
        guard let reservations, let budgets else { return FleetTick() }
        let message = reservations.tick(Self.byName(budgets.days(now)), at: now)
        review(reservations, at: now)

        return FleetTick(
            messages: message.map { [.budget($0)] } ?? [],
            isReady: reservations.isReady && !reservations.isTimedOut(at: now),
            nextTick: reservations.nextTick(at: now))
    }

    private func review(_ reservations: BudgetMember, at now: Instant) {
        reservations.review(at: now)
        for provider in reservations.takeWarnings() {
            guard let id = ProviderID(rawValue: provider), let account = reservations.account(provider) else {
                continue
            }
            budgets?.onWarning(id, account.status)
        }
    }

    private func tickLeases(at now: Instant) -> FleetTick {
        guard let leases else { return FleetTick() }
        for limit in limits { leases.setDemand(limit.limiter.demand(at: now), of: limit.name) }

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
            limit.limiter.take(leases.loopShare(of: limit.name, at: now), at: now)
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
