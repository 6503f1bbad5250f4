/// The leases that the members of a fleet should grant each other.
///
/// Each member makes the plan for itself, from the newest messages. Members that have read the same messages make the
/// same plan, so that together they lease out all that is spare. Where they have not, less is leased out than could be,
/// but never more than there is: see `LeaseTable`.
struct LeasePlan {
    /// A member's own share and its demand.
    struct Member: Equatable {
        var name: String
        var own: Double
        var demand: Double
    }

    /// The leases that each lessor should grant, by lessee.
    private(set) var leases: [String: [(lessee: String, share: Double)]] = [:]

    /// Gives the spare shares to the members whose demand exceeds their share: equally, but to none more than its demand.
    ///
    /// Lessees and lessors stand in the order of their names along one line, each with its amount, and each lessor leases
    /// to the lessees beside it. So a lessor has few lessees, whatever the size of the fleet.
    init(_ members: [Member]) {
        let members = members.sorted { $0.name < $1.name }
        let lessors = members.map { ($0.name, max(0, $0.own - $0.demand)) }.filter { $0.1 > LeaseTable.least }
        let wishes = members.map { ($0.name, max(0, $0.demand - $0.own)) }.filter { $0.1 > LeaseTable.least }
        guard !lessors.isEmpty, !wishes.isEmpty else { return }

        let spare = lessors.reduce(0) { $0 + $1.1 }
        let level = Self.level(of: wishes.map(\.1), sharing: spare)
        var lessees = wishes.map { ($0.0, min($0.1, level)) }[...]

        for (lessor, share) in lessors {
            var left = share
            while left > LeaseTable.least, let (lessee, wish) = lessees.first {
                let given = min(left, wish)
                leases[lessor, default: []].append((lessee, given))
                left -= given

                lessees[lessees.startIndex].1 -= given
                if lessees[lessees.startIndex].1 <= LeaseTable.least { lessees.removeFirst() }
            }
        }
    }

    /// Returns the largest amount for one wish with which all wishes together get `sum`; infinite when there is enough
    /// for all.
    static func level(of wishes: [Double], sharing sum: Double) -> Double {
        var left = sum
        let sorted = wishes.sorted()
        for (index, wish) in sorted.enumerated() {
            let equal = left / Double(sorted.count - index)
            if wish >= equal { return equal }
            left -= wish
        }
        return .infinity
    }
}
