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
        /// The name under which the fleet shares it.
        var name: String
    }

    private let shares: [ProviderID: FleetShare]
    private let clock: any MonotonicClock
    private let onIgnored: (ScopeRelation) -> Void
    private var limits: [Limit] = []
    private var ownership = (assigned: [Int32](), partitions: 0)
    /// The leases granted and received; `nil` if no limit is shared by demand.
    private let leases: LeaseMember?
    private let budgets: BudgetPolicy?
    /// `nil` if no provider has a daily budget.
    private let reservations: BudgetMember?
    /// The quota for which each provider's calls count. A missing provider shares its quota with every fleet.
    private var scopes: [ProviderID: QuotaScope]

    /// - Parameters:
    ///   - name: this loop's name in the fleet: unique, and new after each start of the process.
    ///   - shares: how each rate limit is shared; a provider without a limit is missing.
    ///   - budgets: the daily call budgets of the fleet; `nil`: no provider has one.
    ///   - scopes: the quota for which each provider's calls count.
    ///   - batchFloor: the fraction of its share of a rate limit that a member keeps for its batch work, 0 to 1.
    ///     Interactive demand of others does not reduce it. `nil`: the default of one twentieth.
    ///   - onIgnored: called for each message of the fleet topic that does not concern this worker's quota.
    public init(
        name: String, shares: [ProviderID: FleetShare], budgets: BudgetPolicy? = nil,
        scopes: [ProviderID: QuotaScope] = [:], batchFloor: Double? = nil, clock: any MonotonicClock,
        onIgnored: @escaping (ScopeRelation) -> Void = { _ in }
    ) {
        self.shares = shares
        self.budgets = budgets
        self.scopes = scopes
        self.clock = clock
        self.onIgnored = onIgnored

        reservations = budgets.map { budgets in
            BudgetMember(
                name: name, budgets: Self.byName(budgets.callsPerDay), reserves: Self.byName(budgets.reserved),
                scopes: Self.byName(scopes), at: clock.now)
        }

        let leased = shares.filter { $0.value == .byDemand }.keys.map { scopes[$0]?.name ?? $0.rawValue }
        leases = leased.isEmpty ? nil : LeaseMember(name: name, limits: leased, batchFloor: batchFloor, at: clock.now)
    }

    private static func byName<Value>(_ values: [ProviderID: Value]) -> [String: Value] {
        values.reduce(into: [:]) { $0[$1.key.rawValue] = $1.value }
    }

    // MARK: - Providers

    /// Adds a provider's rate limit, and keeps its share up to date.
    public func add(_ limit: any SharedRateLimit) {
        limit.assign(ownership.assigned.count, of: ownership.partitions)
        limits.append(Limit(limiter: limit, isByDemand: shares[limit.id] == .byDemand, name: limitName(of: limit.id)))
    }

    /// Returns the access to a provider's daily call budget; `nil` if it has none.
    public func budget(of provider: ProviderID) -> BudgetAccess? { reservations?.access(to: provider.rawValue) }

    /// Counts a provider's calls for another quota, because its key has changed.
    public func renewScope(_ scope: QuotaScope, of provider: ProviderID) {
        leases?.rename(limitName(of: provider), to: scope.name)
        reservations?.renewScope(scope, of: provider.rawValue)
        scopes[provider] = scope
        for index in limits.indices { limits[index].name = limitName(of: limits[index].limiter.id) }
    }

    /// Returns the name under which the fleet shares a provider's rate limit.
    private func limitName(of provider: ProviderID) -> String { scopes[provider]?.name ?? provider.rawValue }

    // MARK: - Events

    public func onWakeUp(_ wake: @escaping () -> Void) { reservations?.onWant = wake }

    /// Updates the shares for the partitions that this loop owns. Call it before a revocation is acknowledged, and
    /// after an assignment.
    public func assign(_ assigned: [Int32], of partitions: Int, wasTaken: Bool) {
        ownership = (assigned, partitions)
        for limit in limits { limit.limiter.assign(assigned.count, of: partitions) }

        guard let leases else { return }
        leases.assign(assigned, of: partitions, wasTaken: wasTaken, at: clock.now)
        updateShares(at: clock.now)
    }

    /// Called when the fleet topic has been opened, for the first time or again. `receive` follows for each record.
    public func topicOpened(_ extent: FleetTopicExtent) {
        reservations?.begin(extent, at: clock.now)
    }

    /// True if the records since `topicOpened` are not sufficient, so that the topic must be read from its oldest
    /// record on.
    public var needsOlderRecords: Bool { reservations?.needsOlderRecords ?? false }

    /// Processes records of the fleet topic in their order, including this member's own.
    public func receive(_ records: [FleetRecord]) {
        let now = clock.now
        for record in records {
            switch record.message {
            case .shares(let message):
                if !record.isOld { receive(message, at: now) }
                reservations?.read(nil, at: record.offset, now: now)
            case .budget(let message):
                if !record.isOld, let reservations { report(reservations.relation(of: message)) }
                reservations?.read(message, at: record.offset, now: now)
            case .control, nil: reservations?.read(nil, at: record.offset, now: now)
            }
        }
        if leases != nil { updateShares(at: now) }
        if let reservations { review(reservations, at: now) }
    }

    private func receive(_ message: LeaseMessage, at now: Instant) {
        guard let leases else { return }
        report(leases.relation(of: message))
        leases.receive(message, at: now)
    }

    /// Reports an ignored message, which does not concern this worker's quota.
    private func report(_ relation: ScopeRelation) {
        if relation != .own { onIgnored(relation) }
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
            guard let id = ProviderID(rawValue: provider), let account = reservations.account(of: provider) else {
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
