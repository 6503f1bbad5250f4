public import Basics

/// The daily call budgets of one loop: a member of the fleet, and each provider's access to its budget.
///
/// Not `Sendable`: it belongs to one actor.
public final class BudgetKeeper {
    /// The loop's reservations. Callers pass messages to it directly and then call `review`, once for any number of
    /// messages.
    let member: BudgetMember
    private var accesses: [String: BudgetAccess] = [:]
    /// Called when `tick` should be called at once. Not called again before that.
    public var onWant: (() -> Void)?
    private var isWoken = false

    /// - Parameter member: used by this keeper only.
    public init(_ member: BudgetMember) { self.member = member }

    /// Returns the access to a provider's budget; `nil` if it has no budget.
    public func access(to provider: String) -> BudgetAccess? {
        if let known = accesses[provider] { return known }
        guard let index = member.index(of: provider) else { return nil }

        let access = BudgetAccess(member, index: index) { [weak self] in self?.wake() }
        accesses[provider] = access
        return access
    }

    private func wake() {
        guard !isWoken else { return }
        isWoken = true
        onWant?()
    }

    // MARK: - Changes

    /// Begins to read the log: see `BudgetMember.begin`.
    public func begin(_ extent: FleetTopicExtent, at now: Instant) {
        member.begin(extent, at: now)
        review(at: now)
    }

    /// Counts a provider's calls for another account: see `BudgetMember.renewScope`.
    public func renewScope(_ scope: QuotaScope, of provider: String) {
        member.renewScope(scope, of: provider)
        wake()
    }

    /// Releases waiting calls for which permits have become available.
    public func review(at now: Instant) {
        for access in accesses.values { access.review(at: now) }
    }

    /// Updates the days, and returns the message that is due: see `BudgetMember.tick`.
    /// - Parameter days: the current day of each provider.
    public func tick(_ days: [String: BudgetDay], at now: Instant) -> BudgetMessage? {
        isWoken = false
        for (provider, day) in days { member.setDay(day, of: provider) }
        review(at: now)
        return member.tick(at: now)
    }
}
