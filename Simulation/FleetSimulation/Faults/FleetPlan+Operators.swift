import LocationSearch
import SimulatedLoop

/// What people do to a fleet that works.
extension FleetPlan {
    /// Has people change the budget of the day, in schedules that have one.
    mutating func makeBudgetOrders(_ random: inout SeededGenerator) {
        guard let callsPerDay, random.chance(0.5) else { return }
        for _ in 0..<Int.random(in: 1...3, using: &random) {
            let limit = random.chance(0.3) ? nil : Int.random(in: 0...(callsPerDay * 2), using: &random)
            faults.append(
                Fault(time: Double.random(in: 1...32, using: &random), kind: .budgetOrder(callsOfDay: limit)))
        }
        faults.sort { $0.time < $1.time }
    }

    /// Seconds by which orders make requests wait longer for a budget, at most: each may take a day's calls away.
    var waitForOrders: Double {
        let orders = faults.count { if case .budgetOrder(.some) = $0.kind { true } else { false } }
        return whenOpen == .hold ? Double(orders) * FleetWorld.day : 0
    }
}
