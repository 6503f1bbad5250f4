import ProviderCalls
import SimulatedKafkaClients
import SimulatedLoop
import WorkerRuntime

/// Records that crash each process that runs them.
extension FleetPlan {
    /// How a record crashes processes.
    struct Poison: Sendable {
        /// True for a trap, after which the process commits a crash note if it can. A kill leaves no note.
        var traps: Bool
        /// The seconds between the call and the crash.
        var seconds: Double
        /// The fault, for the coverage table.
        var fault: Fault
    }

    /// The seconds until a record that crashes workers is set aside.
    ///
    /// docs/guarantees.md allows it three or five crashes, and more if requests are slow. After each crash the group waits for the
    /// session timeout of 6 s, transactions time out, and the next process starts.
    private static let timeOfPoison = 160.0

    /// Makes one or two records crash each process that runs them. Half of these schedules have no other
    /// faults, so that crashes can be counted.
    ///
    /// This leaves out schedules in which no crash notes can be kept, in which offsets start again or go back, or in which a crash
    /// loses calls that requests wait for.
    mutating func makePoisons(_ random: inout SeededGenerator) {
        let movesOffsets = faults.contains(where: \.movesOffsets)
        let waitsForBudget = whenOpen == .hold && callsPerDay != nil
        guard random.chance(0.1), keepsDoneSets, !movesOffsets, !waitsForBudget, fullLoad == nil else { return }

        if random.chance(0.5) { leaveNothingElse() }
        transactionTimeout = min(transactionTimeout, 4)
        maxAge = nil
        // If a static member crashes between revoking partitions and joining again, these stay without an owner.
        if groupProtocol == .classic, assignor == .cooperativeSticky { isStatic = false }

        let count = random.chance(0.7) ? 1 : 2
        for index in requests.indices.filter({ requests[$0].isValid }).shuffled(using: &random).prefix(count) {
            let number = requests[index].number
            requests[index].keyword = "poison-\(number)"
            (requests[index].lifetime, requests[index].session) = (nil, nil)
            requests[index].provider = "hotpepper"
            let isSlow = random.chance(0.2) && !isOnlyPoisoned
            let seconds = Double.random(in: isSlow ? 0.5...3 : 0.001...0.3, using: &random)
            let kind = Fault.Kind.poison(request: number, traps: Bool.random(using: &random), seconds: seconds)
            faults.append(Fault(time: requests[index].time, kind: kind))
        }
        faults.sort { $0.time < $1.time }
    }

    /// Removes all other faults and delays.
    private mutating func leaveNothingElse() {
        (faults, fateOfMessages, lostCommits) = ([], .perfect, 0)
        (failures, latency, quota, secondProvider) = (0, 0.02...0.3, nil, nil)
        (rateLimit, callsPerDay) = (nil, nil)
        losesAssignmentByStaleCommits = false
        settings.attemptTimeout = nil
        settings.deadline = max(settings.deadline, 2)
        for index in requests.indices { requests[index].provider = "hotpepper" }
    }

    /// The records that crash workers, by keyword.
    var poisons: [String: Poison] {
        faults.reduce(into: [:]) { poisons, fault in
            guard case .poison(let number, let traps, let seconds) = fault.kind else { return }
            poisons["poison-\(number)"] = Poison(traps: traps, seconds: seconds, fault: fault)
        }
    }

    /// True if records that crash workers are the only fault, and nothing is slow, so that the crashes can be counted.
    var isOnlyPoisoned: Bool {
        let isQuiet = faults.allSatisfy { fault in
            if case .poison = fault.kind { true } else { false }
        }
        return isQuiet && fateOfMessages.isPerfect && lostCommits == 0 && failures == 0 && latency.upperBound < 0.5
            && !hasRateLimit && callsPerDay == nil && !givesCallsUp && quota == nil
    }

    var waitForPoisons: Double { Double(poisons.count) * Self.timeOfPoison }
}
