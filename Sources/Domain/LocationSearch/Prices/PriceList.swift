internal import Basics

/// The prices of calls by price class and month. Amounts are integers in millionths of `currency`: 35.00 dollars for 1,000
/// calls are 35,000 for one call.
///
/// Prices never rise with the number of calls, so ``price(of:)`` is the most that a call can cost.
public struct PriceList: Sendable, Hashable {
    /// The price of a month's calls, from one call on.
    public struct Tier: Sendable, Hashable {
        /// The first call of the month with this price, at least 1. Free calls are counted, too.
        public var fromCall: Int
        /// Millionths of the currency for one call, 0 to 1,000,000,000.
        public var price: Int

        public init(fromCall: Int, price: Int) { (self.fromCall, self.price) = (fromCall, price) }
    }

    /// The prices of one price class.
    public struct Entry: Sendable, Hashable {
        /// The number of the first calls of a month that cost nothing, 0 to 1,000,000,000.
        public var freeCallsPerMonth: Int
        /// The prices of the other calls, by rising `fromCall` and falling price; the first is from call 1. At least one.
        public var tiers: [Tier]

        public init(freeCallsPerMonth: Int, tiers: [Tier]) {
            (self.freeCallsPerMonth, self.tiers) = (freeCallsPerMonth, tiers)
        }
    }

    /// Calls that are free each month. Several price classes share those of a bundle, such as a subscription.
    public struct Allowance: Sendable, Hashable {
        /// The bundle's name, or the price class.
        public var name: String
        /// 1 to 1,000,000,000.
        public var callsPerMonth: Int
        /// The classes whose calls are free, none of which is in another allowance.
        public var priceClasses: [PriceClass]
        /// The bundle's own price in millionths of the currency; 0 for the free calls of a class.
        public var pricePerMonth: Int

        public init(name: String, callsPerMonth: Int, priceClasses: [PriceClass], pricePerMonth: Int = 0) {
            (self.name, self.callsPerMonth) = (name, callsPerMonth)
            (self.priceClasses, self.pricePerMonth) = (priceClasses, pricePerMonth)
        }
    }

    /// The calls that a project may make in a minute, without regard to their price.
    public struct Quota: Sendable, Hashable {
        /// The day and the origin of the figures.
        public var date, source: String
        /// The calls of each method per minute, at least 0. A method without a number has no known quota.
        public var callsPerMinute: [ProviderMethod: Int]

        public init(date: String, source: String, callsPerMinute: [ProviderMethod: Int]) {
            (self.date, self.source, self.callsPerMinute) = (date, source, callsPerMinute)
        }
    }

    /// The day on which the prices were read from their source, such as `2026-09-24`.
    public var date: String
    /// The origin of the prices, such as a URL.
    public var source: String
    /// The currency's code, such as `USD`.
    public var currency: String
    /// The prices by class. The calls of a class without an entry have no known price.
    public var entries: [PriceClass: Entry]
    /// The allowances that several classes share. The own free calls of these classes do not apply.
    public var bundles: [Allowance]
    /// The quota of a project at the Places API (New).
    public var quota: Quota

    public init(
        date: String, source: String, currency: String, entries: [PriceClass: Entry], bundles: [Allowance] = [],
        quota: Quota = .google
    ) {
        (self.date, self.source, self.currency) = (date, source, currency)
        (self.entries, self.bundles, self.quota) = (entries, bundles, quota)
    }

    /// All free calls of a month. Classes that cost nothing are in none but a bundle.
    public var allowances: [Allowance] {
        bundles
            + PriceClass.allCases.filter { freeCalls(of: $0) > 0 }
            .map { Allowance(name: $0.rawValue, callsPerMonth: freeCalls(of: $0), priceClasses: [$0]) }
    }

    /// Returns the price of a call after the free ones, in millionths of the currency: that of the first tier. 0 for a
    /// class that costs nothing or has no known price (``hasPrice(_:)``).
    public func price(of priceClass: PriceClass) -> Int { entries[priceClass]?.tiers.first?.price ?? 0 }

    /// Returns whether the price of a class is known. It may be 0.
    public func hasPrice(_ priceClass: PriceClass) -> Bool { entries[priceClass] != nil }

    /// Returns the number of calls that only this class has free each month; 0 for a class in a bundle, or one that costs
    /// nothing anyway.
    public func freeCalls(of priceClass: PriceClass) -> Int {
        guard price(of: priceClass) > 0, bundle(of: priceClass) == nil else { return 0 }
        return entries[priceClass]?.freeCallsPerMonth ?? 0
    }

    /// Returns the bundle that contains a class; `nil` if none does.
    public func bundle(of priceClass: PriceClass) -> Allowance? {
        bundles.first { $0.priceClasses.contains(priceClass) }
    }
}

extension PriceList {
    /// The cost of calls of one class.
    public struct Cost: Sendable, Hashable {
        public let priceClass: PriceClass
        public let calls: Int
        /// The number of calls that cost nothing.
        public let freeCalls: Int
        /// Millionths of the currency; `nil` if the class has no known price.
        public let amount: Int?
        public let currency: String
    }

    /// Returns the cost of a month's calls, in the order of `PriceClass.allCases`.
    ///
    /// The calls of a bundle go to its cheapest classes first, because their order in the month is not known, and do not
    /// count for volume prices. So the sum is never too low. Prices of bundles are not included.
    public func costs(of calls: [PriceClass: Int]) -> [Cost] {
        var free: [PriceClass: Int] = [:]
        for allowance in allowances {
            var left = allowance.callsPerMonth
            for priceClass in allowance.priceClasses.sorted(by: { price(of: $0) < price(of: $1) }) {
                let taken = min(left, calls[priceClass] ?? 0)
                free[priceClass] = taken
                left -= taken
            }
        }
        return costs(of: calls, free: free)
    }

    /// Returns the cost of calls after the free calls of their month, at the first price.
    public func listCosts(of calls: [PriceClass: Int]) -> [Cost] { costs(of: calls, free: [:]) }

    private func costs(of calls: [PriceClass: Int], free: [PriceClass: Int]) -> [Cost] {
        PriceClass.allCases.compactMap { priceClass in
            guard let count = calls[priceClass], count > 0 else { return nil }
            let entry = entries[priceClass]
            let freeCalls = entry != nil && price(of: priceClass) == 0 ? count : free[priceClass] ?? 0
            let first = bundle(of: priceClass) == nil ? freeCalls : 0
            let amount = entry?.amount(ofCallsAfter: first, to: first + count - freeCalls)
            return Cost(
                priceClass: priceClass, calls: count, freeCalls: freeCalls, amount: amount, currency: currency)
        }
    }
}

extension PriceList.Entry {
    /// Returns the price of the calls `first + 1` to `last` of a month, in millionths of the currency. Saturates.
    fileprivate func amount(ofCallsAfter first: Int, to last: Int) -> Int {
        tiers.indices.reduce(0) { amount, index in
            let end = index + 1 < tiers.count ? tiers[index + 1].fromCall - 1 : Int.max
            let calls = max(0, min(last, end) - max(first, tiers[index].fromCall - 1))
            return amount.saturatingAdding(calls.saturatingMultiplied(by: tiers[index].price))
        }
    }
}
