import ProviderCalls
import SimulatedKafkaClients
import SimulatedLoop
import WorkerRuntime

/// Records that end each process that runs them.
extension FleetPlan {
    /// How a record ends the processes that run it.
    struct Poison: Sendable {
        /// By a fault of the process's own, which has it say so with its last commit where it can. A kill says nothing.
        var traps: Bool
        /// Seconds after the call.
        var seconds: Double
        /// The fault, as it is counted.
        var fault: Fault
    }

    /// Seconds for each record that ends processes until it is set aside: docs/guarantees.md has it cost three ends or five, and more beside
    /// slow requests. After each end the group waits for the session of 6 s, transactions for their time-out, and the next process starts.
    private static let timeOfPoison = 160.0

    /// Has a record or two end each process that runs it. In half of these schedules nothing else goes wrong, so that the ends can be
    /// counted.
    ///
    /// Left out are schedules in which no notes can be kept, in which offsets begin anew or go back, and in which a crash loses calls
    /// that requests wait for.
    mutating func makePoisons(_ random: inout SeededGenerator) {
        let movesOffsets = faults.contains { fault in
            switch fault.kind {
            case .offsetsBack, .cluster(.makeAgain(SimulatedWorker.requests, _)): true
            default: false
            }
        }
        let waitsForBudget = whenOpen == .hold && callsPerDay != nil
        guard random.chance(0.1), keepsDoneSets, !movesOffsets, !waitsForBudget, fullLoad == nil else { return }

        if random.chance(0.5) { leaveNothingElse() }
        transactionTimeout = min(transactionTimeout, 4)
        maxAge = nil
        // A static member that dies between giving partitions up and joining again leaves them to nobody.
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

    /// Leaves nothing that goes wrong or takes long.
    private mutating func leaveNothingElse() {
        (faults, fateOfMessages, lostCommits) = ([], .perfect, 0)
        (failures, latency, quota, secondProvider) = (0, 0.02...0.3, nil, nil)
        (rateLimit, callsPerDay) = (nil, nil)
        losesAssignmentByStaleCommits = false
        settings.attemptTimeout = nil
        settings.deadline = max(settings.deadline, 2)
        for index in requests.indices { requests[index].provider = "hotpepper" }
    }

    /// The records that end processes, by what they search for.
    var poisons: [String: Poison] {
        faults.reduce(into: [:]) { poisons, fault in
            guard case .poison(let number, let traps, let seconds) = fault.kind else { return }
            poisons["poison-\(number)"] = Poison(traps: traps, seconds: seconds, fault: fault)
        }
    }

    /// True where nothing goes wrong but that records end processes, and nothing takes long: then their ends can be counted.
    var isOnlyPoisoned: Bool {
        let isQuiet = faults.allSatisfy { fault in
            if case .poison = fault.kind { true } else { false }
        }
        return isQuiet && fateOfMessages.isPerfect && lostCommits == 0 && failures == 0 && latency.upperBound < 0.5
            && !hasRateLimit && callsPerDay == nil && !givesCallsUp && quota == nil
    }

    var waitForPoisons: Double { Double(poisons.count) * Self.timeOfPoison }
}
