import SimulatedKafkaClients
import SimulatedLoop
import WorkerRuntime

/// Schedules in which only crashes, standstills and cuts repeat work, so that the repetitions can be judged.
extension FleetPlan {
    /// Removes all faults but the graceful ones, and adds members that are killed, stopped and cut off.
    mutating func makeCrashes(_ random: inout SeededGenerator) {
        guard random.chance(0.05) else { return }
        delivery = .atLeastOnce
        (isStatic, losesAssignmentByStaleCommits) = (false, false)
        (fateOfMessages, lostCommits) = (.perfect, 0)
        faults.removeAll { !$0.isGraceful }
        for _ in 0..<Int.random(in: 1...4, using: &random) {
            let member = Int.random(in: 0..<members, using: &random)
            let back = Double.random(in: 0.2...8, using: &random)
            let time = Double.random(in: 3...32, using: &random)
            faults.append(Fault(time: time, kind: drawCrash(of: member, seconds: back, &random)))
        }
        faults.sort { $0.time < $1.time }
    }

    /// Removes all faults but deploys and scaling, and keeps calls in flight nearly all the time.
    ///
    /// A call that a leaving member abandons is then made and paid for again, which the judge sees.
    mutating func makeDeploysUnderLoad(_ random: inout SeededGenerator) {
        guard random.chance(0.03), fullLoad == nil else { return }
        (isStatic, losesAssignmentByStaleCommits) = (false, false)
        (fateOfMessages, lostCommits, failures, latency) = (.perfect, 0, 0, 0.3...0.9)
        (rateLimit, callsPerDay, quota, secondProvider) = (nil, nil, nil, nil)
        settings.attemptTimeout = nil
        settings.deadline = max(settings.deadline, 2)
        for index in requests.indices { requests[index].provider = "hotpepper" }
        faults = (0..<Int.random(in: 2...5, using: &random)).map { _ in
            let member = Int.random(in: 0..<members, using: &random)
            return Fault(
                time: Double.random(in: 2...requestsEnd, using: &random),
                kind: random.chance(0.8) ? .deploy(member: member) : .scale(up: Bool.random(using: &random)))
        }
        faults.sort { $0.time < $1.time }
    }

    private func drawCrash(of member: Int, seconds: Double, _ random: inout SeededGenerator) -> Fault.Kind {
        switch Int.random(in: 0..<6, using: &random) {
        case 0: return .stop(member: member, seconds: seconds)
        case 1:
            let direction = random.chance(0.5) ? nil : SimulatedNetwork.Direction.allCases.randomElement(using: &random)
            let broker = Int32.random(in: 1...brokers, using: &random)
            return .cut(member: member, broker: broker, direction, seconds: seconds)
        default: return .kill(member: member, back: seconds)
        }
    }

    /// True if work is repeated only because members are killed, stopped or cut off, or hand requests back.
    var isRepeatedByCrashesAlone: Bool {
        let areCrashes = faults.allSatisfy { fault in
            switch fault.kind {
            case .kill, .stop, .cut, .poison: true
            default: fault.isGraceful
            }
        }
        return delivery == .atLeastOnce && areCrashes && fateOfMessages.isPerfect && !isStatic
            && !losesAssignmentByStaleCommits
    }

    /// True if a request may outlast the grace of a leaving member.
    ///
    /// The next owner then processes it again, together with the requests that its partition finished behind it.
    var requestsMayOutlastGrace: Bool {
        settings.deadline >= shutdownGrace && (failures > 0 || latency.upperBound >= shutdownGrace)
    }

    /// True if a member that is cut off may use its partitions until the connection is back.
    ///
    /// librdkafka itself ends a session only in a classic group, and not during a join. A cooperative member
    /// keeps its partitions while it joins.
    var keepsPartitionsWhileCutOff: Bool { groupProtocol == .consumer || assignor == .cooperativeSticky }
}
