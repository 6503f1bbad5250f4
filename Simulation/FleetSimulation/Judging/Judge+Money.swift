import Basics
import LocationSearch
import SimulatedLoop

/// Rules about the cost of calls, and the pauses that providers ask for.
extension Judge {
    /// Checks that the workers' metrics match the provider's bill.
    ///
    /// The workers have counted each call that they saw end under its price class. Calls in flight when their
    /// process was killed are left out of both.
    mutating func judgeBill() {
        var (billed, reported) = (0, 0)
        for priceClass in PriceClass.allCases {
            let made = world.provider.calls.count { $0.priceClass == priceClass }
            let ended = made - world.provider.unfinished(as: priceClass)
            let counted = world.callsCounted(as: priceClass)
            (billed, reported) = (billed + ended * priceClass.price, reported + counted * priceClass.price)
            if ended != counted {
                find(.miscounted, "\(priceClass.rawValue): \(ended) calls ended, \(counted) were counted")
            }
        }
        if billed != reported { find(.miscounted, "a bill of \(billed), of which \(reported) were reported") }
    }

    /// Checks that an open breaker lets no calls through but probes, not even calls that were waiting when it opened.
    mutating func judgeBreakers(_ calls: [SimulatedProvider.Call]) {
        guard let call = calls.first(where: \.isThroughOpenBreaker) else { return }
        let time = world.beginning.duration(to: call.time) / .seconds(1)
        find(.calledThroughBreaker, "\(call.keyword) by \(call.member) at \(time.threeDecimals) s")
    }

    /// Checks that a lane makes no call to a provider during a pause that the provider asked for.
    mutating func judgePauses(_ calls: [SimulatedProvider.Call]) {
        // Clocks drift by up to 0.5 %, and waits have whole milliseconds.
        let slack = 0.02
        for pause in world.provider.pauses {
            let end = pause.time.upperBound - .seconds(slack)
            let early = calls.first {
                $0.lane == pause.lane && $0.provider == pause.provider && pause.time.lowerBound < $0.time
                    && $0.time < end
            }
            guard let early else { continue }
            let (time, left) = (
                world.beginning.duration(to: early.time), early.time.duration(to: pause.time.upperBound)
            )
            return find(
                .calledInPause,
                "\(early.keyword) by \(early.member) at \((time / .seconds(1)).threeDecimals) s, \((left / .seconds(1)).threeDecimals) s too early"
            )
        }
    }
}
