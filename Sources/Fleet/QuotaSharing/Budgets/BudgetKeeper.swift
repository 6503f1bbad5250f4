public import Basics

/// The daily budgets of one loop: a member of the fleet, and each provider's access to its budget.
///
/// Not `Sendable`: it belongs to one actor.
public final class BudgetKeeper {
    /// The loop's reservations. Messages are read by it directly; `review` must follow, once for any number of them.
    let member: BudgetMember
    private var accesses: [String: BudgetAccess] = [:]
    /// Called when `tick` should be called at once. Not called again before that.
    public var onWant: (() -> Void)?
    private var isWoken = false

    /// - Parameter member: used by this keeper only.
    public init(_ member: BudgetMember) { self.member = member }

    /// Returns the access to a provider's budget; `nil` where it has none.
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

    // MARK: - What may let calls pass

    /// Begins to read the log: see `BudgetMember.begin`.
    public func begin(_ extent: FleetTopicExtent, at now: Instant) {
        member.begin(extent, at: now)
        review(at: now)
    }

    /// Has a provider's calls count for another account: see `BudgetMember.renewScope`.
    public func renewScope(_ scope: QuotaScope, of provider: String) {
        member.renewScope(scope, of: provider)
        wake()
    }

    /// Lets waiting calls pass where permits have come.
    public func review(at now: Instant) {
        for access in accesses.values { access.review(at: now) }
    }

    /// Looks at the clocks, and returns the message that is due: see `BudgetMember.tick`.
    /// - Parameter days: the present day of each provider.
    public func tick(_ days: [String: BudgetDay], at now: Instant) -> BudgetMessage? {
        isWoken = false
        for (provider, day) in days { member.setDay(day, of: provider) }
        review(at: now)
        return member.tick(at: now)
    }
}
