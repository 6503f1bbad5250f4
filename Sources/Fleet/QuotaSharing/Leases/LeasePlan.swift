internal import Basics

/// The leases that the members of a fleet should grant each other.
///
/// Each member makes the plan from the newest messages. Members that have read the same messages make the same plan, so
/// that together they lease out all spare quota. Otherwise they lease out less, but no member more than its own share:
/// see `LeaseTable`.
struct LeasePlan {
    /// A member's own share and its demand.
    struct Member: Equatable {
        var name: String
        var own: Double
        var demand: LimitDemand
    }

    /// The fraction of a share that its owner keeps for its batch work, whatever the interactive demand of others.
    static let usualBatchFloor = FairTerms().batchFloor

    /// The leases that each lessor should grant.
    private(set) var leases: [String: [(lessee: String, share: Double)]] = [:]
    /// The share that each member should have with these leases, by name; never above its demand.
    let targets: [String: Target]

    /// The share that a member should have.
    struct Target: Equatable {
        var interactive = 0.0
        var batch = 0.0

        var total: Double { interactive + batch }
    }

    /// Gives the spare shares to the members whose demand exceeds their share, as `divide` decides.
    ///
    /// Lessors and lessees are sorted by name, and each lessor's spare amount goes to the next lessees in that order. A
    /// lessor therefore has few lessees, whatever the size of the fleet.
    init(_ members: [Member], batchFloor: Double = usualBatchFloor) {
        let members = members.sorted { $0.name < $1.name }
        let targets = Self.divide(among: members, batchFloor: batchFloor)
        self.targets = Dictionary(zip(members.map(\.name), targets)) { first, _ in first }

        let missing = zip(members, targets).map { (name: $0.name, share: $1.total - $0.own) }
        let lessors = missing.filter { -$0.share > LeaseTable.least }
        var lessees = missing.filter { $0.share > LeaseTable.least }[...]

        for (lessor, share) in lessors {
            var left = -share
            while left > LeaseTable.least, let (lessee, wish) = lessees.first {
                let given = min(left, wish)
                leases[lessor, default: []].append((lessee, given))
                left -= given

                lessees[lessees.startIndex].share -= given
                if lessees[lessees.startIndex].share <= LeaseTable.least { lessees.removeFirst() }
            }
        }
    }

    /// True for a member that should use less than its own share.
    func isLessor(_ member: Member) -> Bool { member.own > (targets[member.name]?.total ?? 0) + LeaseTable.least }

    // MARK: - Targets

    /// Returns the share that each member should have, in the order of `members`.
    ///
    /// Interactive demand is served first, from all shares except the floors for batch. The rest serves batch. Within a
    /// class, a member keeps as much of its share as it needs. Members that need more get equal amounts of the rest, at
    /// most their demand. If any member has more than one waiting tenant, the amounts are proportional to the members'
    /// tenants instead, whatever they own.
    static func divide(among members: [Member], batchFloor: Double) -> [Target] {
        let floors = members.map { min($0.demand.batch, min(max(batchFloor, 0), 1) * $0.own) }
        let owned = members.reduce(0) { $0 + $1.own }
        let interactive = interactiveParts(of: members, floors: floors, sharing: owned - floors.reduce(0, +))

        var targets = interactive.map { Target(interactive: $0) }
        guard members.contains(where: { $0.demand.batch > 0 }) else { return targets }
        let batch = batchParts(of: members, floors: floors, interactive: interactive, owned: owned)
        for index in targets.indices { targets[index].batch = batch[index] }
        return targets
    }

    private static func interactiveParts(of members: [Member], floors: [Double], sharing sum: Double) -> [Double] {
        let isByTenants = members.contains { $0.demand.interactive > 0 && $0.demand.interactiveTenants > 1 }
        let wishes = zip(members, floors).map { member, floor in
            let demand = member.demand.interactive
            let kept = min(demand, member.own - floor)
            guard isByTenants else { return Wish(least: kept, most: demand, growth: .fromLeast) }
            let weight = Double(member.demand.interactiveTenants)
            return Wish(least: 0, most: demand, growth: .fromZero(weight: weight))
        }
        return amounts(for: wishes, sharing: sum)
    }

    private static func batchParts(
        of members: [Member], floors: [Double], interactive: [Double], owned: Double
    ) -> [Double] {
        let left = owned - interactive.reduce(0, +)
        let isByTenants = members.contains { $0.demand.batch > 0 && $0.demand.batchTenants > 1 }
        if isByTenants {
            let wishes = zip(members, floors).map { member, floor in
                Wish(
                    least: floor, most: member.demand.batch,
                    growth: .fromZero(weight: Double(member.demand.batchTenants)))
            }
            return amounts(for: wishes, sharing: left)
        }

        // Interactive demand is taken from all members that use their own share for batch, in proportion.
        let kept = members.indices.map { index in
            max(floors[index], min(members[index].demand.batch, members[index].own - interactive[index]))
        }
        let (allKept, allFloors) = (kept.reduce(0, +), floors.reduce(0, +))
        let part = allKept > max(left, allFloors) ? max(0, left - allFloors) / (allKept - allFloors) : 1
        let wishes = members.indices.map { index in
            Wish(
                least: floors[index] + part * (kept[index] - floors[index]), most: members[index].demand.batch,
                growth: .fromLeast)
        }
        return amounts(for: wishes, sharing: left)
    }

    // MARK: - Dividing

    /// The amount of one member as a function of a level that is common to all.
    private struct Wish {
        enum Growth {
            /// `least + level`
            case fromLeast
            /// `level * weight`, once that is more than `least`
            case fromZero(weight: Double)
        }

        var least: Double
        /// The upper bound of the amount; at least `least`.
        var most: Double
        var growth: Growth

        /// The growth of the amount per unit of the level.
        var slope: Double {
            switch growth {
            case .fromLeast: 1
            case .fromZero(let weight): weight
            }
        }

        /// The amount at the level 0, without the bound `least`.
        private var offset: Double {
            switch growth {
            case .fromLeast: least
            case .fromZero: 0
            }
        }

        /// The levels at which the amount begins to exceed `least`, and at which it reaches `most`.
        var range: (from: Double, to: Double) { ((least - offset) / slope, (most - offset) / slope) }

        func amount(at level: Double) -> Double { min(most, max(least, offset + level * slope)) }
    }

    /// Returns the amounts at the level at which they sum to `sum`. If `sum` is too small, each amount is `least`; if
    /// there is enough for all, it is `most`.
    private static func amounts(for wishes: [Wish], sharing sum: Double) -> [Double] {
        var left = sum - wishes.reduce(0) { $0 + $1.least }
        let growing = wishes.filter { $0.most > $0.least }
        guard left > 0, !growing.isEmpty else { return wishes.map(\.least) }

        // The sum is linear between two levels at which an amount starts or stops growing.
        let ends = growing.flatMap { [($0.range.from, $0.slope), ($0.range.to, -$0.slope)] }
        var (level, rate) = (0.0, 0.0)
        for (end, change) in ends.sorted(by: { $0.0 < $1.0 }) {
            let needed = rate * (end - level)
            if rate > 0, needed >= left {
                let reached = level + left / rate
                return wishes.map { $0.amount(at: reached) }
            }
            left -= max(0, needed)
            (level, rate) = (end, rate + change)
        }
        return wishes.map(\.most)
    }
}
