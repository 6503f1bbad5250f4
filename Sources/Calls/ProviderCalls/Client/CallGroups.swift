internal import Basics
internal import LocationSearch
import QuotaSharing
import Resilience

/// The calls of one provider that have the same limits, apart from the limits of all its calls.
///
/// Not `Sendable`: it belongs to the provider's queue.
struct CallGroup {
    /// A budget, and what one call of the group takes of it.
    struct Charge {
        let account: BudgetAccount
        let units: Int
    }

    /// The permits of one call, each with its account.
    typealias Permits = [(account: BudgetAccount, permit: BudgetAccount.Permit)]

    /// The index of the method's own bucket: see `ProviderLimits.buckets`. `nil`: the method has no limit.
    let bucket: Int?
    /// The budgets that count each call.
    private let charges: [Charge]
    /// The budgets that count a call unless an allowance does.
    private let money: [Charge]
    private let allowances: [BudgetAccount]

    init(of priceClass: PriceClass, accounts: [BudgetAccount], bucket: Int?) {
        self.bucket = bucket
        var (charges, money, allowances): ([Charge], [Charge], [BudgetAccount]) = ([], [], [])
        for account in accounts {
            guard let units = account.budget.units(of: priceClass) else { continue }
            switch (account.budget.isAllowance, account.budget.unit) {
            case (true, _): allowances.append(account)
            case (false, .calls): charges.append(Charge(account: account, units: units))
            case (false, .money): money.append(Charge(account: account, units: units))
            }
        }
        (self.charges, self.money, self.allowances) = (charges, money, money.isEmpty ? [] : allowances)
    }

    func hasSameLimits(as other: CallGroup) -> Bool {
        func isEqual(_ a: [Charge], _ b: [Charge]) -> Bool {
            a.elementsEqual(b) { $0.account === $1.account && $0.units == $1.units }
        }
        return bucket == other.bucket && isEqual(charges, other.charges) && isEqual(money, other.money)
            && allowances.elementsEqual(other.allowances, by: ===)
    }

    // MARK: - A call

    /// Returns whether all permits of a call are reserved.
    func canTake(of requestClass: RequestClass, at now: Instant) -> Bool {
        guard charges.allSatisfy({ $0.account.canTake($0.units, of: requestClass, at: now) }) else { return false }
        return money.isEmpty || allowances.contains { $0.canTake(of: requestClass, at: now) }
            || isPaidFor(at: now) && money.allSatisfy { $0.account.canTake($0.units, of: requestClass, at: now) }
    }

    /// Takes the permits of a call. Call this only if `canTake` has just returned true.
    func take(of requestClass: RequestClass, at now: Instant) -> Permits {
        var paid = charges
        if let free = allowances.first(where: { $0.canTake(of: requestClass, at: now) }) {
            paid.append(Charge(account: free, units: 1))
        } else {
            paid += money
        }
        return paid.compactMap { charge in
            charge.account.take(charge.units, of: requestClass, at: now).map { (account: charge.account, permit: $0) }
        }
    }

    /// Returns whether calls cost money: all allowances are used up.
    private func isPaidFor(at now: Instant) -> Bool { allowances.allSatisfy { $0.usedUpUntil(at: now) != nil } }

    /// The budgets that count the next call.
    private func nextCharges(at now: Instant) -> [Charge] { isPaidFor(at: now) ? charges + money : charges }

    // MARK: - Refusals

    /// Returns the account that allows no call of a class in its period, and why; `nil` if each may still allow one. Of
    /// several, it is the one whose next period begins last.
    func refusal(of requestClass: RequestClass, at now: Instant) -> (budget: Budget, reason: BudgetAccount.Refusal)? {
        let refusals = nextCharges(at: now).compactMap { charge in
            charge.account.refusal(charge.units, of: requestClass, at: now).map { (charge.account.budget, $0) }
        }
        return refusals.max { $0.1.retryAfter < $1.1.retryAfter }
    }

    /// Returns the time until which the budgets allow no call; `nil` if they may allow one.
    func usedUpUntil(at now: Instant) -> Instant? {
        refusal(of: .interactive, at: now).map { now + $0.reason.retryAfter }
    }

    // MARK: - Demand

    /// Adds the units of waiting calls to the demand on each account.
    func addDemand(
        _ calls: Int, batch: Int, to demand: inout [ObjectIdentifier: (all: Int, batch: Int)], at now: Instant
    ) {
        func add(_ units: Int, to account: BudgetAccount) {
            demand[ObjectIdentifier(account), default: (0, 0)].all += calls.saturatingMultiplied(by: units)
            demand[ObjectIdentifier(account), default: (0, 0)].batch += batch.saturatingMultiplied(by: units)
        }
        for charge in nextCharges(at: now) { add(charge.units, to: charge.account) }
        for account in allowances { add(1, to: account) }
    }
}

/// The groups of a provider's calls: price classes with the same limits are one group.
struct CallGroups {
    let all: [CallGroup]
    /// The index of each price class's group in `all`.
    private let indices: [PriceClass: Int]

    init(of provider: ProviderID, accounts: [BudgetAccount], buckets: [ProviderMethod: Int]) {
        var all: [CallGroup] = []
        var indices: [PriceClass: Int] = [:]
        for priceClass in PriceClass.allCases where priceClass.provider == provider {
            let group = CallGroup(of: priceClass, accounts: accounts, bucket: buckets[priceClass.method])
            let known = all.firstIndex { $0.hasSameLimits(as: group) }
            indices[priceClass] = known ?? all.count
            if known == nil { all.append(group) }
        }
        (self.all, self.indices) = (all, indices)
    }

    var count: Int { all.count }

    func index(of priceClass: PriceClass) -> Int { indices[priceClass] ?? 0 }
}
