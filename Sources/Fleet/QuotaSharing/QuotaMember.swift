public import Basics
public import LocationSearch

/// A provider's rate limit on one loop, of which the fleet gives this loop a share.
public protocol SharedRateLimit: AnyObject {
    var id: ProviderID { get }

    /// Follows the loop's partitions, where the limit is shared by them or by processes.
    func assign(_ assigned: Int, of partitions: Int)

    /// Returns what this loop could use of the limit now.
    func demand(at now: Instant) -> LimitDemand

    /// Takes over this loop's share of a limit that is shared by demand.
    func take(_ share: LoopShare, at now: Instant)
}

/// One loop's membership in its fleet: leases of rate limits, and reservations of daily call budgets.
///
/// Not `Sendable`: it belongs to one actor, as do the limits that are added to it.
public final class QuotaMember {
    /// A rate limit, with what is known of it beforehand, because every tick asks for it.
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
    /// The leases to and from others; `nil` where no limit is shared by demand.
    private let leases: LeaseMember?
    private let budgets: BudgetPolicy?
    /// `nil` where no provider has a daily budget.
    private let keeper: BudgetKeeper?
    /// The quota for which each provider's calls count. A provider that is missing shares with every fleet.
    private var scopes: [ProviderID: QuotaScope]

    /// - Parameters:
    ///   - name: this loop's name in the fleet: unique, and another one after each start of the process.
    ///   - shares: the way in which each rate limit is shared; a provider without a limit is missing.
    ///   - budgets: the calls that the fleet may make in a day; `nil`: no provider has a budget.
    ///   - scopes: the quota for which each provider's calls count.
    ///   - batchFloor: the part of its share of a rate limit that a member with batch work keeps for it, 0 to 1, whatever
    ///     interactive requests of other members want. `nil`: the usual twentieth.
    ///   - onIgnored: called for each message of the fleet topic that is not about this worker's quota.
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

        keeper = budgets.map { budgets in
            // bounded: the keys are those of another dictionary
            let callsPerDay = Dictionary(uniqueKeysWithValues: budgets.callsPerDay.map { ($0.key.rawValue, $0.value) })
            // bounded: the keys are those of another dictionary
            let accounts = Dictionary(uniqueKeysWithValues: scopes.map { ($0.key.rawValue, $0.value) })
            // bounded: the keys are those of another dictionary
            let reserves = Dictionary(uniqueKeysWithValues: budgets.reserved.map { ($0.key.rawValue, $0.value) })
            let member = BudgetMember(
                name: name, budgets: callsPerDay, reserves: reserves, scopes: accounts, at: clock.now)
            return BudgetKeeper(member)
        }

        let leased = shares.filter { $0.value == .byDemand }.keys.map { scopes[$0]?.name ?? $0.rawValue }
        leases = leased.isEmpty ? nil : LeaseMember(name: name, limits: leased, batchFloor: batchFloor, at: clock.now)
    }

    // MARK: - Providers

    /// Adds a provider's rate limit, which follows the fleet from here on.
    public func add(_ limit: any SharedRateLimit) {
        limit.assign(ownership.assigned.count, of: ownership.partitions)
        limits.append(Limit(limiter: limit, isByDemand: shares[limit.id] == .byDemand, name: limitName(of: limit.id)))
    }

    /// Returns the daily call budget of a provider; `nil` where it has none.
    public func budget(of provider: ProviderID) -> BudgetAccess? { keeper?.access(to: provider.rawValue) }

    /// Has a provider's calls count for another quota, because it has a new key.
    public func renewScope(_ scope: QuotaScope, of provider: ProviderID) {
        leases?.rename(limitName(of: provider), to: scope.name)
        keeper?.renewScope(scope, of: provider.rawValue)
        scopes[provider] = scope
        for index in limits.indices { limits[index].name = limitName(of: limits[index].limiter.id) }
    }

    /// The name under which the fleet shares a provider's rate limit.
    private func limitName(of provider: ProviderID) -> String { scopes[provider]?.name ?? provider.rawValue }

    // MARK: - Events

    public func onWakeUp(_ wake: @escaping () -> Void) { keeper?.onWant = wake }

    /// Follows the partitions that this loop owns. To be called before a loss is acknowledged, and after a gain.
    public func assign(_ assigned: [Int32], of partitions: Int, wasTaken: Bool) {
        ownership = (assigned, partitions)
        for limit in limits { limit.limiter.assign(assigned.count, of: partitions) }

        guard let leases else { return }
        leases.assign(assigned, of: partitions, wasTaken: wasTaken, at: clock.now)
        updateShares(at: clock.now)
    }

    /// Begins to read the fleet topic, for the first time or anew. `receive` follows for each record.
    public func topicOpened(_ extent: FleetTopicExtent) {
        keeper?.begin(extent, at: clock.now)
    }

    /// True when the records since `topicOpened` do not hold all that is needed, so that the topic must be read from its
    /// oldest record on.
    public var needsOlderRecords: Bool { keeper?.member.needsOlderRecords ?? false }

    /// Takes in records of the fleet topic, this member's own among them, in their order.
    public func receive(_ records: [FleetRecord]) {
        let now = clock.now
        for record in records {
            switch record.message {
            case .shares(let message):
                if !record.isOld { receive(message, at: now) }
                keeper?.member.read(nil, at: record.offset, now: now)
            case .budget(let message):
                if !record.isOld, let keeper { report(keeper.member.relation(of: message)) }
                keeper?.member.read(message, at: record.offset, now: now)
            case .control, nil: keeper?.member.read(nil, at: record.offset, now: now)
            }
        }
        if leases != nil { updateShares(at: now) }
        if let keeper { review(keeper, at: now) }
    }

    private func receive(_ message: LeaseMessage, at now: Instant) {
        guard let leases else { return }
        report(leases.relation(of: message))
        leases.receive(message, at: now)
    }

    /// Reports a message that is not about this worker's quota, and therefore ignored.
    private func report(_ relation: ScopeRelation) {
        if relation != .own { onIgnored(relation) }
    }

    // MARK: - Time

    /// Looks at the clock. To be called when the time has passed that the last tick named, and after each change.
    public func tick() -> FleetTick {
        let now = clock.now
        let (shares, budget) = (tickLeases(at: now), tickBudgets(at: now))
        return FleetTick(
            messages: shares.messages + budget.messages, isReady: shares.isReady && budget.isReady,
            nextTick: min(shares.nextTick, budget.nextTick))
    }

    private func tickBudgets(at now: Instant) -> FleetTick {
        guard let keeper, let budgets else { return FleetTick() }
        let days = budgets.days(now).map { ($0.key.rawValue, $0.value) }
        // bounded: the keys are those of another dictionary
        let message = keeper.tick(Dictionary(uniqueKeysWithValues: days), at: now)
        review(keeper, at: now)

        let member = keeper.member
        return FleetTick(
            messages: message.map { [.budget($0)] } ?? [], isReady: member.isReady && !member.isTimedOut(at: now),
            nextTick: member.nextTick(at: now))
    }

    private func review(_ keeper: BudgetKeeper, at now: Instant) {
        keeper.review(at: now)
        for provider in keeper.member.takeWarnings() {
            guard let id = ProviderID(rawValue: provider) else { continue }
            guard let index = keeper.member.index(of: provider) else { continue }
            budgets?.onWarning(id, keeper.member.status(index))
        }
    }

    private func tickLeases(at now: Instant) -> FleetTick {
        guard let leases else { return FleetTick() }
        for limit in limits { leases.setDemand(limit.limiter.demand(at: now), of: limit.name) }

        // The shares that this message leases out are not used from here on.
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

    /// Ends the sharing: no quota that is shared by messages is used from here on.
    /// - Returns: the last messages.
    public func leave() -> [FleetMessage] {
        var messages: [FleetMessage] = []
        if let leases {
            messages.append(.shares(leases.leave(at: clock.now)))
            updateShares(at: clock.now)
        }
        if let message = keeper?.member.leave(at: clock.now) { messages.append(.budget(message)) }
        return messages
    }
}
