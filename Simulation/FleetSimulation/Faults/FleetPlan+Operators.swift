import LocationSearch
import ProviderCalls
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

    /// Has messages about budgets come twice, of people mostly: an order that is given again changes most.
    mutating func makeDoubledMessages(_ random: inout SeededGenerator) {
        guard callsPerDay != nil, random.chance(0.5) else { return }
        let orders = faults.filter { if case .budgetOrder = $0.kind { true } else { false } }
        let atOrder = orders.randomElement(using: &random).map { max(0, $0.time - 0.1) }
        let anywhere = Double.random(in: 1...faultsEnd - 8, using: &random)
        faults.append(
            Fault(
                time: random.chance(0.8) ? atOrder ?? anywhere : anywhere,
                kind: .fleetTopic(.doubled, seconds: Double.random(in: 0.3...6, using: &random))))
        faults.sort { $0.time < $1.time }
    }

    /// Seconds by which orders make requests wait longer for a budget, at most: each may take a day's calls away.
    var waitForOrders: Double {
        let orders = faults.count { if case .budgetOrder(.some) = $0.kind { true } else { false } }
        return whenOpen == .hold ? Double(orders) * FleetWorld.day : 0
    }
}

extension FleetPlan {
    /// Has people send dead letters back to the requests topic, with more records than usual that are none.
    mutating func makeRedrives(_ random: inout SeededGenerator) {
        guard random.chance(0.15) else { return }
        for index in requests.indices where random.chance(0.1) { requests[index].isValid = false }
        for _ in 0..<Int.random(in: 1...3, using: &random) {
            faults.append(Fault(time: Double.random(in: 5...32, using: &random), kind: .redrive))
        }
        faults.sort { $0.time < $1.time }
    }

    /// Has a person stop all workers, move the group's offsets back, and start the workers again.
    mutating func makeOffsetsBack(_ random: inout SeededGenerator) {
        guard random.chance(0.08) else { return }
        let records = Int64.random(in: 1...40, using: &random)
        faults.append(Fault(time: Double.random(in: 5...22, using: &random), kind: .offsetsBack(records: records)))
        faults.sort { $0.time < $1.time }
    }
}
