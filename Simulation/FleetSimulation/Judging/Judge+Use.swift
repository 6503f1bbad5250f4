import Basics
import LocationSearch
import Resilience
import SimulatedLoop

/// What a fleet makes of its limit.
extension Judge {
    /// Where more requests come than the rate allows, and nothing goes wrong, the fleet makes as many calls as it may.
    mutating func judgeUse() {
        guard let load = plan.fullLoad, let limit = plan.rateLimit else { return }
        let time = load.measuredTime
        let calls = world.provider.calls.count { call in
            call.provider == .hotpepper && time.contains(world.beginning.duration(to: call.time) / .seconds(1))
        }

        let possible = limit.perSecond * FullLoad.measured
        guard Double(calls) < possible * FullLoad.leastUse else { return }
        find(
            .notFullyUsed,
            "\(calls) calls from \(time.lowerBound) to \(time.upperBound) s, of \(possible) by a limit of \(limit.perSecond) a second"
        )
    }
}
