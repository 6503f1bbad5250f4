/// Who should lend how much to whom.
///
/// Each member makes the plan for itself, from what all have said. Members that have read the same make the same plan, so
/// that together they lend what there is. Where they have not, less is lent than could be, but never more than there is: see
/// `LeaseTable`.
struct LeasePlan {
    /// What a member has by itself and what it could use.
    struct Member: Equatable {
        var name: String
        var own: Double
        var demand: Double
    }

    /// What each lender should lend to each borrower.
    private(set) var leases: [String: [(lessee: String, share: Double)]] = [:]

    /// Gives what some do not need to those who need more: in equal parts, but to none more than it needs.
    ///
    /// Borrowers and lenders stand in the order of their names along one line, each with its part, and each lender lends to
    /// those who stand beside it. So a lender has few borrowers, whatever the size of the fleet.
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

    /// Returns the part that nobody gets more of, so that all together get `sum`; infinite when there is enough for all.
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
