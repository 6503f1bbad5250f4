import SimulatedLoop

/// Wall clocks that differ from one another, and are set while workers run.
extension FleetPlan {
    /// Sets some members' wall clocks to wrong times, also in schedules without other faults.
    mutating func makeClockSteps(_ random: inout SeededGenerator) {
        guard random.chance(0.25) else { return }
        wallSkew = Double.random(in: 0...2, using: &random)
        for _ in 0..<Int.random(in: 1...3, using: &random) {
            let step = Double.random(in: 0.3...15, using: &random)
            faults.append(
                Fault(
                    time: Double.random(in: 1...32, using: &random),
                    kind: .clockStep(
                        member: Int.random(in: 0..<members, using: &random), seconds: random.chance(0.5) ? step : -step)
                ))
        }
        faults.sort { $0.time < $1.time }
    }

    /// The total number of seconds by which all wall clocks are set, in either direction.
    var clockSteps: Double {
        faults.reduce(0) { sum, fault in
            if case .clockStep(_, let seconds) = fault.kind { sum + abs(seconds) } else { sum }
        }
    }
}
