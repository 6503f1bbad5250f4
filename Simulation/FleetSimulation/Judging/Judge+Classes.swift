import Basics
import LocationSearch
import Resilience
import SimulatedKafka
import SimulatedLoop
import WorkerRuntime

/// Rules about the precedence of classes.
extension Judge {
    /// The number of batch calls that a lane may have begun or queued before it reads an interactive request. They precede that request.
    private static let begunBefore = 12
    /// The seconds within which a written request is read, in a fleet without faults.
    private static let timeToRead = 1.0

    /// Checks, in a fleet without faults, that batch requests do not delay interactive ones.
    ///
    /// From the time at which a lane can read an interactive request until it calls for it, the lane makes no more batch calls than
    /// the batch floor allows, besides those that had begun before.
    mutating func judgeClasses() {
        guard let mixture = plan.mixture, plan.isCalm, plan.failures == 0, plan.quota == nil, plan.callsPerDay == nil,
            plan.secondProvider == nil, plan.ordering == .unordered, mixture.lookAheadBytes >= 1 << 20,
            plan.keepsDoneSets, mixture.unconfirmedOutcomes == nil
        else { return }

        // Several requests may have the same keyword. A call may be for the newest of those that existed and had no outcome.
        let requests = Dictionary(grouping: plan.requests, by: \.keyword)
        let answered = timesOfFirstOutcomes()
        var byLane: [ObjectIdentifier: [(time: Double, request: FleetPlan.Request)]] = [:]
        for call in world.provider.calls {
            let time = world.beginning.duration(to: call.time) / .seconds(1)
            let twins = requests[call.keyword]?.filter { $0.time <= time } ?? []
            let open = twins.filter { answered[$0.number] ?? .infinity >= time }
            let asking = (open.isEmpty ? twins : open).max { $0.time < $1.time }
            if let asking { byLane[call.lane, default: []].append((time, asking)) }
        }

        judge(byLane.values, mixture)
    }

    /// Returns the time of each request's first outcome, in seconds from the beginning, by request number.
    private func timesOfFirstOutcomes() -> [Int: Double] {
        let times = outcomeTimes()
        return world.requestAt.reduce(into: [:]) { answered, partition in
            for (offset, request) in partition.value {
                answered[request.number] = times[partition.key]?[offset]?.first
            }
        }
    }

    private mutating func judge(
        _ lanes: some Collection<[(time: Double, request: FleetPlan.Request)]>, _ mixture: FleetPlan.Mixture
    ) {
        for calls in lanes {
            for (index, call) in calls.enumerated() where call.request.requestClass == .interactive {
                let start = call.request.time + Self.timeToRead
                let isMoved = world.handovers.contains { start - 5 <= $0.time && $0.time <= call.time }
                guard call.time > start, !isMoved else { continue }

                let meanwhile = calls[..<index].reversed().prefix { $0.time > start }
                let batch = meanwhile.count { $0.request.requestClass == .batch }
                let allowed =
                    Double(Self.begunBefore) + mixture.batchFloor * Double(meanwhile.count)
                    + (plan.rateLimit?.burst ?? 0)
                guard Double(batch) > allowed else { continue }
                find(
                    .batchBeforeInteractive,
                    "r\(call.request.number), written at \(call.request.time.threeDecimals) s, was called at \(call.time.threeDecimals) s, after \(batch) batch requests of \(meanwhile.count) in between"
                )
            }
        }
    }
}
