import Basics
import LocationSearch
import Resilience
import SimulatedLoop

/// Rules about the use of a limit.
extension Judge {
    /// Checks that the fleet uses its whole limit if more requests come than the rate allows and nothing goes wrong.
    mutating func judgeUse() {
        guard let load = plan.fullLoad, let limit = plan.rateLimit else { return }
        let all = world.provider.calls.filter { $0.provider == .hotpepper }
        // The remaining earlier requests are mostly other members' demand. Measuring starts once the last of them is done.
        let lastOfEarlier = all.last { !FullLoad.isPart($0.keyword) }.map { secondsOfSchedule(of: $0) } ?? 0
        let measured = load.measuredTime
        let start = max(measured.lowerBound, lastOfEarlier + FullLoad.timeToUse)
        guard measured.upperBound - start >= FullLoad.leastMeasured else { return }

        // If the answer to a JoinGroup was lost, a group may rebalance long after all faults have ended. New owners wait.
        let rebalances = world.handovers.map(\.time) + world.losses
        if rebalances.contains(where: { load.start <= $0 && $0 < measured.upperBound }) { return }

        let time = start..<measured.upperBound
        let measuredCalls = all.filter { time.contains(secondsOfSchedule(of: $0)) }
        let calls = measuredCalls.count
        let possible = limit.perSecond * (time.upperBound - time.lowerBound)
        // The ends of the period may cut off one call of each lane: lanes of equal shares may call at the same moments.
        let callers = Set(measuredCalls.map(\.member)).count * plan.lanes
        guard Double(calls + callers) < possible * FullLoad.leastUse else { return }
        find(
            .notFullyUsed,
            "\(calls) calls from \(time.lowerBound) to \(time.upperBound) s, of \(possible) by a limit of \(limit.perSecond) per second"
        )
    }

    private func secondsOfSchedule(of call: SimulatedProvider.Call) -> Double {
        world.beginning.duration(to: call.time) / .seconds(1)
    }
}
