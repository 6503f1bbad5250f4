import LocationSearch
import ProviderCalls
import SimulatedLoop

/// Operators' actions on a running fleet.
extension FleetPlan {
    /// Lets operators change the day's budget, in schedules that have one.
    mutating func makeBudgetOrders(_ random: inout SeededGenerator) {
        guard let callsPerDay, random.chance(0.5) else { return }
        for _ in 0..<Int.random(in: 1...3, using: &random) {
            let limit = random.chance(0.3) ? nil : Int.random(in: 0...(callsPerDay * 2), using: &random)
            faults.append(
                Fault(time: Double.random(in: 1...32, using: &random), kind: .budgetOrder(callsOfDay: limit)))
        }
        faults.sort { $0.time < $1.time }
    }

    /// Duplicates messages about budgets, mostly operators' orders: a repeated order changes the most.
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

    /// The longest additional wait for a budget because of operators' orders, in seconds: each may use up a day's calls.
    var waitForOrders: Double {
        let orders = faults.count { if case .budgetOrder(.some) = $0.kind { true } else { false } }
        return whenOpen == .hold ? Double(orders) * FleetWorld.day : 0
    }
}

extension FleetPlan {
    /// Lets operators send dead letters back to the requests topic, with more invalid records than usual.
    mutating func makeRedrives(_ random: inout SeededGenerator) {
        guard random.chance(0.15) else { return }
        for index in requests.indices where random.chance(0.1) { requests[index].isValid = false }
        for _ in 0..<Int.random(in: 1...3, using: &random) {
            faults.append(Fault(time: Double.random(in: 5...32, using: &random), kind: .redrive))
        }
        faults.sort { $0.time < $1.time }
    }

    /// Lets an operator stop all workers, move the group's offsets back, and start the workers again.
    mutating func makeOffsetsBack(_ random: inout SeededGenerator) {
        guard random.chance(0.08) else { return }
        let records = Int64.random(in: 1...40, using: &random)
        faults.append(Fault(time: Double.random(in: 5...22, using: &random), kind: .offsetsBack(records: records)))
        faults.sort { $0.time < $1.time }
    }
}
