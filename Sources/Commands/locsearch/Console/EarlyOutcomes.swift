import EventContract
import Kafka

/// New outcomes that were read before their requests. Each partition is fetched by itself, so an outcome may overtake the
/// request that it answers, and could not be told how long that one waited.
struct EarlyOutcomes {
    private struct Waiting {
        let outcome: ConsumerRecord
        let request: SourcePosition
        var turns = 0
    }

    /// The turns that an outcome waits at most: a header may name a request that will never come.
    private let mostTurns: Int
    private var waiting: [Waiting] = []

    init(mostTurns: Int) { self.mostTurns = mostTurns }

    mutating func add(_ outcome: ConsumerRecord, of request: SourcePosition) {
        waiting.append(Waiting(outcome: outcome, request: request))
    }

    /// Returns the outcomes whose requests have been read since the last turn, or that have waited long enough.
    mutating func takeReady(_ times: RequestTimes) -> [ConsumerRecord] {
        var ready: [ConsumerRecord] = []
        var left: [Waiting] = []
        for var entry in waiting {
            entry.turns += 1  // bounded: an entry leaves after `mostTurns`
            if entry.turns >= mostTurns || !times.isYetToCome(entry.request) {
                ready.append(entry.outcome)
            } else {
                left.append(entry)
            }
        }
        waiting = left
        return ready
    }
}
